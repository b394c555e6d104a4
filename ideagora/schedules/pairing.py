"""The interface of schedules: entries, pairings, and the schedule protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ideagora.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pairing(NamedTuple):
    """Two ideas on one topic for one judge, in the order shown."""

    topic: int
    """Position in the list of topics."""
    first: int
    """Position in the list of agents, shown first."""
    second: int
    judge: int = 0

    @property
    def swapped(self) -> Pairing:
        """The same pairing in the other order."""
        return Pairing(self.topic, self.second, self.first, self.judge)

    @property
    def pair(self) -> tuple[int, int]:
        """The two agents, the lower position first."""
        return min(self.first, self.second), max(self.first, self.second)


@dataclass(frozen=True)
class Entrants:
    """Which agents have an idea on which topic.

    ``entered`` has the shape (topics, agents) and is true where the agent has an idea. Ideas are
    compared within a topic only, so a topic with fewer than two entries has no pairings. Raises UsageError
    for another shape and for fewer than one judge.
    """

    entered: NDArray[np.bool_]
    judges: int = 1

    def __post_init__(self) -> None:
        if self.entered.ndim != 2:
            raise UsageError(
                f"entries have the shape {self.entered.shape}; give one row per topic, one column per agent"
            )
        if self.judges < 1:
            raise UsageError(f"{self.judges} judges; there must be at least one")

    @property
    def topics(self) -> int:
        """Number of topics."""
        return int(self.entered.shape[0])

    @property
    def agents(self) -> int:
        """Number of agents."""
        return int(self.entered.shape[1])

    def entries(self, topic: int) -> list[int]:
        """The agents with an idea on the topic, ascending."""
        return [int(agent) for agent in np.flatnonzero(self.entered[topic])]

    def pair_count(self) -> int:
        """Number of pairs of ideas, summed over topics."""
        per_topic = self.entered.sum(axis=1, dtype=np.int64)
        return int((per_topic * (per_topic - 1) // 2).sum())

    def pairs(self, topic: int) -> list[tuple[int, int]]:
        """All pairs of agents with an idea on the topic, each with the lower position first."""
        return list(combinations(self.entries(topic), 2))


class Verdicts(Protocol):
    """What a schedule reads of the scored verdicts, as columns with one row per verdict.

    The arrays have the shape (n,): ``first`` and ``second`` are positions in ``agents`` in the order shown,
    ``topic`` in ``topics``; ``outcome`` is 1 if the first is better, 0 if the second is, 0.5 for a tie.
    """

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents."""
        ...

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics."""
        ...

    @property
    def first(self) -> NDArray[np.int64]:
        """The agent whose idea was shown first."""
        ...

    @property
    def second(self) -> NDArray[np.int64]:
        """The agent whose idea was shown second."""
        ...

    @property
    def outcome(self) -> NDArray[np.float64]:
        """The result, as seen from the first."""
        ...

    @property
    def topic(self) -> NDArray[np.int64]:
        """The topic of both ideas."""
        ...


class Schedule(Protocol):
    """Chooses the pairings that are judged next. Schedules are stateless.

    The same arguments give the same round, whatever the order of the verdicts and of ``asked``. A round is
    finished before the next one is requested, unless the budget ends it.
    """

    @property
    def name(self) -> str:
        """The name on the command line."""
        ...

    def next(self, entrants: Entrants, seen: Verdicts, asked: Sequence[Pairing]) -> list[Pairing]:
        """The next round; empty when no pairing is left or the requested confidence is reached.

        ``asked`` contains all pairings so far; those with an unscored verdict are not repeated either.
        ``seen`` contains the scored verdicts, with the positions of ``entrants``.
        """
        ...

    def total(self, entrants: Entrants) -> int:
        """Number of verdicts of all rounds, or the maximum if it is not known in advance."""
        ...
