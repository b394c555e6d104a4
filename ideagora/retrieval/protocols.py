"""Where papers come from: what every source of literature can do, and the one that reads the store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper, ScoredPaper


class Source(Protocol):
    """A source of literature. Nothing found is an empty list (or ``None``); no answer is an error.

    Every method raises ``SourceUnavailable`` when the source did not answer. A source knows nothing of
    cut-off dates and bans: the library applies them to whatever comes from here.
    """

    name: str

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """Up to k papers, best first, each with its cosine similarity to the query."""
        ...

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        ...

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers that one cites."""
        ...

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers that cite one."""
        ...

    async def disconnect(self) -> None:
        """Close connections, if there are any; the source stays usable."""
        ...


@runtime_checkable
class DatedSource(Protocol):
    """A source that can leave out late papers itself, so that an early cut-off takes no long way."""

    async def search_before(self, query: str, k: int, cutoff: str) -> list[ScoredPaper]:
        """As ``search``, of papers that are surely older than a day (YYYY-MM-DD)."""
        ...


@runtime_checkable
class SupportsListing(Protocol):
    """A source that has an end: all its papers are at hand."""

    def all_papers(self) -> list[Paper]:
        """Every paper, by id."""
        ...


@runtime_checkable
class SupportsRecommendations(Protocol):
    """What a source may do beyond that."""

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers that are recommended to readers of one; ``None``: the source cannot tell."""
        ...

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year, where they are told; ``None``: the source cannot tell."""
        ...


@runtime_checkable
class SupportsWords(Protocol):
    """A source that has all its papers at hand."""

    async def words(self) -> frozenset[str]:
        """The words of all papers' titles and abstracts, in lower case."""
        ...


class StoreSource:
    """The store as a source; its blocking work is done in threads."""

    name = "store"

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers of the store nearest to the query, ties ordered by id."""
        return await asyncio.to_thread(self._search, query, k, None)

    async def search_before(self, query: str, k: int, cutoff: str) -> list[ScoredPaper]:
        """See ``DatedSource``."""
        return await asyncio.to_thread(self._search, query, k, cutoff)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await asyncio.to_thread(self._store.get, paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers here that one cites, in the order of its references."""
        return await asyncio.to_thread(self._store.references, paper_id)

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers here that cite one, oldest first."""
        return await asyncio.to_thread(self._store.citations, paper_id)

    async def disconnect(self) -> None:
        """Nothing is connected."""

    def _search(self, query: str, k: int, cutoff: str | None) -> list[ScoredPaper]:
        return self._store.search(self._embedder.encode([query])[0], k, cutoff)


def by_similarity(embedder: Embedder, papers: Sequence[Paper], query: str) -> list[ScoredPaper]:
    """The papers by their cosine similarity to a query, rounded to 4 decimals; ties by id."""
    import numpy as np

    if not papers:
        return []
    texts = [query, *(paper_text(paper) for paper in papers)]
    vectors = np.asarray(embedder.encode(texts), dtype=np.float64)
    rounded = np.round(vectors[1:] @ vectors[0], 4) + 0.0  # no minus zero
    scored = [ScoredPaper(paper=p, similarity=float(s)) for p, s in zip(papers, rounded, strict=True)]
    return sorted(scored, key=lambda one: (-one.similarity, one.paper.id))
