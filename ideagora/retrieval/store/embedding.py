"""Embeds papers and writes them with their vectors: at once, or later, so that a run does not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import StoreBackend
from ideagora.retrieval.store.hashing import batches, content_hash, content_hashes, paper_text
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBED_BATCH = 32
"""Papers embedded between two progress reports; the embedder's cache stores each batch."""
WRITE_BATCH = 512
"""Papers per write: half a minute of embedding, and half a second of writing in a large store."""
_PENDING_BATCH = 128
"""Pending papers per write; what is written stays if the process is killed."""


def embed_and_write(
    backend: StoreBackend, embedder: Embedder, papers: Sequence[Paper], on_progress: Callable[[int], None]
) -> None:
    """Embed papers in small batches and write them in larger ones.

    The lock is not held while embedding, which is slow. If embedding fails, what is embedded so far
    is written.

    Args:
        on_progress: called with the number of papers embedded so far.
    """
    embedded: list[tuple[Sequence[Paper], NDArray[np.float32]]] = []
    done = 0
    try:
        for batch in batches(papers, EMBED_BATCH):
            embedded.append((batch, embedder.encode([paper_text(paper) for paper in batch])))
            if len(embedded) * EMBED_BATCH >= WRITE_BATCH:
                _write(backend, embedded)
            done += len(batch)
            on_progress(done)
    finally:
        _write(backend, embedded)


def _write(backend: StoreBackend, embedded: list[tuple[Sequence[Paper], NDArray[np.float32]]]) -> None:
    """Write and clear the batches; a failed write is not retried."""
    import numpy as np

    if embedded:
        papers = [paper for batch, _ in embedded for paper in batch]
        vectors = np.concatenate([rows for _, rows in embedded])
        embedded.clear()
        backend.put(papers, content_hashes(papers), vectors)


def embed_pending(
    backend: StoreBackend, embedder: Embedder, on_progress: Callable[[int, int], None] | None = None
) -> None:
    """Compute and write the vectors that are missing; papers that another process changes meanwhile are kept.

    Args:
        on_progress: called with (done, total) papers.
    """
    ids = backend.ids_without_vector()
    for number, batch in enumerate(batches(ids, _PENDING_BATCH)):
        papers = list(backend.papers(batch).values())
        vectors = embedder.encode([paper_text(paper) for paper in papers])
        with backend.write_lock():
            latest = backend.papers(batch)
            hashes = content_hashes(latest.values())
            current = [n for n, paper in enumerate(papers) if hashes.get(paper.id) == content_hash(paper)]
            if current:
                backend.put([latest[papers[n].id] for n in current], hashes, vectors[current])
        if on_progress:
            on_progress(min(len(ids), (number + 1) * _PENDING_BATCH), len(ids))
