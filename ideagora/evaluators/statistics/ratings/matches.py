"""Matches (two ideas shown to one judge, in one or both orders) and their points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons


def score_of_lower(comparisons: Comparisons) -> NDArray[np.float64]:
    """Score of the agent at the lower position for each verdict, (n,), whichever was shown first."""
    swapped = comparisons.first > comparisons.second
    return np.where(swapped, 1.0 - comparisons.outcome, comparisons.outcome)


def score_range(
    comparisons: Comparisons,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For each match: its first row, and the lowest and highest score of the lower agent in its rows."""
    _, start, match = np.unique(comparisons.match, return_index=True, return_inverse=True)
    low, high = np.full(len(start), np.inf), np.full(len(start), -np.inf)
    score = score_of_lower(comparisons)
    np.minimum.at(low, match, score)
    np.maximum.at(high, match, score)
    return start, low, high


def settle_match(comparisons: Comparisons) -> Comparisons:
    """One row per match: the mean score of its two orders, each the mean of its verdicts.

    A win in one order and a tie in the other are three quarters of a point; a reversal is a tie. Rows of an
    agent against itself are left out, since their two orders are indistinguishable.
    """
    rows = comparisons.rows(comparisons.first != comparisons.second)
    _, start, match = np.unique(rows.match, return_index=True, return_inverse=True)
    size = 2 * len(start)
    slot = 2 * match + (rows.first > rows.second)
    counts = np.bincount(slot, minlength=size).reshape(-1, 2)
    totals = np.bincount(slot, score_of_lower(rows), size).reshape(-1, 2)
    by_order = totals / np.maximum(counts, 1)
    score = by_order.sum(axis=1) / (counts > 0).sum(axis=1)
    matches = rows.rows(start)
    return replace(matches, outcome=np.where(matches.first > matches.second, 1.0 - score, score))


@dataclass(frozen=True)
class Points:
    """Points of an agent against the full one over ``matches``: 2 for a win, 1 for a tie, 0 for a loss."""

    agent: str
    points: float
    matches: int


def ablation_points(comparisons: Comparisons, full: str) -> tuple[Points, ...]:
    """The ablation score of the Chain-of-Ideas paper (section 5, Table 2): each agent's points against
    ``full``.

    Each match counts once, with the mean of its two orders, which the paper leaves open. The full
    agent itself would have one point per match and is not listed. Raises ValueError if ``full`` is not one of
    the agents.
    """
    matches = settle_match(comparisons)
    base = comparisons.agents.index(full)
    result = []
    for position, agent in enumerate(comparisons.agents):
        here = matches.rows((matches.first == position) & (matches.second == base))
        there = matches.rows((matches.first == base) & (matches.second == position))
        points = 2 * float(here.outcome.sum() + (1.0 - there.outcome).sum())
        if position != base:
            result.append(Points(agent, points, len(here) + len(there)))
    return tuple(result)
