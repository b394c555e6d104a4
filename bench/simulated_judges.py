"""Simulated tournaments with a known truth: agents, their ideas, and a judge's verdict on each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.schedules.pairing import Entrants, Pairing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class World:
    """How tournaments are drawn; spreads in logits.

    A ``consistent`` judge gives the same verdict in both orders of a pair. Otherwise each verdict has its own
    noise.
    """

    agents: int = 12
    topics: int = 50
    agent_spread: float = 0.5
    idea_spread: float = 0.8
    consistent: bool = False


@dataclass(frozen=True)
class Tournament:
    """The truth of one tournament. ``verdicts`` (topics, agents, agents) is the outcome when the row's
    idea is shown first and the column's second.
    """

    strengths: NDArray[np.float64]
    verdicts: NDArray[np.float64]

    @property
    def entrants(self) -> Entrants:
        """All agents have an idea on every topic."""
        return Entrants(np.ones(self.verdicts.shape[:2], dtype=bool))

    def judge(self, pairings: Sequence[Pairing]) -> Comparisons:
        """The judge's verdicts on the pairings."""
        columns = np.array(pairings, dtype=np.int64).reshape(-1, 4)
        topic, first, second, judge = columns.T
        topics, agents, _ = self.verdicts.shape
        match = (topic * agents + np.minimum(first, second)) * agents + np.maximum(first, second)
        return Comparisons(
            agents=tuple(f"agent {place}" for place in range(agents)),
            topics=tuple(f"topic {place}" for place in range(topics)),
            judges=("judge",),
            first=first,
            second=second,
            outcome=self.verdicts[topic, first, second],
            topic=topic,
            judge=judge,
            match=match,
            length=np.zeros(len(columns)),
        )


def draw(world: World, seed: int | Sequence[int]) -> Tournament:
    """Draw a tournament; the same seed gives the same one."""
    random = np.random.default_rng(seed)
    shape = (world.topics, world.agents)
    strengths = random.normal(0, world.agent_spread, world.agents)
    ideas = strengths + random.normal(0, world.idea_spread, shape)
    chance = 1 / (1 + np.exp(ideas[:, None, :] - ideas[:, :, None]))
    verdicts = (random.random((*shape, world.agents)) < chance).astype(float)
    if world.consistent:
        above = np.triu(verdicts, 1)
        verdicts = above + np.tril(1 - above.swapaxes(1, 2), -1)
    return Tournament(strengths, verdicts)
