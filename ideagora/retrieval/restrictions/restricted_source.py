"""Searches a source and follows its citations, and returns what may be shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from ideagora.errors import SourceUnavailable
from ideagora.retrieval.protocols import Source, SupportsCutoff, SupportsListing, SupportsRecommendations
from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.retrieval.restrictions.visibility import Visibility
from ideagora.retrieval.restrictions.withheld import WithheldPaper
from ideagora.schema import Paper, ScoredPaper


class RestrictedSource:
    """The papers of a source that may be shown; results and errors are those of ``Library``."""

    def __init__(self, source: Source, visibility: Visibility) -> None:
        self._source = source
        self._visibility = visibility

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers most similar to a query, best first."""
        if k < 1:
            return []
        limit = self._visibility.size_of_request(k)
        cutoff = None
        while True:
            if cutoff and isinstance(self._source, SupportsCutoff):
                results = await self._source.search_before(query, limit, cutoff)
            else:
                results = await self._source.search(query, limit)
            allowed = await self._first_allowed(results, k)
            if len(allowed) == k or len(results) < limit:
                return allowed
            limit, cutoff = 2 * limit, self._visibility.filter.cutoff  # what is too late is recorded by now

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id; ``None`` if it is unknown or withheld."""
        paper = await self._source.paper(paper_id)
        return await self._visibility.show(paper) if paper else None

    async def references(self, paper: Paper) -> list[Paper]:
        """The papers that a paper cites; [] for a withheld paper."""
        return await self._neighbors(paper, self._source.references)

    async def citations(self, paper: Paper) -> list[Paper]:
        """The papers that cite a paper; [] for a withheld paper."""
        return await self._neighbors(paper, self._source.citations)

    async def recommended(self, paper: Paper, k: int) -> list[Paper] | None:
        """Up to k papers recommended to readers of a paper; [] for a withheld paper."""
        if not await self._visibility.allows(paper):
            return []
        source = self._source
        if not isinstance(source, SupportsRecommendations):
            return None
        papers = await source.recommended(paper.id, self._visibility.size_of_request(k))
        return None if papers is None else (await self._visibility.show_all(papers))[:k]

    async def citations_per_year(self, paper: Paper) -> dict[int, int] | None:
        """Citations of a paper by year, ascending, for the years that end before the cut-off."""
        source = self._source
        if not isinstance(source, SupportsRecommendations) or not await self._visibility.allows(paper):
            return None
        counts = await source.citations_per_year(paper.id)
        if counts is None:
            return None
        cutoff = self._visibility.filter.cutoff
        allowed = {year: count for year, count in counts.items() if not cutoff or f"{year}-12-31" < cutoff}
        return dict(sorted(allowed.items()))

    def size(self) -> int | None:
        """The number of papers that may be shown; ``None`` if the source cannot list its papers."""
        source = self._source
        if not isinstance(source, SupportsListing):
            return None
        return sum(self._visibility.filter.reason(paper) is None for paper in source.all_papers())

    async def hidden(self, text: str, k: int) -> dict[str, tuple[Paper, str]]:
        """Hidden papers that may be close to a text and why they are hidden, by id; see ``Library``."""
        literature_filter = self._visibility.filter
        if literature_filter.allows_all:
            return {}
        hidden = await self._hidden_like(text, k)
        named = {title_key(paper.title) for paper, _ in hidden.values()}
        for exclusion in literature_filter.exclusions:
            if " " in exclusion.strip() and title_key(exclusion) not in named:
                hidden[exclusion] = (Paper(id=exclusion, title=exclusion), "excluded")
        return hidden

    async def _hidden_like(self, text: str, k: int) -> dict[str, tuple[Paper, str]]:
        if isinstance(self._source, SupportsListing):
            found = [scored.paper for scored in await self._source.search(text, k)]
            reason_of = self._visibility.filter.reason
            return {paper.id: (paper, reason) for paper in found if (reason := reason_of(paper))}
        return {one.paper_id: (await self._record_of(one), one.why) for one in self._visibility.withheld}

    async def _record_of(self, withheld: WithheldPaper) -> Paper:
        """The record of a withheld paper, or its title alone if the source does not respond."""
        record = None
        with suppress(SourceUnavailable):
            record = await self._source.paper(withheld.paper_id)
        return (record or Paper(id=withheld.paper_id, title=withheld.title)).model_copy(
            update={"id": withheld.paper_id}
        )

    async def _neighbors(self, paper: Paper, fetch: Callable[[str], Awaitable[list[Paper]]]) -> list[Paper]:
        if not await self._visibility.allows(paper):
            return []
        return await self._visibility.show_all(await fetch(paper.id))

    async def _first_allowed(self, results: Sequence[ScoredPaper], k: int) -> list[ScoredPaper]:
        """The first k results that may be shown; results after them are neither checked nor recorded."""
        allowed: list[ScoredPaper] = []
        for result in results:
            if len(allowed) == k:
                break
            if paper := await self._visibility.show(result.paper):
                allowed.append(ScoredPaper(paper=paper, similarity=result.similarity))
        return allowed
