"""Adding papers with the real weights: the share of time spent in the embedding model.

The rest is spent in the store: hashes, vector cache, file of vectors, Chroma, records.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.texts import abstracts
from ideagora.models.embeddings.cache import VectorCache
from ideagora.models.embeddings.embedder import CachedEmbedder, Embedder
from ideagora.models.embeddings.sentence_embedder import SentenceEmbedder
from ideagora.models.embeddings.weights import MINILM, find_weights
from ideagora.retrieval.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAPERS = 400


class Timed:
    """An embedder that records its time."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.dimension = inner.name, inner.dimension
        self.seconds = 0.0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode with the wrapped embedder."""
        before = time.perf_counter()
        rows = self._inner.encode(texts)
        self.seconds += time.perf_counter() - before
        return rows


def main() -> None:
    """Print the model's share of the time, for one call and for calls of eight papers."""
    timed = Timed(SentenceEmbedder(find_weights(MINILM)))
    timed.encode(["Loads the model."])
    figures = {"benchmark": "store_adding", "papers": PAPERS}
    for about, size in (("one call", PAPERS), ("calls of 8", 8)):
        share, rate = _share(timed, size)
        print(f"{PAPERS} papers, {about:10}  {rate:5.1f} papers/s  {share:6.1%} of the time in the model")
        figures[f"share_{about.replace(' ', '_')}"] = round(share, 4)
    print(json.dumps(figures))


def _share(timed: Timed, size: int) -> tuple[float, float]:
    """The model's share of the time, and papers per second."""
    papers = abstracts(PAPERS, seed=size)
    with tempfile.TemporaryDirectory() as folder:
        embedder = CachedEmbedder(timed, VectorCache(Path(folder) / "cache"))
        with Store.open(Path(folder) / "store", embedder) as store:
            before, timed.seconds = time.perf_counter(), 0.0
            for first in range(0, PAPERS, size):
                store.add(papers[first : first + size])
            seconds = time.perf_counter() - before
    return timed.seconds / seconds, PAPERS / seconds
