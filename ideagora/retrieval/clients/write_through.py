"""Network sources backed by the store: everything that a run retrieves is written to the store.

Cached responses come first, so that the same run gives the same bytes. Then the store, for citation
lists that were complete. Then the network; records, vectors, citation edges and ids are stored.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import TYPE_CHECKING

from ideagora.errors import SourceUnavailable
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.clients.federated import FederatedResult, FederatedSource
from ideagora.retrieval.corpus.dedup import (
    is_same_paper,
    merge_records,
    names_of,
    near_title_names,
    source_priority,
    title_names,
)
from ideagora.retrieval.current_run import current_run
from ideagora.retrieval.http.client import Clock, NotCached, cache_only
from ideagora.retrieval.run_notes import RunNotes
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.store.citation_lists import CitationLists, ListKind, NeighborList
from ideagora.schema import Paper, ScoredPaper

if TYPE_CHECKING:
    from ideagora.retrieval.store.store import Store

_STARTER = "starter"
"""Records of the starter corpus in the store do not replace a request to a service."""


class WriteThroughSource:
    """Federated sources with a store behind them; see ``Source``.

    Args:
        days: maximum age of a citation list in the store that is used instead of a request.
    """

    name = "network"

    def __init__(
        self,
        sources: FederatedSource,
        store: Store,
        citation_lists: CitationLists,
        embedder: Embedder,
        run_notes: RunNotes,
        clock: Clock,
        days: int,
    ) -> None:
        self._sources = sources
        self._editions = ",".join(sorted(sources.editions))
        self._store = store
        self._citation_lists = citation_lists
        self._embedder = embedder
        self._run_notes = run_notes
        self._clock = clock
        self._days = days
        self._write_lock = threading.Lock()
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
        known = self._records.get(paper_id) or await asyncio.to_thread(self._store.get, paper_id)
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
                if await self._stored_list(paper_id, kind) is None:
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
            if neighbor_list := await self._stored_list(paper_id, kind):
                return await self._load(neighbor_list)
            try:
                result = await fetch(names)
            except SourceUnavailable:
                neighbor_list = await asyncio.to_thread(
                    self._citation_lists.get, paper_id, kind, self._editions
                )
                if neighbor_list is None:
                    raise
                self._run_notes.note("as of", paper_id, f"{kind} from the store, as of {neighbor_list.day}")
                return await self._load(neighbor_list)
        return await self._save_list(paper_id, kind, result)

    @property
    def _fetchers(self) -> dict[ListKind, Callable[[Sequence[str]], Awaitable[FederatedResult]]]:
        return {"references": self._sources.references, "citations": self._sources.citations}

    async def _stored_list(self, paper_id: str, kind: ListKind) -> NeighborList | None:
        """The list in the store, unless it is too old."""
        stored = await asyncio.to_thread(self._citation_lists.get, paper_id, kind, self._editions)
        oldest = (self._today() - timedelta(days=self._days)).isoformat()
        return stored if stored and stored.day > oldest else None

    async def _save_list(self, paper_id: str, kind: ListKind, result: FederatedResult) -> list[Paper]:
        """Store a list of references or citations with its papers."""
        papers = await self._save(result)
        if result.truncated:
            self._run_notes.note("cut", paper_id, f"only {len(papers)} {kind} were read")
        await asyncio.to_thread(self._link, paper_id, kind, [paper.id for paper in papers], result.complete)
        return papers

    async def _load(self, neighbor_list: NeighborList) -> list[Paper]:
        papers = await asyncio.to_thread(lambda: [self._store.get(name) for name in neighbor_list.ids])
        return self._note_thin([paper for paper in papers if paper])

    async def _save(self, result: FederatedResult) -> list[Paper]:
        papers = await asyncio.to_thread(self._write, [paper for paper in result.papers if paper.title])
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
        return list(dict.fromkeys([paper_id, *await asyncio.to_thread(self._citation_lists.names, paper_id)]))

    def _today(self) -> date:
        return self._clock.now().date()

    def _write(self, papers: Sequence[Paper]) -> list[Paper]:
        """Write papers to the store; returns them without duplicates, under their ids in the store."""
        with self._write_lock:
            by_id = {paper.id: paper for paper in map(self._with_stored_id, papers)}
            changed = []
            for paper in by_id.values():
                before = self._store.get(paper.id)
                after = _merge_stored(paper, before) if before else paper
                if after != before:
                    changed.append(after)
            self._store.add(changed, embed_later=True)
            self._citation_lists.add_names(
                {paper.id: [*names_of(paper), *title_names(paper)] for paper in by_id.values()}
            )
        return list(by_id.values())

    def _with_stored_id(self, paper: Paper) -> Paper:
        """The paper under its id in the store, if it is stored under any of its ids or titles."""
        for known_id in self._citation_lists.find_ids([*names_of(paper), *near_title_names(paper)]):
            known = self._store.get(known_id)
            if known and known_id != paper.id and is_same_paper(known, paper):
                others = dict.fromkeys([*paper.other_ids, paper.id])
                return paper.model_copy(update={"id": known_id, "other_ids": tuple(others)})
            if known and known_id == paper.id:
                return paper
        return paper

    def _link(self, paper_id: str, kind: ListKind, ids: list[str], complete: bool) -> None:
        """Store citation edges, and the list itself if every source responded."""
        if kind == "citations":
            self._store.add_citations([(citing, paper_id) for citing in ids])
        elif paper := self._store.get(paper_id):
            references = dict.fromkeys([*ids, *(paper.references or ())])
            self._store.add([paper.model_copy(update={"references": tuple(references)})])
        if complete:
            self._citation_lists.save(
                paper_id, kind, self._editions, NeighborList(tuple(ids), self._today().isoformat())
            )


async def _cached(result: Awaitable[FederatedResult]) -> list[Paper]:
    """The papers of a result, as far as it needs no request."""
    with cache_only(), suppress(NotCached):
        return (await result).papers
    return []


def _merge_stored(paper: Paper, before: Paper) -> Paper:
    """The merged record: the new one takes precedence, except over the user's own records."""
    whole = (
        merge_records(paper, before)
        if source_priority(paper) >= source_priority(before)
        else merge_records(before, paper)
    )
    return whole.model_copy(update={"id": paper.id})
