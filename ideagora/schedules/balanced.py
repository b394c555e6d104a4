"""Balanced rounds, the simplest schedule with a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from ideagora.errors import UsageError
from ideagora.schedules.pairing import Entrants, Pairing, Verdicts

_BYE = -1


@dataclass(frozen=True)
class Balanced:
    """Rounds in which every idea of a topic meets one other; each pair meets once, in a random order.

    A round robin by the circle method with a random seating for each topic. With an odd number of ideas, one
    of them sits out in each round. ``budget`` is the number of verdicts; ``None`` is every pair once. Judges
    alternate from round to round.
    """

    budget: int | None = None
    seed: int = 0
    name: str = "balanced"

    def __post_init__(self) -> None:
        require_budget(self.budget)

    def next(self, entrants: Entrants, seen: Verdicts, asked: Sequence[Pairing]) -> list[Pairing]:
        """The rest of the first round that has not been asked completely."""
        left = self.total(entrants)
        for listed in self._rounds(entrants):
            chosen, left = listed[:left], left - len(listed[:left])
            if outstanding := _not_asked(chosen, asked):
                return outstanding
        return []

    def total(self, entrants: Entrants) -> int:
        """The budget, or the number of pairs if that is less."""
        return cap(entrants.pair_count(), self.budget)

    def _rounds(self, entrants: Entrants) -> Iterator[list[Pairing]]:
        random = np.random.default_rng(self.seed)
        drawn = [
            circle_rounds(list(random.permutation(entrants.entries(topic))))
            for topic in range(entrants.topics)
        ]
        for number, pairs in enumerate(zip_longest(*drawn, fillvalue=[])):
            judge = number % entrants.judges
            # Shuffle the topics, since a budget that ends within a round omits the last ones.
            yield [
                shown if random.random() < 0.5 else shown.swapped
                for topic in random.permutation(entrants.topics)
                for shown in (Pairing(int(topic), low, high, judge) for low, high in pairs[topic])
            ]


def circle_rounds(players: Sequence[int]) -> list[list[tuple[int, int]]]:
    """All pairs as rounds in which each player plays once; with an odd number, one sits out.

    The circle method: one player stays, the others rotate by one seat. Shape: rounds × pairs.
    """
    seats = [int(player) for player in players]
    seats += [_BYE] * (len(seats) % 2)
    half, rounds = len(seats) // 2, []
    for _ in range(len(seats) - 1):
        facing = zip(seats[:half], reversed(seats[half:]), strict=True)
        rounds.append([pair for pair in facing if _BYE not in pair])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds


def cap(most: int, budget: int | None) -> int:
    """The budget, limited to ``most``."""
    return most if budget is None else min(most, budget)


def require_budget(budget: int | None) -> None:
    """Raise UsageError for a negative budget."""
    if budget is not None and budget < 0:
        raise UsageError(f"a budget of {budget} verdicts is negative; give 0 or more")


def _not_asked(pairings: list[Pairing], asked: Sequence[Pairing]) -> list[Pairing]:
    done = set(asked)
    return [pairing for pairing in pairings if pairing not in done]
