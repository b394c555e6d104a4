"""Connected components of agents, and the pairs that would connect them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons


def components(comparisons: Comparisons) -> tuple[tuple[str, ...], ...]:
    """Groups of agents that are compared directly or through others; the largest group first."""
    ones = np.ones(len(comparisons))
    return _parts(comparisons, comparisons.first, comparisons.second, ones, "weak")


def missing_pairs(comparisons: Comparisons) -> tuple[tuple[str, str], ...]:
    """The fewest pairs that would connect all agents: one from each component to the largest.

    Each component is represented by its agent with the most verdicts, whose rating is the most precise.
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

    Between two groups all wins go one way or there are none, so the distance between them is not finite.
    """
    beaten = comparisons.outcome < 1.0  # the second won or tied
    winner = np.concatenate([comparisons.first[comparisons.outcome > 0.0], comparisons.second[beaten]])
    loser = np.concatenate([comparisons.second[comparisons.outcome > 0.0], comparisons.first[beaten]])
    return _parts(comparisons, winner, loser, np.ones(len(winner)), "strong")


def unbounded_agents(comparisons: Comparisons) -> tuple[str, ...]:
    """Agents at an infinite distance from the largest group: all verdicts between them go one way."""
    return tuple(agent for group in tiers(comparisons)[1:] for agent in group)


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
