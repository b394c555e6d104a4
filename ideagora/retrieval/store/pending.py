"""Vectors of papers that were added without them, so that a run does not wait for the embedding model."""

from __future__ import annotations

from collections.abc import Callable

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import StoreBackend
from ideagora.retrieval.store.hashing import batches, content_hash, paper_text

_BATCH = 128
"""Papers per write; what is written stays if the process is killed."""


def embed_pending(
    backend: StoreBackend, embedder: Embedder, on_progress: Callable[[int, int], None] | None = None
) -> None:
    """Compute and write the vectors that are missing; papers that another process changes meanwhile are kept.

    Args:
        on_progress: called with (done, total) papers.
    """
    ids = backend.ids_without_vector()
    for number, batch in enumerate(batches(ids, _BATCH)):
        papers = list(backend.papers(batch).values())
        vectors = embedder.encode([paper_text(paper) for paper in papers])
        with backend.write_lock():
            latest = backend.papers(batch)
            hashes = {paper.id: content_hash(paper) for paper in latest.values()}
            current = [n for n, paper in enumerate(papers) if hashes.get(paper.id) == content_hash(paper)]
            if current:
                backend.put([latest[papers[n].id] for n in current], hashes, vectors[current])
        if on_progress:
            on_progress(min(len(ids), (number + 1) * _BATCH), len(ids))
