"""Round robin: every pair of ideas on a topic, in both orders, for every judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ideagora.schedules.pairing import Entrants, Pairing, Verdicts


@dataclass(frozen=True)
class RoundRobin:
    """All pairs in both orders (Chain of Ideas, section 4: Idea Arena), all in one round.

    ``randomised=False`` is the paper's list: topic by topic, the two orders of a pair one after the other.
    Otherwise every pair comes once in a random order, and all pairs again in the swapped order after that, so
    that a tournament that runs out of budget has covered every pair before any is repeated.
    """

    seed: int = 0
    randomised: bool = True
    name: str = "round_robin"

    def next(self, entrants: Entrants, seen: Verdicts, asked: Sequence[Pairing]) -> list[Pairing]:
        """All pairings that have not been asked."""
        done = set(asked)
        return [pairing for pairing in self._all(entrants) if pairing not in done]

    def total(self, entrants: Entrants) -> int:
        """Twice the number of pairs, for each judge."""
        return 2 * entrants.pair_count() * entrants.judges

    def _all(self, entrants: Entrants) -> list[Pairing]:
        plain = [
            Pairing(topic, first, second, judge)
            for topic in range(entrants.topics)
            for first, second in entrants.pairs(topic)
            for judge in range(entrants.judges)
        ]
        if not self.randomised:
            return [shown for pairing in plain for shown in (pairing, pairing.swapped)]
        random = np.random.default_rng(self.seed)
        swap = random.random(len(plain)) < 0.5
        once = [
            pairing.swapped if swap[place] else pairing
            for pairing, place in ((plain[place], place) for place in random.permutation(len(plain)))
        ]
        return once + [pairing.swapped for pairing in once]
