"""Network sources backed by the store: everything that a run retrieves is written to the store.

Cached responses come first, so that the same run gives the same bytes. Then the store, for citation
lists that were complete. Then the network; records, vectors, citation edges and ids are stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from ideagora.errors import SourceUnavailable
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.clients.federated import FederatedResult, FederatedSource
from ideagora.retrieval.clients.stored_literature import StoredLiterature
from ideagora.retrieval.current_run import current_run
from ideagora.retrieval.http.cache import NotCached, cache_only
from ideagora.retrieval.run_notes import RunNotes
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.store.citation_lists import ListKind, NeighborList
from ideagora.schema import Paper, ScoredPaper

_STARTER = "starter"
"""Records of the starter corpus in the store do not replace a request to a service."""


class WriteThroughSource:
    """Federated sources with a store behind them; see ``Source``."""

    name = "network"

    def __init__(
        self, sources: FederatedSource, stored: StoredLiterature, embedder: Embedder, run_notes: RunNotes
    ) -> None:
        self._sources = sources
        self._stored = stored
        self._embedder = embedder
        self._run_notes = run_notes
        self._seen: dict[str, Paper] = {}

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """Up to k papers that the sources return, by their cosine similarity to the query."""
        result = await self._sources.search(query, k)
        papers = await self._save(result)
        if not papers and result.complete:
            self._run_notes.note("nothing", query)
        return await asyncio.to_thread(rank_by_similarity, self._embedder, papers, query)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id, as seen in this run, from the store, or from the sources, in this order."""
        known = self._records.get(paper_id) or await asyncio.to_thread(self._stored.paper, paper_id)
        if known and known.source != _STARTER:
            return known
        result = await self._sources.paper(await self._names(paper_id))
        return next(iter(await self._save(result)), known)

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers that a paper cites, in the order of the sources."""
        return await self._neighbors(paper_id, "references")

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers that cite a paper, oldest first; undated papers last."""
        papers = await self._neighbors(paper_id, "citations")
        return sorted(papers, key=lambda paper: (paper.date is None, paper.date or "", paper.id))

    async def prefetch(self, papers: Sequence[Paper]) -> list[Paper]:
        """Fetch references and citations of papers that are neither cached nor stored, in few requests.

        Returns those that are cached then.
        """
        wanted = [
            (await self._names(paper.id), paper)
            for paper in papers
            if not await self._has_neighbors(paper.id)
        ]
        if wanted:
            await self._sources.prefetch(wanted)
        names = [await self._names(paper.id) for paper in papers]
        lists = [await _cached(fetch(some)) for some in names for fetch in self._fetchers.values()]
        return [paper for cached in lists for paper in cached]

    async def prefetch_search(self, query: str, k: int) -> list[Paper]:
        """Fetch the results of a search, so that ``search`` finds them in the cache."""
        await self._sources.prefetch_search(query, k)
        return await _cached(self._sources.search(query, k))

    async def _has_neighbors(self, paper_id: str) -> bool:
        """Whether references and citations of a paper need no request."""
        names = await self._names(paper_id)
        for kind, fetch in self._fetchers.items():
            try:
                with cache_only():
                    await fetch(names)
            except NotCached:
                if await asyncio.to_thread(self._stored.recent_list, paper_id, kind) is None:
                    return False
        return True

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers recommended to readers of a paper; ``None`` if no source supports it."""
        result = await self._sources.recommended(await self._names(paper_id), k)
        return None if result is None else await self._save(result)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year; ``None`` if no source supports it."""
        return await self._sources.citations_per_year(await self._names(paper_id))

    async def disconnect(self) -> None:
        """Close connections; the next request opens new ones."""
        await self._sources.disconnect()

    async def _neighbors(self, paper_id: str, kind: ListKind) -> list[Paper]:
        names, fetch = await self._names(paper_id), self._fetchers[kind]
        try:
            with cache_only():
                result = await fetch(names)
        except NotCached:
            if neighbor_list := await asyncio.to_thread(self._stored.recent_list, paper_id, kind):
                return await self._load(neighbor_list)
            try:
                result = await fetch(names)
            except SourceUnavailable:
                neighbor_list = await asyncio.to_thread(self._stored.list_of, paper_id, kind)
                if neighbor_list is None:
                    raise
                self._run_notes.note("as of", paper_id, f"{kind} from the store, as of {neighbor_list.day}")
                return await self._load(neighbor_list)
        return await self._save_list(paper_id, kind, result)

    @property
    def _fetchers(self) -> dict[ListKind, Callable[[Sequence[str]], Awaitable[FederatedResult]]]:
        return {"references": self._sources.references, "citations": self._sources.citations}

    async def _save_list(self, paper_id: str, kind: ListKind, result: FederatedResult) -> list[Paper]:
        """Store a list of references or citations with its papers."""
        papers = await self._save(result)
        if result.truncated:
            self._run_notes.note("cut", paper_id, f"only {len(papers)} {kind} were read")
        ids = tuple(paper.id for paper in papers)
        await asyncio.to_thread(self._stored.write_list, paper_id, kind, ids, complete=result.complete)
        return papers

    async def _load(self, neighbor_list: NeighborList) -> list[Paper]:
        return self._note_thin(await asyncio.to_thread(self._stored.papers_in, neighbor_list))

    async def _save(self, result: FederatedResult) -> list[Paper]:
        papers = await asyncio.to_thread(
            self._stored.write, [paper for paper in result.papers if paper.title]
        )
        for paper in papers:
            self._records[paper.id] = paper
        return self._note_thin(papers)

    @property
    def _records(self) -> dict[str, Paper]:
        """The records that the current run has retrieved, so that other runs do not change its results."""
        run = current_run.get()
        return self._seen if run is None else run.papers

    def _note_thin(self, papers: list[Paper]) -> list[Paper]:
        for paper in papers:
            if paper.abstract is None:
                self._run_notes.note("no abstract", paper.title)
        return papers

    async def _names(self, paper_id: str) -> list[str]:
        """All known ids of a paper, so that each source finds one that it understands."""
        return await asyncio.to_thread(self._stored.names, paper_id)


async def _cached(result: Awaitable[FederatedResult]) -> list[Paper]:
    """The papers of a result, as far as it needs no request."""
    with cache_only(), suppress(NotCached):
        return (await result).papers
    return []
