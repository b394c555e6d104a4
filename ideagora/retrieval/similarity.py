"""Ranks papers by their similarity to a query."""

from __future__ import annotations

from collections.abc import Sequence

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.store import paper_text
from ideagora.schema import Paper, ScoredPaper


def rank_by_similarity(embedder: Embedder, papers: Sequence[Paper], query: str) -> list[ScoredPaper]:
    """The papers by their cosine similarity to a query, rounded to 4 decimals; ties by id."""
    import numpy as np

    if not papers:
        return []
    texts = [query, *(paper_text(paper) for paper in papers)]
    vectors = np.asarray(embedder.encode(texts), dtype=np.float64)
    rounded = np.round(vectors[1:] @ vectors[0], 4) + 0.0  # no minus zero
    scored = [ScoredPaper(paper=p, similarity=float(s)) for p, s in zip(papers, rounded, strict=True)]
    return sorted(scored, key=lambda one: (-one.similarity, one.paper.id))
