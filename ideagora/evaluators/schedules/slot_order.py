"""Who is shown first: each agent, and each of its ideas, as often as second, as nearly as can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ideagora.evaluators.schedules.pairing import Pairing


@dataclass
class SlotBalance:
    """How often each agent was first more than second, and each idea; ``place`` adds a couple to it.

    Of two, the one that was first more often so far is shown second; what its idea on the topic was counts
    twice beside what the agent was. Lots decide between equal ones. Two that meet again on the same topic are
    shown in the order that is new.
    """

    random: np.random.Generator
    _shown: set[tuple[int, int, int]] = field(default_factory=set)
    _agent: Counter[int] = field(default_factory=Counter)
    _idea: Counter[tuple[int, int]] = field(default_factory=Counter)

    @classmethod
    def after(cls, asked: Sequence[Pairing], seed: int) -> SlotBalance:
        """The slots that the pairings so far have used, and lots that depend on how many there were."""
        slots = cls(np.random.default_rng([seed, len(asked)]))
        for pairing in asked:
            slots._take(pairing)
        return slots

    def place(self, topic: int, low: int, high: int, judge: int) -> Pairing:
        """The couple in the order that evens out."""
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
