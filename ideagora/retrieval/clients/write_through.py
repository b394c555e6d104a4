"""Sources on the network with the store behind them: what a run meets stays.

Kept answers come first, since they give the same run the same bytes. Then the store, for lists of
neighbours that were told completely before. Then the network, and what it tells is written through:
records and vectors, citation edges, names.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
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
from ideagora.retrieval.http.client import Clock, NotCached, cache_only
from ideagora.retrieval.run_notes import RunNotes
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.store.citation_lists import CitationLists, ListKind, NeighborList
from ideagora.schema import Paper, ScoredPaper

if TYPE_CHECKING:
    from ideagora.retrieval.store.store import Store

_OF_NO_USE_ELSEWHERE = "starter"
"""The source whose records in the store are no answer of a service."""


class WriteThroughSource:
    """A source (see ``Source``) over joined sources and a store.

    Args:
        days: age up to which a list of neighbours in the store is as good as the network's.
    """

    name = "network"

    def __init__(
        self,
        sources: FederatedSource,
        store: Store,
        citation_lists: CitationLists,
        embedder: Embedder,
        run_notes: RunNotes,
        time: Clock,
        days: int,
    ) -> None:
        self._sources = sources
        self._asked = ",".join(sorted(sources.editions))
        self._store = store
        self._citation_lists = citation_lists
        self._embedder = embedder
        self._run_notes = run_notes
        self._time = time
        self._days = days
        self._writing = threading.Lock()
        self._met: dict[str, Paper] = {}

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """Up to k papers that the sources hold relevant, by their cosine similarity to the query."""
        found = await self._sources.search(query, k)
        papers = await self._kept(found)
        if not papers and found.complete:
            self._run_notes.note("nothing", query)
        return await asyncio.to_thread(rank_by_similarity, self._embedder, papers, query)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id: as this run met it, else from the store, else from the sources."""
        known = self._met.get(paper_id) or await asyncio.to_thread(self._store.get, paper_id)
        if known and known.source != _OF_NO_USE_ELSEWHERE:
            return known
        found = await self._sources.paper(await self._names(paper_id))
        return next(iter(await self._kept(found)), known)

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers that one cites, in the order of the sources."""
        return await self._neighbours(paper_id, "references")

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers that cite one, oldest first; undated ones last."""
        papers = await self._neighbours(paper_id, "citations")
        return sorted(papers, key=lambda paper: (paper.date is None, paper.date or "", paper.id))

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers that the sources recommend to readers of one; ``None``: none of them can tell."""
        found = await self._sources.recommended(await self._names(paper_id), k)
        return None if found is None else await self._kept(found)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year; ``None``: none of the sources can tell."""
        return await self._sources.citations_per_year(await self._names(paper_id))

    async def disconnect(self) -> None:
        """Close connections; the next question opens new ones."""
        await self._sources.disconnect()

    async def _neighbours(self, paper_id: str, kind: ListKind) -> list[Paper]:
        names = await self._names(paper_id)
        ask = self._sources.references if kind == "references" else self._sources.citations
        try:
            with cache_only():
                found = await ask(names)
        except NotCached:
            neighbor_list = await asyncio.to_thread(self._citation_lists.get, paper_id, kind, self._asked)
            if neighbor_list and neighbor_list.day > (self._today() - timedelta(days=self._days)).isoformat():
                return await self._walked(neighbor_list)
            try:
                found = await ask(names)
            except SourceUnavailable:
                if neighbor_list is None:
                    raise
                self._run_notes.note("as of", paper_id, f"{kind} from the store, as of {neighbor_list.day}")
                return await self._walked(neighbor_list)
        return await self._told(paper_id, kind, found)

    async def _told(self, paper_id: str, kind: ListKind, found: FederatedResult) -> list[Paper]:
        """Write a list through."""
        papers = await self._kept(found)
        if found.cut:
            self._run_notes.note("cut", paper_id, f"only {len(papers)} {kind} were read")
        await asyncio.to_thread(self._link, paper_id, kind, [paper.id for paper in papers], found.complete)
        return papers

    async def _walked(self, neighbor_list: NeighborList) -> list[Paper]:
        papers = await asyncio.to_thread(lambda: [self._store.get(one) for one in neighbor_list.ids])
        return self._noted([paper for paper in papers if paper])

    async def _kept(self, found: FederatedResult) -> list[Paper]:
        papers = await asyncio.to_thread(self._keep, [paper for paper in found.papers if paper.title])
        for paper in papers:
            self._met[paper.id] = paper
        return self._noted(papers)

    def _noted(self, papers: list[Paper]) -> list[Paper]:
        for paper in papers:
            if paper.abstract is None:
                self._run_notes.note("no abstract", paper.title)
        return papers

    async def _names(self, paper_id: str) -> list[str]:
        """An id and the other names of its paper, so that each source finds one that it understands."""
        return list(dict.fromkeys([paper_id, *await asyncio.to_thread(self._citation_lists.names, paper_id)]))

    def _today(self) -> date:
        return self._time.now().date()

    def _keep(self, papers: Sequence[Paper]) -> list[Paper]:
        """Put papers into the store; they come back, each once, under the ids that they have there."""
        with self._writing:
            here = {paper.id: paper for paper in map(self._as_known, papers)}
            changed = []
            for paper in here.values():
                before = self._store.get(paper.id)
                after = _brought_together(paper, before) if before else paper
                if after != before:
                    changed.append(after)
            self._store.add(changed)
            self._citation_lists.add_names(
                {one.id: [*names_of(one), *title_names(one)] for one in here.values()}
            )
        return list(here.values())

    def _as_known(self, paper: Paper) -> Paper:
        """The paper under the id that it has in the store, where it is known by any of its names."""
        for known_id in self._citation_lists.find_ids([*names_of(paper), *near_title_names(paper)]):
            known = self._store.get(known_id)
            if known and known_id != paper.id and is_same_paper(known, paper):
                others = dict.fromkeys([*paper.other_ids, paper.id])
                return paper.model_copy(update={"id": known_id, "other_ids": tuple(others)})
            if known and known_id == paper.id:
                return paper
        return paper

    def _link(self, paper_id: str, kind: ListKind, ids: list[str], complete: bool) -> None:
        """Citation edges, and the list itself when every source has answered."""
        if kind == "citations":
            self._store.add_citations([(citing, paper_id) for citing in ids])
        elif paper := self._store.get(paper_id):
            references = dict.fromkeys([*ids, *(paper.references or ())])
            self._store.add([paper.model_copy(update={"references": tuple(references)})])
        if complete:
            self._citation_lists.save(
                paper_id, kind, self._asked, NeighborList(tuple(ids), self._today().isoformat())
            )


def _brought_together(paper: Paper, before: Paper) -> Paper:
    """What the store has from now on: the newer record first, but the user's own fields before it."""
    whole = (
        merge_records(paper, before)
        if source_priority(paper) >= source_priority(before)
        else merge_records(before, paper)
    )
    return whole.model_copy(update={"id": paper.id})
