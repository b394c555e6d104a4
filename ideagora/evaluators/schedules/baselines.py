"""The two baselines that a clever schedule has to beat: pairs at random, and balanced rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from ideagora.errors import UsageError
from ideagora.evaluators.schedules.pairing import Field, Pairing
from ideagora.evaluators.statistics.comparisons import Comparisons

_BYE = -1


@dataclass(frozen=True)
class RandomPairs:
    """Pairings drawn at random, without repetition, from all pairs of ideas in both orders.

    ``budget`` is how many verdicts to ask for; None is all there are. All in one round.
    """

    budget: int | None = None
    seed: int = 0
    name: str = "random"

    def __post_init__(self) -> None:
        require_budget(self.budget)

    def next(self, field: Field, seen: Comparisons, asked: Sequence[Pairing]) -> list[Pairing]:
        """Whatever of the drawn pairings has not been asked."""
        return _not_asked(self._drawn(field), asked)

    def total(self, field: Field) -> int:
        """The budget, or twice the pairs of ideas when that is less."""
        return cap(2 * field.couples(), self.budget)

    def _drawn(self, field: Field) -> list[Pairing]:
        random = np.random.default_rng(self.seed)
        every = [
            Pairing(topic, *shown)
            for topic in range(field.topics)
            for low, high in field.pairs(topic)
            for shown in ((low, high), (high, low))
        ]
        order = random.permutation(len(every))[: self.total(field)]
        return [every[place]._replace(judge=number % field.judges) for number, place in enumerate(order)]


@dataclass(frozen=True)
class Balanced:
    """Rounds in which every idea of a topic meets one other, each pair once, in one random order.

    A round-robin by the circle method, drawn anew for each topic; with an odd number of ideas one sits
    out in each round, another one each time. ``budget`` is how many verdicts to ask for; None is every
    pair once. Judges take turns from round to round.
    """

    budget: int | None = None
    seed: int = 0
    name: str = "balanced"

    def __post_init__(self) -> None:
        require_budget(self.budget)

    def next(self, field: Field, seen: Comparisons, asked: Sequence[Pairing]) -> list[Pairing]:
        """The first round of which something has not been asked."""
        left = self.total(field)
        for listed in self._rounds(field):
            chosen, left = listed[:left], left - len(listed[:left])
            if outstanding := _not_asked(chosen, asked):
                return outstanding
        return []

    def total(self, field: Field) -> int:
        """The budget, or the pairs of ideas when that is less."""
        return cap(field.couples(), self.budget)

    def _rounds(self, field: Field) -> Iterator[list[Pairing]]:
        random = np.random.default_rng(self.seed)
        drawn = [
            circle_rounds(list(random.permutation(field.entries(topic)))) for topic in range(field.topics)
        ]
        for number, couples in enumerate(zip_longest(*drawn, fillvalue=[])):
            judge = number % field.judges
            # A budget that ends within a round leaves out the last topics: never the same ones.
            yield [
                shown if random.random() < 0.5 else shown.swapped
                for topic in random.permutation(field.topics)
                for shown in (Pairing(int(topic), low, high, judge) for low, high in couples[topic])
            ]


def circle_rounds(players: Sequence[int]) -> list[list[tuple[int, int]]]:
    """All pairs of the players as rounds in which each plays once (odd numbers: one sits out).

    The circle method: one player stays, the others move round by a place. Shape: rounds × couples.
    """
    seats = [int(player) for player in players]
    seats += [_BYE] * (len(seats) % 2)
    half, rounds = len(seats) // 2, []
    for _ in range(len(seats) - 1):
        facing = zip(seats[:half], reversed(seats[half:]), strict=True)
        rounds.append([couple for couple in facing if _BYE not in couple])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds


def cap(most: int, budget: int | None) -> int:
    """The budget in verdicts, and no more than there can be."""
    return most if budget is None else min(most, budget)


def require_budget(budget: int | None) -> None:
    """Raise UsageError for a budget below nothing."""
    if budget is not None and budget < 0:
        raise UsageError(f"a budget of {budget} verdicts cannot be kept to; give 0 or more")


def _not_asked(pairings: list[Pairing], asked: Sequence[Pairing]) -> list[Pairing]:
    done = set(asked)
    return [pairing for pairing in pairings if pairing not in done]
