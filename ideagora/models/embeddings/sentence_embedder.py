"""A sentence-transformers model in this process.

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
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING

from ideagora.errors import EmbedderError
from ideagora.models.embeddings.weights import Weights, hub_disabled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

_MAX_PARALLEL = 4
_LOAD_ERRORS = (OSError, ValueError, LookupError, RuntimeError, TypeError, AttributeError, ImportError)
"""What the libraries raise for a folder without a complete model."""


class SentenceEmbedder:
    """A sentence-transformers model on the CPU in fp32, loaded on first use."""

    def __init__(self, weights: Weights) -> None:
        self.name = weights.name
        self._weights = weights
        self._models: LifoQueue[SentenceTransformer] | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model if necessary.

        Raises:
            EmbedderError: the model cannot be loaded or does not report its dimension.
        """
        with self._model() as model:
            dimension = model.get_embedding_dimension()
        if dimension is None:
            raise EmbedderError(
                f"embedder {self.name} does not report its dimension. Set IDEAGORA_EMBEDDER to another one."
            )
        return dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts, one row of unit length each; texts are cut at the model's 256 tokens.

        Raises:
            EmbedderError: the model cannot be loaded.
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
                self._models = _copies(_load_model(self._weights), _cores())
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
