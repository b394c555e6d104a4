"""What a schedule is asked and what it answers: entries, pairings, and the schedule itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ideagora.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons


class Pairing(NamedTuple):
    """Two ideas on one topic for one judge, in the order in which they are shown."""

    topic: int
    """Position in the tournament's topics."""
    first: int
    """Position in its agents, shown first."""
    second: int
    judge: int = 0

    @property
    def swapped(self) -> Pairing:
        """The same two ideas before the same judge in the other order."""
        return Pairing(self.topic, self.second, self.first, self.judge)

    @property
    def couple(self) -> tuple[int, int]:
        """The two agents without their order, the lower position first."""
        return min(self.first, self.second), max(self.first, self.second)


@dataclass(frozen=True)
class Field:
    """Who can meet whom about what.

    ``entered`` has the shape (topics, agents) and says whether the agent has an idea on the topic.
    Ideas are compared within a topic only, so a topic with fewer than two entries gives no pairing.
    Raises UsageError for another shape and for fewer than one judge.
    """

    entered: NDArray[np.bool_]
    judges: int = 1

    def __post_init__(self) -> None:
        if self.entered.ndim != 2:
            raise UsageError(
                f"entries have the shape {self.entered.shape}; give one row a topic, one column an agent"
            )
        if self.judges < 1:
            raise UsageError(f"{self.judges} judges; at least one must judge")

    @property
    def topics(self) -> int:
        """How many topics."""
        return int(self.entered.shape[0])

    @property
    def agents(self) -> int:
        """How many agents."""
        return int(self.entered.shape[1])

    def entries(self, topic: int) -> list[int]:
        """The agents with an idea on the topic, ascending."""
        return [int(agent) for agent in np.flatnonzero(self.entered[topic])]

    def couples(self) -> int:
        """Pairs of ideas that share a topic, summed over topics."""
        per_topic = self.entered.sum(axis=1, dtype=np.int64)
        return int((per_topic * (per_topic - 1) // 2).sum())

    def pairs(self, topic: int) -> list[tuple[int, int]]:
        """All pairs of agents with an idea on the topic, each with the lower position first."""
        return list(combinations(self.entries(topic), 2))


class Schedule(Protocol):
    """Says which pairings are judged next. It keeps no state: all of it is in what it is handed.

    The same arguments give the same round, whatever the order of the verdicts and of ``asked``. A round
    that was begun is finished before the next one is asked for; when it was cut short by a budget, the
    next round builds on what there is.
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    def next(self, field: Field, seen: Comparisons, asked: Sequence[Pairing]) -> list[Pairing]:
        """The next round; empty when nothing is left or the wanted certainty is reached.

        ``asked`` are all pairings so far, also those whose verdict was unscored, so that they are not
        asked for ever. ``seen`` are the scored verdicts among them; positions mean what they mean in
        ``field``.
        """
        ...

    def total(self, field: Field) -> int:
        """Verdicts from the first round to the last when known beforehand, else the most there can be."""
        ...
