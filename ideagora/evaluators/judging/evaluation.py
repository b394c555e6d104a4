"""What an evaluator tells the judging graph: which questions there are, and how one is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

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


class Evaluation(Protocol):
    """One evaluator's questions.

    Everything here is deterministic: after a stop, the same calls return the same questions.
    """

    @property
    def preparation_model(self) -> str | None:
        """The model that ``prepare`` calls; if it is down, the remaining items are dropped."""

    def items(self) -> Sequence[Key]:
        """What has to be prepared before the first round, such as ideas that are restyled."""

    async def prepare(self, services: Services, item: Key) -> None:
        """Prepare one item. An unreadable or refused answer drops it, with the error as the reason."""

    def drop_reason(self, why: str) -> str:
        """The recorded reason of a dropped item."""

    def next_round(self, progress: Progress) -> Sequence[Key] | None:
        """The questions of the next round, which are asked in parallel; ``None`` after the last one."""

    def asked(self, progress: Progress) -> Iterable[Key]:
        """All questions of the rounds so far, in the order in which they are recorded."""

    def judge(self, question: Key) -> str:
        """The judge's model; if it is down, its questions are left for the next attempt."""

    def verdict_id(self, question: Key) -> str:
        """Id of the question's verdict: the same after a restart."""

    async def ask(self, services: Services, question: Key) -> Verdict:
        """Ask the judge once. An unreadable answer is an unscored verdict, never a value.

        Raises:
            IdeagoraError: the judge or a source is down, or the budget is spent.
        """

    def row(self, question: Key, verdict: Verdict) -> Sequence[int] | None:
        """What later rounds depend on; ``None`` if they depend on nothing."""

    async def complete(self, services: Services, progress: Progress) -> None:
        """Restore from the cache what the record needs, after the last round."""
