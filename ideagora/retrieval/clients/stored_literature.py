"""What sources on the network have returned, in the store: records, ids and citation lists."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from ideagora.retrieval.corpus.dedup import (
    is_same_paper,
    merge_records,
    names_of,
    near_title_names,
    source_priority,
    title_names,
)
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.store.citation_lists import CitationLists, ListKind, NeighborList
from ideagora.schema import Paper

if TYPE_CHECKING:
    from ideagora.retrieval.store.store import Store


class StoredLiterature:
    """Papers and their citation lists in the store. Methods block; safe for threads.

    Args:
        editions: the sources in use; lists that other sources returned are not used.
        days: maximum age of a recent list.
    """

    def __init__(
        self, store: Store, citation_lists: CitationLists, editions: Sequence[str], clock: Clock, days: int
    ) -> None:
        self._store = store
        self._citation_lists = citation_lists
        self._editions = ",".join(sorted(editions))
        self._clock = clock
        self._days = days
        self._write_lock = threading.Lock()

    def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id; ``None`` if it is not stored."""
        return self._store.get(paper_id)

    def names(self, paper_id: str) -> list[str]:
        """All known ids of a paper, this one first."""
        return list(dict.fromkeys([paper_id, *self._citation_lists.names(paper_id)]))

    def list_of(self, paper_id: str, kind: ListKind) -> NeighborList | None:
        """The references or citations of a paper, of any age; ``None`` if they are not stored."""
        return self._citation_lists.get(paper_id, kind, self._editions)

    def recent_list(self, paper_id: str, kind: ListKind) -> NeighborList | None:
        """As ``list_of``; ``None`` if the list is too old."""
        stored = self.list_of(paper_id, kind)
        oldest = (self._today() - timedelta(days=self._days)).isoformat()
        return stored if stored and stored.day > oldest else None

    def papers_in(self, neighbor_list: NeighborList) -> list[Paper]:
        """The papers of a list, as far as they are stored."""
        papers = [self._store.get(paper_id) for paper_id in neighbor_list.ids]
        return [paper for paper in papers if paper]

    def write(self, papers: Sequence[Paper]) -> list[Paper]:
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

    def write_list(self, paper_id: str, kind: ListKind, ids: tuple[str, ...], *, complete: bool) -> None:
        """Write citation edges, and the list itself if it is complete: every source responded."""
        if kind == "citations":
            self._store.add_citations([(citing, paper_id) for citing in ids])
        elif paper := self._store.get(paper_id):
            references = dict.fromkeys([*ids, *(paper.references or ())])
            self._store.add([paper.model_copy(update={"references": tuple(references)})])
        if complete:
            neighbor_list = NeighborList(ids, self._today().isoformat())
            self._citation_lists.save(paper_id, kind, self._editions, neighbor_list)

    def _today(self) -> date:
        return self._clock.now().date()

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


def _merge_stored(paper: Paper, before: Paper) -> Paper:
    """The merged record: the new one takes precedence, except over the user's own records."""
    whole = (
        merge_records(paper, before)
        if source_priority(paper) >= source_priority(before)
        else merge_records(before, paper)
    )
    return whole.model_copy(update={"id": paper.id})
