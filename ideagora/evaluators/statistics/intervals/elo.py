"""Intervals of Elo ratings by a jackknife over topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.intervals.clustered import LEVEL, Intervals, agents_alone, intervals
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import is_connected, topic_wins
from ideagora.evaluators.statistics.ratings.ratings import elo, play_in_orders, playing_orders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

JACKKNIFE_ORDERS = 10
"""Orders of the verdicts for each refit of the Elo jackknife. A refit plays the same orders as the whole
without its group, so what depends on the order cancels."""
GROUPS = 50
"""Maximum number of groups of topics in the Elo jackknife."""


def elo_intervals(
    comparisons: Comparisons, *, level: float = LEVEL, base: float = 1000.0, k: float = 4.0
) -> Intervals:
    """Elo ratings with intervals over topics, by leaving out a group of topics at a time (jackknife).

    Each topic is a group while there are at most ``GROUPS`` of them. Refits without which not all agents can
    be compared are left out and counted. Raises RatingError like ``elo``.
    """
    ratings = elo(comparisons, base=base, k=k)
    orders = playing_orders(comparisons, JACKKNIFE_ORDERS)
    whole = play_in_orders(comparisons, orders, base, k)
    group = comparisons.topic * min(GROUPS, len(comparisons.topics)) // len(comparisons.topics)
    groups, position = np.unique(group, return_inverse=True)
    wins = topic_wins(replace(comparisons, topic=position, topics=tuple(map(str, groups))))
    ratable = is_connected(wins.sum(axis=0) - wins)
    used = np.flatnonzero(ratable)
    influence = np.zeros((len(used) + 1, len(comparisons.agents)))
    refits = np.full((len(used), len(comparisons.agents)), base)
    for row, number in enumerate(used):
        without = [order[position[order] != number] for order in orders]
        refits[row] = play_in_orders(comparisons, without, base, k)
    if len(used):
        growth = _growth(whole - base, refits.mean(axis=0) - base)
        influence[:-1] = growth * (len(used) - 1) / len(used) * (refits.mean(axis=0) - refits)
    alone = agents_alone(comparisons.agents, wins)
    found = intervals(ratings, influence, np.zeros(len(comparisons.agents)), len(used), level, alone)
    return replace(found, refits=len(groups), unratable=len(groups) - len(used))


def _growth(whole: NDArray[np.float64], refitted: NDArray[np.float64]) -> float:
    """How much further from the start the ratings are than those of the refits, which play less.

    With few verdicts, Elo ratings grow like a sum over topics, whereas the jackknife is for a mean.
    """
    square = float(refitted @ refitted)
    return float(whole @ refitted) / square if square > 0 else 1.0
