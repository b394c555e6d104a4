"""Several sources as one: all are asked side by side; who is down is left out and noted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ideagora.errors import SourceRejected, SourceUnavailable
from ideagora.retrieval.corpus.dedup import is_same_paper, merge_papers, merge_records
from ideagora.retrieval.protocols import Neighbors, RemoteSource
from ideagora.retrieval.run_notes import RunNotes
from ideagora.schema import Paper

T = TypeVar("T")


@dataclass(frozen=True)
class FederatedResult:
    """Papers, each once, and whether every source that could know more has answered."""

    papers: list[Paper]
    complete: bool = True
    cut: bool = False
    """A source knows more than we read."""


class FederatedSource:
    """The sources of one library.

    Every method raises ``SourceUnavailable`` when no source answered that could have known.
    """

    def __init__(self, remotes: Sequence[RemoteSource], run_notes: RunNotes) -> None:
        self._remotes = tuple(remotes)
        self._run_notes = run_notes

    @property
    def names(self) -> tuple[str, ...]:
        """The sources' names."""
        return tuple(remote.name for remote in self._remotes)

    @property
    def editions(self) -> tuple[str, ...]:
        """The sources' names, with what tells apart what one of them (the user's papers) held when."""
        return tuple(f"{one.name}{getattr(one, 'edition', '')}" for one in self._remotes)

    async def search(self, query: str, k: int) -> FederatedResult:
        """Up to k papers; each source's best before each source's second best."""
        answers, complete = await self._all(self._remotes, lambda remote: remote.search(query, k))
        return FederatedResult(merge_papers(answers)[:k], complete)

    async def paper(self, names: Sequence[str]) -> FederatedResult:
        """The paper that goes by these names, as one record; no paper when nobody knows it."""
        able = self._able(names)
        answers, complete = await self._all(able, lambda remote: remote.paper(_named(remote, names)))
        records = [paper for paper in answers if paper]
        for other in records[1:]:
            if is_same_paper(records[0], other):
                records[0] = merge_records(records[0], other)
        return FederatedResult(records[:1], complete)

    async def references(self, names: Sequence[str]) -> FederatedResult:
        """The papers that one cites."""
        return await self._neighbours(names, lambda remote: remote.references(_named(remote, names)))

    async def citations(self, names: Sequence[str]) -> FederatedResult:
        """The papers that cite one."""
        return await self._neighbours(names, lambda remote: remote.citations(_named(remote, names)))

    async def recommended(self, names: Sequence[str], k: int) -> FederatedResult | None:
        """Up to k papers for readers of one; ``None`` when no source in use recommends papers for it."""
        able = self._able(names)
        answers, complete = await self._all(able, lambda remote: remote.recommended(_named(remote, names), k))
        told = [answer for answer in answers if answer is not None]
        return FederatedResult(merge_papers(told)[:k], complete) if told else None

    async def citations_per_year(self, names: Sequence[str]) -> dict[int, int] | None:
        """Citations by year, from the first source that tells them; counts of two are never added up."""
        able = self._able(names)
        answers, _ = await self._all(able, lambda remote: remote.citations_per_year(_named(remote, names)))
        return next((answer for answer in answers if answer is not None), None)

    async def disconnect(self) -> None:
        """Close connections; the next question opens new ones."""
        for remote in self._remotes:
            await remote.disconnect()

    async def _neighbours(
        self, names: Sequence[str], ask: Callable[[RemoteSource], Awaitable[Neighbors]]
    ) -> FederatedResult:
        able = [remote for remote in self._able(names) if remote.has_citations]
        answers, complete = await self._all(able, ask)
        cut = any(answer.cut for answer in answers)
        return FederatedResult(merge_papers([answer.papers for answer in answers]), complete, cut)

    def _able(self, names: Iterable[str]) -> list[RemoteSource]:
        """The sources that understand one of a paper's names."""
        known = tuple(names)
        return [one for one in self._remotes if any(name.startswith(one.prefixes) for name in known)]

    async def _all(
        self, remotes: Sequence[RemoteSource], ask: Callable[[RemoteSource], Awaitable[T]]
    ) -> tuple[list[T], bool]:
        """The answers of those that answered, in the order of the sources, and whether all did."""

        async def one(remote: RemoteSource) -> tuple[bool, T | SourceUnavailable]:
            try:
                return True, await ask(remote)
            except SourceUnavailable as error:
                self._run_notes.note("down" if error.retryable else "refused", remote.name, str(error))
                return False, error

        outcomes = await asyncio.gather(*(one(remote) for remote in remotes))
        downs = [outcome for _, outcome in outcomes if isinstance(outcome, SourceUnavailable)]
        if downs and len(downs) == len(remotes):
            raise _together(downs)
        return [
            outcome for outcome in (o for _, o in outcomes) if not isinstance(outcome, SourceUnavailable)
        ], not downs


def _together(downs: Sequence[SourceUnavailable]) -> SourceUnavailable:
    """One error for several; it may pass when one of them may."""
    if len(downs) == 1:
        return downs[0]
    kind = SourceUnavailable if any(error.retryable for error in downs) else SourceRejected
    return kind(" ".join(str(error) for error in downs))


def _named(remote: RemoteSource, names: Sequence[str]) -> str:
    """The name of a paper that a source likes best."""
    return next(name for prefix in remote.prefixes for name in names if name.startswith(prefix))
