"""Balances who is shown first, for each agent and each idea."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ideagora.schedules.pairing import Pairing


@dataclass
class SlotBalance:
    """How much more often each agent and each idea was shown first than second.

    Of two, the one that was first more often is shown second; the count of the idea has twice the weight of
    the agent's. Ties are broken at random. Two that meet again on a topic are shown in the other order.
    """

    random: np.random.Generator
    _shown: set[tuple[int, int, int]] = field(default_factory=set)
    _agent: Counter[int] = field(default_factory=Counter)
    _idea: Counter[tuple[int, int]] = field(default_factory=Counter)

    @classmethod
    def after(cls, asked: Sequence[Pairing], seed: int) -> SlotBalance:
        """The balance after the pairings so far; the random state depends on their number."""
        slots = cls(np.random.default_rng([seed, len(asked)]))
        for pairing in asked:
            slots._take(pairing)
        return slots

    def order_pair(self, topic: int, low: int, high: int, judge: int) -> Pairing:
        """The pair in the order that improves the balance."""
        pairing = Pairing(topic, low, high, judge)
        if self._goes_second(topic, low, high):
            pairing = pairing.swapped
        self._take(pairing)
        return pairing

    def _goes_second(self, topic: int, low: int, high: int) -> bool:
        if (topic, low, high) in self._shown or (topic, high, low) in self._shown:
            return (topic, low, high) in self._shown
        agents = self._agent[low] - self._agent[high]
        ahead = agents + 2 * (self._idea[topic, low] - self._idea[topic, high])
        return ahead > 0 or (ahead == 0 and bool(self.random.random() < 0.5))

    def _take(self, pairing: Pairing) -> None:
        self._shown.add((pairing.topic, pairing.first, pairing.second))
        for agent, step in ((pairing.first, 1), (pairing.second, -1)):
            self._agent[agent] += step
            self._idea[pairing.topic, agent] += step
