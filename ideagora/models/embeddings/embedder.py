"""Embedders: sentence-transformers, a hash embedder for tests, and a cache for either.

A vector depends on its text alone. Batches pad their texts to one length, which changes the vectors: of 250
abstracts encoded in batches of 32, only 24 had the same bytes as when encoded singly (differences up to
1.4e-7), and rounding does not help for values near a rounding boundary. So every text is encoded singly.
That costs nothing here, because nothing is padded: 250 abstracts of about 100 words took 10.9 s singly,
11.7 s in batches of 8 and 12.6 s in batches of 32 (all-MiniLM-L6-v2, fp32, two cores, torch 2.13).

Several texts are encoded in parallel, each in one torch thread. Two torch threads for one text give the
same bytes, but when another process uses one of the cores, each small step of the model waits for the
thread that is not running. Seconds for 100 abstracts:

    two cores            quiet    one core busy with another process
    2 torch threads        4.1    74
    1 torch thread         5.5     5.5
    2 texts at once        3.3     4.2
"""

from __future__ import annotations

import copy
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from queue import LifoQueue
from typing import TYPE_CHECKING, Protocol

from ideagora.errors import EmbedderError
from ideagora.models.embeddings.cache import VectorCache
from ideagora.models.embeddings.weights import (
    MINILM_DIMENSION,
    Weights,
    find_weights,
    hub_disabled,
    is_minilm,
    minilm_name,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

HASH = "hash"
_MAX_PARALLEL = 4
_MAX_RECENT = 4096
"""Vectors of an embedder that stay in memory: 6 MB of all-MiniLM-L6-v2."""
_LOAD_ERRORS = (OSError, ValueError, LookupError, RuntimeError, TypeError, AttributeError, ImportError)
"""What the libraries raise for a folder without a complete model."""


class Embedder(Protocol):
    """Encodes texts as vectors of unit length."""

    @property
    def name(self) -> str:
        """Name of the vectors in caches and stores; vectors with the same name are comparable."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length per text, shape (len(texts), dimension). Thread-safe."""
        ...


def load_embedder(name: str, cache_folder: Path | None) -> Embedder:
    """Create the embedder for a setting. The model is loaded at the first cache miss.

    Args:
        name: ``hash``, a sentence-transformers model, or a folder with one.
        cache_folder: folder of the vector cache; ``None``: no cache.

    Raises:
        EmbedderError: the weights are missing or not the pinned ones. For the default model this is
            raised at the first cache miss, for other models here, since their name depends on the weights.
    """
    if name == HASH:
        return HashEmbedder()
    model = _real_embedder(name)
    return model if cache_folder is None else CachedEmbedder(model, VectorCache(cache_folder))


def _real_embedder(name: str) -> SentenceEmbedder:
    if is_minilm(name):
        return SentenceEmbedder(minilm_name(), lambda: find_weights(name), MINILM_DIMENSION)
    weights = find_weights(name)
    return SentenceEmbedder(weights.name, lambda: weights)


class SentenceEmbedder:
    """A sentence-transformers model on the CPU in fp32, loaded on first use."""

    def __init__(self, name: str, locate: Callable[[], Weights], dimension: int | None = None) -> None:
        self.name = name
        self._locate = locate
        self._dimension = dimension
        self._models: LifoQueue[SentenceTransformer] | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model if necessary."""
        if self._dimension is None:
            with self._model() as model:
                self._dimension = model.get_embedding_dimension()
        if self._dimension is None:
            raise EmbedderError(
                f"embedder {self.name} does not report its dimension. Set IDEAGORA_EMBEDDER to another one."
            )
        return self._dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts, one row of unit length each; texts are cut at the model's 256 tokens.

        Raises:
            EmbedderError: the weights are missing, are not the pinned ones, or cannot be loaded.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        if len(texts) == 1:
            return np.stack([self._encode_one(texts[0])])
        pool = ThreadPoolExecutor(_cores(), thread_name_prefix="embed")
        try:
            return np.stack(list(pool.map(self._encode_one, texts)))
        finally:
            pool.shutdown(cancel_futures=True)  # drop the rest after an error or Ctrl-C

    def _encode_one(self, text: str) -> NDArray[np.float32]:
        import numpy as np
        import torch

        with self._model() as model:
            torch.set_num_threads(1)  # the setting is per thread
            rows = model.encode([text], normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(rows[0], dtype=np.float32)

    @contextmanager
    def _model(self) -> Iterator[SentenceTransformer]:
        """Borrow a copy of the model, since tokenizers are not thread-safe."""
        with self._lock:
            if self._models is None:
                self._models = _copies(_load_model(self._locate()), _cores())
        model = self._models.get()
        try:
            yield model
        finally:
            self._models.put(model)


def _cores() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MAX_PARALLEL)


def _copies(model: SentenceTransformer, number: int) -> LifoQueue[SentenceTransformer]:
    """Copies of a model that share its weights in memory."""
    models: LifoQueue[SentenceTransformer] = LifoQueue()
    models.put(model)
    for _ in range(number - 1):
        shared = {id(weight): weight for weight in (*model.parameters(), *model.buffers())}
        models.put(copy.deepcopy(model, shared))
    return models


def _load_model(weights: Weights) -> SentenceTransformer:
    """Load a model from a folder, without output or network access."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # or forked processes print warnings
    with hub_disabled():
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        try:
            return SentenceTransformer(str(weights.folder), device="cpu", local_files_only=True).float()
        except (*_LOAD_ERRORS, SafetensorError) as error:
            reason = " ".join(str(error).split())[:200]
            raise EmbedderError(
                f"the embedder in {weights.folder} cannot be loaded ({type(error).__name__}: {reason}). "
                "Set IDEAGORA_EMBEDDER to the folder of a complete sentence-transformers model."
            ) from error


class CachedEmbedder:
    """Caches the vectors of an embedder by the SHA-256 of the text, the latest ones also in memory."""

    def __init__(self, inner: Embedder, cache: VectorCache) -> None:
        self._inner = inner
        self._cache = cache
        self._recent: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """Name of the wrapped embedder."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._inner.dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts; the wrapped embedder gets each text that is not in the cache, once."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        keys = [_key(text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        recent = self._recent
        vectors = {key: recent[key] for key in by_key if key in recent}
        if missing := {key: text for key, text in by_key.items() if key not in vectors}:
            vectors.update(self._load(missing))
            if len(recent) > _MAX_RECENT:
                self._recent = vectors  # not emptied: other threads look into it
            else:
                recent.update(vectors)
        return np.stack([vectors[key] for key in keys]).astype(np.float32)

    def _load(self, by_key: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
        """Vectors from the file; the others are computed and stored."""
        import numpy as np

        stored = self._cached(list(by_key))
        vectors = {key: np.frombuffer(value, dtype="<f4") for key, value in stored.items()}
        if missing := {key: text for key, text in by_key.items() if key not in vectors}:
            vectors.update(zip(missing, self._inner.encode(list(missing.values())), strict=True))
            self._cache.put(self.name, {key: vectors[key].astype("<f4").tobytes() for key in missing})
        return vectors

    def _cached(self, keys: Sequence[str]) -> dict[str, bytes]:
        vectors = self._cache.get(self.name, keys)
        lengths = {len(value) for value in vectors.values()}
        is_valid = len(lengths) == 1 and all(length > 0 and length % 4 == 0 for length in lengths)
        return vectors if is_valid else {}


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class HashEmbedder:
    """A bag of hashed words and character trigrams, for tests. Not semantic; the same on every machine.

    Texts that share words are similar. Longer words have more weight, so articles and prepositions do not
    dominate.
    """

    name = HASH
    dimension = 512

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts, one row of unit length each, shape (len(texts), 512)."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        rows = np.stack([_bag(text, self.dimension) for text in texts])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)


@lru_cache(maxsize=2048)
def _bag(text: str, dimension: int) -> NDArray[np.float64]:
    """The summed weights of a text's features, shape (dimension,); do not write to it."""
    import numpy as np

    features = [_weights(word, dimension) for word in re.findall(r"\w+", text.casefold())]
    if not features:
        return np.asarray(np.eye(1, dimension)[0])
    indices = np.concatenate([places for places, _ in features])
    weights = np.concatenate([values for _, values in features])
    return np.asarray(np.bincount(indices, weights, dimension), dtype=np.float64)


@lru_cache(maxsize=16_384)
def _weights(word: str, dimension: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Indices and signed weights of a word and of its trigrams."""
    import numpy as np

    marked = f"<{word}>"
    trigrams = [marked[start : start + 3] for start in range(len(marked) - 2)]
    buckets = [_bucket(feature, dimension) for feature in (word, *trigrams)]
    sizes = [(min(len(word), 8) / 8) ** 2, *[0.1] * len(trigrams)]
    indices = np.array([index for index, _ in buckets], dtype=np.intp)
    return indices, np.array([sign * size for (_, sign), size in zip(buckets, sizes, strict=True)])


def _bucket(feature: str, dimension: int) -> tuple[int, int]:
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return number % dimension, 1 if number >> 63 else -1
