"""A few papers in memory as a source, such as the inspirations of a benchmark's sample.

Alone, they are all the literature there is. Together with another source, they come first where both have the
same paper.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.corpus.dedup import is_same_paper
from ideagora.retrieval.protocols import (
    Source,
    SupportsCutoff,
    SupportsListing,
    SupportsPrefetch,
    SupportsRecommendations,
    SupportsWords,
)
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.spelling import words_of
from ideagora.retrieval.store.store import paper_text
from ideagora.schema import Paper, ScoredPaper


class PaperSet:
    """Papers in memory; see ``Source``. References and citations stay within the set."""

    name = "papers"

    def __init__(self, papers: Iterable[Paper], embedder: Embedder) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._embedder = embedder

    def all_papers(self) -> list[Paper]:
        """All papers, ordered by id."""
        return [self._papers[paper_id] for paper_id in sorted(self._papers)]

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers most similar to the query."""
        ranked = await asyncio.to_thread(rank_by_similarity, self._embedder, self.all_papers(), query)
        return ranked[:k]

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return self._papers.get(paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers of the set that a paper cites."""
        paper = self._papers.get(paper_id)
        cited = (paper.references or ()) if paper else ()
        return [self._papers[other] for other in dict.fromkeys(cited) if other in self._papers]

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers of the set that cite a paper, oldest first; undated papers last."""
        return _oldest_first(p for p in self._papers.values() if paper_id in (p.references or ()))

    async def words(self) -> frozenset[str]:
        """The words of all papers' titles and abstracts, in lower case."""
        return words_of(paper_text(paper) for paper in self._papers.values())

    async def disconnect(self) -> None:
        """Has no effect: there are no connections."""

    def own_record(self, paper: Paper) -> Paper:
        """The record of the same paper in the set, or the given one."""
        return next((own for own in self._papers.values() if is_same_paper(own, paper)), paper)


class PapersAndSource:
    """A set of papers and another source together; see ``Source``."""

    def __init__(self, papers: PaperSet, others: Source) -> None:
        self.name = f"{papers.name} and {others.name}"
        self._papers = papers
        self._others = others

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers most similar to the query among the results of both."""
        return await self._merge(query, k, await self._others.search(query, k))

    async def search_before(self, query: str, k: int, cutoff: str) -> list[ScoredPaper]:
        """As ``search``; filtered by date only as far as the other source can."""
        others = self._others
        if not isinstance(others, SupportsCutoff):
            return await self.search(query, k)
        return await self._merge(query, k, await others.search_before(query, k, cutoff))

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        own = await self._papers.paper(paper_id)
        if own is not None:
            return own
        other = await self._others.paper(paper_id)
        return self._papers.own_record(other) if other else None

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers that a paper cites."""
        own = await self._papers.references(paper_id)
        return self._unique([*own, *await self._others.references(paper_id)])

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers that cite a paper, oldest first; undated papers last."""
        own = await self._papers.citations(paper_id)
        return _oldest_first(self._unique([*own, *await self._others.citations(paper_id)]))

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers that the other source recommends; ``None`` if it recommends none."""
        others = self._others
        found = await others.recommended(paper_id, k) if isinstance(others, SupportsRecommendations) else None
        return None if found is None else self._unique(found)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year in the other source; ``None`` if it does not count them."""
        others = self._others
        if not isinstance(others, SupportsRecommendations):
            return None
        return await others.citations_per_year(paper_id)

    async def prefetch(self, papers: Sequence[Paper]) -> list[Paper]:
        """See ``SupportsPrefetch``."""
        others = self._others
        return await others.prefetch(papers) if isinstance(others, SupportsPrefetch) else []

    async def prefetch_search(self, query: str, k: int) -> list[Paper]:
        """See ``SupportsPrefetch``."""
        others = self._others
        return await others.prefetch_search(query, k) if isinstance(others, SupportsPrefetch) else []

    async def disconnect(self) -> None:
        """Close connections, if any."""
        await self._others.disconnect()

    async def _merge(self, query: str, k: int, found: Sequence[ScoredPaper]) -> list[ScoredPaper]:
        """The k best of both; the own records keep their own similarity."""
        own = await self._papers.search(query, k)
        others = [scored for scored in found if self._papers.own_record(scored.paper) is scored.paper]
        return sorted([*own, *others], key=lambda scored: (-scored.similarity, scored.paper.id))[:k]

    def _unique(self, papers: Sequence[Paper]) -> list[Paper]:
        return list({own.id: own for own in map(self._papers.own_record, papers)}.values())


class PapersAndCollection(PapersAndSource):
    """A set of papers and a source that can list its papers and their words."""

    def __init__(self, papers: PaperSet, others: Source) -> None:
        assert isinstance(others, SupportsListing)
        assert isinstance(others, SupportsWords)
        super().__init__(papers, others)
        self._listed = others.all_papers
        self._words = others.words

    def all_papers(self) -> list[Paper]:
        """All papers, ordered by id."""
        papers = self._unique([*self._papers.all_papers(), *self._listed()])
        return sorted(papers, key=lambda paper: paper.id)

    async def words(self) -> frozenset[str]:
        """See ``SupportsWords``."""
        return await self._papers.words() | await self._words()


def with_papers(source: Source, papers: PaperSet) -> Source:
    """The papers together with another source."""
    is_collection = isinstance(source, SupportsListing) and isinstance(source, SupportsWords)
    return (PapersAndCollection if is_collection else PapersAndSource)(papers, source)


def _oldest_first(papers: Iterable[Paper]) -> list[Paper]:
    return sorted(papers, key=lambda paper: (paper.date is None, paper.date or "", paper.id))
