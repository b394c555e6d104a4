"""What an evaluator supplies to the judging graph: which questions there are, and how one is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.schema import Verdict

Key = Sequence[int]
"""A question or an item to prepare, as small integers, which keep checkpoints small."""


@dataclass(frozen=True)
class Progress:
    """What has been asked so far, as the checkpoints have it."""

    round: int
    """Number of rounds drawn before this one."""
    rows: Sequence[Sequence[int]]
    """What ``Evaluation.row`` returned for the questions asked, in order."""
    dropped: Sequence[Sequence[Any]]
    """Items that could not be prepared: their key, and the reason as the last element."""


class Evaluation(ABC):
    """One evaluator's questions. By default, nothing is prepared, and no round depends on an answer.

    Everything here is deterministic: after a stop, the same calls return the same questions.
    """

    preparation_model: str | None = None
    """The model that ``prepare`` calls; if it is down, the remaining items are dropped."""

    def items(self) -> Sequence[Key]:
        """What has to be prepared before the first round, such as ideas that are restyled."""
        return ()

    async def prepare(self, services: Services, item: Key) -> None:
        """Prepare one item. An unreadable or refused answer drops it, with the error as the reason."""
        raise NotImplementedError

    def drop_reason(self, why: str) -> str:
        """The recorded reason of a dropped item."""
        return why

    @abstractmethod
    def next_round(self, progress: Progress) -> Sequence[Key] | None:
        """The questions of the next round, which are asked in parallel; ``None`` after the last one."""

    @abstractmethod
    def asked(self, progress: Progress) -> Iterable[Key]:
        """All questions of the rounds so far, in the order in which they are recorded."""

    @abstractmethod
    def judge(self, question: Key) -> str:
        """The judge's model; if it is down, its questions are left for the next attempt."""

    @abstractmethod
    def verdict_id(self, question: Key) -> str:
        """Id of the question's verdict: the same after a restart."""

    @abstractmethod
    async def ask(self, services: Services, question: Key) -> Verdict:
        """Ask the judge once. An unreadable answer is an unscored verdict, never a value.

        Raises:
            IdeagoraError: the judge or a source is down, or the budget is spent.
        """

    def row(self, question: Key, verdict: Verdict) -> Sequence[int] | None:
        """What later rounds depend on; ``None`` if they depend on nothing."""
        return None

    async def complete(self, services: Services, progress: Progress) -> None:
        """Restore from the cache what the record needs besides the verdicts, after the last round."""
        return
