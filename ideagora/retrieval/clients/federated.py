"""Federated search: queries several sources in parallel; sources that fail are skipped and noted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from ideagora.errors import SourceRejected, SourceUnavailable
from ideagora.retrieval.corpus.dedup import is_same_paper, merge_papers, merge_records
from ideagora.retrieval.http.cache import NotCached
from ideagora.retrieval.protocols import Neighbors, RemoteSource, SupportsBatches
from ideagora.retrieval.run_notes import RunNotes
from ideagora.schema import Paper

T = TypeVar("T")


@dataclass(frozen=True)
class FederatedResult:
    """Papers without duplicates, and whether every relevant source responded."""

    papers: list[Paper]
    complete: bool = True
    truncated: bool = False
    """Whether a source has more than were read."""


class FederatedSource:
    """Several sources as one.

    Every method raises ``SourceUnavailable`` if none of the relevant sources responded.
    """

    def __init__(self, remotes: Sequence[RemoteSource], run_notes: RunNotes) -> None:
        self._remotes = tuple(remotes)
        self._run_notes = run_notes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources."""
        return tuple(remote.name for remote in self._remotes)

    @property
    def editions(self) -> tuple[str, ...]:
        """Names of the sources, with the edition of those whose content changes (the user's papers)."""
        return tuple(f"{remote.name}{getattr(remote, 'edition', '')}" for remote in self._remotes)

    async def search(self, query: str, k: int) -> FederatedResult:
        """Up to k papers, interleaved by rank: the best of each source, then the second best, …"""
        responses, downs = await self._query_all(self._remotes, lambda remote: remote.search(query, k))
        return FederatedResult(merge_papers(responses)[:k], complete=not downs)

    async def paper(self, ids: Sequence[str]) -> FederatedResult:
        """The paper with these ids, merged into one record; empty if no source has it."""
        remotes = self._supporting(ids)
        responses, downs = await self._query_all(remotes, lambda remote: remote.paper(_id_for(remote, ids)))
        records = [paper for paper in responses if paper]
        for other in records[1:]:
            if is_same_paper(records[0], other):
                records[0] = merge_records(records[0], other)
        return FederatedResult(records[:1], complete=not downs)

    async def references(self, ids: Sequence[str]) -> FederatedResult:
        """The papers that a paper cites."""
        return await self._neighbors(ids, lambda remote: remote.references(_id_for(remote, ids)))

    async def citations(self, ids: Sequence[str]) -> FederatedResult:
        """The papers that cite a paper."""
        return await self._neighbors(ids, lambda remote: remote.citations(_id_for(remote, ids)))

    async def prefetch(self, papers: Sequence[tuple[Sequence[str], Paper]]) -> None:
        """Fetch references and citations of papers, each with its ids, where a source has requests for it.

        A source that does not respond is passed over: the calls that need its lists report it.
        """

        await self._prefetch(
            lambda remote: remote.prefetch(
                {_id_for(remote, ids): paper for ids, paper in papers if _understands(remote, ids)}
            )
        )

    async def prefetch_search(self, query: str, k: int) -> None:
        """Fetch and cache the results of a search; as ``prefetch``."""
        await self._prefetch(lambda remote: remote.search(query, k))

    async def _prefetch(self, fetch: Callable[[SupportsBatches], Awaitable[object]]) -> None:
        async def fetch_from(remote: SupportsBatches) -> None:
            with suppress(SourceUnavailable, NotCached):  # the later call reports it
                await fetch(remote)

        remotes = [remote for remote in self._remotes if isinstance(remote, SupportsBatches)]
        await asyncio.gather(*map(fetch_from, remotes))

    async def recommended(self, ids: Sequence[str], k: int) -> FederatedResult | None:
        """Up to k papers recommended to readers of a paper; ``None`` if no source recommends any."""
        remotes = self._supporting(ids)
        responses, downs = await self._query_all(
            remotes, lambda remote: remote.recommended(_id_for(remote, ids), k)
        )
        lists = [response for response in responses if response is not None]
        return FederatedResult(merge_papers(lists)[:k], complete=not downs) if lists else None

    async def citations_per_year(self, ids: Sequence[str]) -> dict[int, int] | None:
        """Citations by year from the first source that has them; sources are never added up.

        Raises:
            SourceUnavailable: no source has them, but one did not respond and may have them.
        """
        remotes = self._supporting(ids)
        responses, downs = await self._query_all(
            remotes, lambda remote: remote.citations_per_year(_id_for(remote, ids))
        )
        counts = next((response for response in responses if response is not None), None)
        if counts is None and downs:
            raise _combine(downs)
        return counts

    async def disconnect(self) -> None:
        """Close connections; the next request opens new ones."""
        for remote in self._remotes:
            await remote.disconnect()

    async def _neighbors(
        self, ids: Sequence[str], query: Callable[[RemoteSource], Awaitable[Neighbors]]
    ) -> FederatedResult:
        remotes = [remote for remote in self._supporting(ids) if remote.has_citations]
        responses, downs = await self._query_all(remotes, query)
        truncated = any(response.truncated for response in responses)
        papers = merge_papers([response.papers for response in responses])
        return FederatedResult(papers, complete=not downs, truncated=truncated)

    def _supporting(self, ids: Iterable[str]) -> list[RemoteSource]:
        """The sources that understand one of a paper's ids."""
        return [remote for remote in self._remotes if _understands(remote, ids)]

    async def _query_all(
        self, remotes: Sequence[RemoteSource], query: Callable[[RemoteSource], Awaitable[T]]
    ) -> tuple[list[T], list[SourceUnavailable]]:
        """The responses of the sources that responded, in their order, and the errors of the others.

        Raises:
            SourceUnavailable: no source responded.
        """

        async def outcome_of(remote: RemoteSource) -> tuple[bool, T | SourceUnavailable]:
            try:
                return True, await query(remote)
            except SourceUnavailable as error:
                self._run_notes.note("down" if error.retryable else "refused", remote.name, str(error))
                return False, error

        outcomes = await asyncio.gather(*(outcome_of(remote) for remote in remotes))
        downs = [outcome for _, outcome in outcomes if isinstance(outcome, SourceUnavailable)]
        if downs and len(downs) == len(remotes):
            raise _combine(downs)
        responses = [
            outcome for outcome in (o for _, o in outcomes) if not isinstance(outcome, SourceUnavailable)
        ]
        return responses, downs


def _combine(downs: Sequence[SourceUnavailable]) -> SourceUnavailable:
    """One error for several; transient if any of them is."""
    if len(downs) == 1:
        return downs[0]
    kind = SourceUnavailable if any(error.retryable for error in downs) else SourceRejected
    return kind(" ".join(str(error) for error in downs))


def _understands(remote: RemoteSource | SupportsBatches, ids: Iterable[str]) -> bool:
    """Whether a source understands one of a paper's ids."""
    return any(name.startswith(remote.prefixes) for name in ids)


def _id_for(remote: RemoteSource | SupportsBatches, ids: Sequence[str]) -> str:
    """The id of a paper that a source prefers."""
    return next(name for prefix in remote.prefixes for name in ids if name.startswith(prefix))
