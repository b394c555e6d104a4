"""Embedders encode texts as vectors: the interface, how a setting names one, and a cache for any of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ideagora.models.embeddings.cache import VectorCache
from ideagora.models.embeddings.hash_embedder import HASH, HashEmbedder
from ideagora.models.embeddings.process_embedder import ProcessEmbedder
from ideagora.models.embeddings.vector_files import shipped_vectors
from ideagora.models.embeddings.weights import MINILM_DIMENSION, find_weights, is_minilm, minilm_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_RECENT = 4096
"""Vectors of an embedder that stay in memory: 6 MB of all-MiniLM-L6-v2."""


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


def _real_embedder(name: str) -> ProcessEmbedder:
    if is_minilm(name):
        return ProcessEmbedder(minilm_name(), lambda: find_weights(name), MINILM_DIMENSION)
    weights = find_weights(name)
    return ProcessEmbedder(weights.name, lambda: weights)


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
        keys = [text_key(text) for text in texts]
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
        """Vectors from the package and the cache; the others are computed and stored."""
        import numpy as np

        vectors = shipped_vectors(self.name, by_key)
        stored = self._cached([key for key in by_key if key not in vectors])
        vectors |= {key: np.frombuffer(value, dtype="<f4") for key, value in stored.items()}
        if missing := {key: text for key, text in by_key.items() if key not in vectors}:
            vectors.update(zip(missing, self._inner.encode(list(missing.values())), strict=True))
            self._cache.put(self.name, {key: vectors[key].astype("<f4").tobytes() for key in missing})
        return vectors

    def _cached(self, keys: Sequence[str]) -> dict[str, bytes]:
        if not keys:
            return {}
        vectors = self._cache.get(self.name, keys)
        lengths = {len(value) for value in vectors.values()}
        is_valid = len(lengths) == 1 and all(length > 0 and length % 4 == 0 for length in lengths)
        return vectors if is_valid else {}


def text_key(text: str) -> str:
    """Key of a text in caches of vectors: its SHA-256 in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
