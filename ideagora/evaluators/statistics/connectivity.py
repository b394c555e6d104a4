"""Connected components of agents, and the pairs that would connect them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons


def components(comparisons: Comparisons) -> tuple[tuple[str, ...], ...]:
    """Agents that are compared with each other, directly or over others; the largest part first."""
    ones = np.ones(len(comparisons))
    return _parts(comparisons, comparisons.first, comparisons.second, ones, "weak")


def missing_pairs(comparisons: Comparisons) -> tuple[tuple[str, str], ...]:
    """The fewest pairs that would connect all agents: one to the largest part from each other part.

    From each part the agent with the most verdicts stands in the pair: its own rating is the surest.
    """
    parts = components(comparisons)
    if len(parts) < 2:
        return ()
    verdicts = np.bincount(
        np.concatenate([comparisons.first, comparisons.second]), minlength=len(comparisons.agents)
    )
    count = dict(zip(comparisons.agents, verdicts.tolist(), strict=True))
    anchors = [max(part, key=lambda agent: count[agent]) for part in parts]
    return tuple((anchors[0], other) for other in anchors[1:])


def tiers(comparisons: Comparisons) -> tuple[tuple[str, ...], ...]:
    """Groups of agents whose ratings are finite among themselves; the largest group first.

    Between two groups all wins (or none) go one way, so no finite distance follows from the verdicts.
    """
    beaten = comparisons.outcome < 1.0  # the second took something from the first
    winner = np.concatenate([comparisons.first[comparisons.outcome > 0.0], comparisons.second[beaten]])
    loser = np.concatenate([comparisons.second[comparisons.outcome > 0.0], comparisons.first[beaten]])
    return _parts(comparisons, winner, loser, np.ones(len(winner)), "strong")


def unbounded_agents(comparisons: Comparisons) -> tuple[str, ...]:
    """Agents at an infinite distance from the largest group: all verdicts between them go one way."""
    return tuple(agent for group in tiers(comparisons)[1:] for agent in group)


def restrict_to(comparisons: Comparisons, agents: tuple[str, ...]) -> Comparisons:
    """The verdicts between these agents; topics and judges keep their positions."""
    position = {agent: new for new, agent in enumerate(agents)}
    new = np.array([position.get(agent, -1) for agent in comparisons.agents], dtype=np.int64)
    kept = comparisons.rows((new[comparisons.first] >= 0) & (new[comparisons.second] >= 0))
    return replace(kept, agents=agents, first=new[kept.first], second=new[kept.second])


def _parts(
    comparisons: Comparisons,
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    ones: NDArray[np.float64],
    connection: str,
) -> tuple[tuple[str, ...], ...]:
    size = len(comparisons.agents)
    graph = coo_array((ones, (source, target)), shape=(size, size)).tocsr()
    count, label = connected_components(graph, directed=True, connection=connection)
    parts = [
        tuple(agent for agent, part in zip(comparisons.agents, label, strict=True) if part == number)
        for number in range(count)
    ]
    return tuple(sorted(parts, key=len, reverse=True))
