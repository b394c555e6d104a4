"""A judge's preference for the idea shown first, in logits, from matches judged in both orders.

A logistic model with a preference of its own for every match (the difference of the two ideas) has
exp(2 · preference) as the odds that a reversed match went to the first slot twice instead of to the second
(the conditional likelihood of Cox 1958, as in McNemar's test). So neither the spread of ideas around their
agents nor their lengths shrinks it, as they shrink the coefficient of a model with one strength per agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL, Figure, jackknife, missing_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

_STEEPEST = 20.0
"""Logits that no preference exceeds."""


def slot_preference(comparisons: Comparisons, level: float = LEVEL) -> Figure:
    """The preference with its interval over topics; ``n`` counts the matches judged in both orders.

    Half a reversal is added on each side, so the preference is finite.
    """
    topic, points = _points_of_first_slot(comparisons)
    if not len(points):
        return missing_figure("No match was judged in both orders.")
    return jackknife(
        lambda chosen: _preference(points[chosen]), topic, "number", "No match is reversed.", level
    )


def _points_of_first_slot(comparisons: Comparisons) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Of each match in both orders: its topic, and the first slot's points beyond 1; -1 to 1."""
    rows = comparisons.rows(comparisons.first != comparisons.second)
    _, start, match = np.unique(rows.match, return_index=True, return_inverse=True)
    order = 2 * match + (rows.first > rows.second)
    counts = np.bincount(order, minlength=2 * len(start)).reshape(-1, 2)
    totals = np.bincount(order, rows.outcome, 2 * len(start)).reshape(-1, 2)
    both = (counts > 0).all(axis=1)
    return rows.topic[start][both], (totals[both] / counts[both]).sum(axis=1) - 1.0


def _preference(points: NDArray[np.float64]) -> float | None:
    """The solution p of sum(points) = sum(|points| tanh(|points| p)), with half a reversal on each side."""
    from scipy.optimize import brentq

    sizes, counts = np.unique(np.abs(points), return_counts=True)
    if not sizes.any():
        return None
    total = points.sum()

    def excess(p: float) -> float:
        return float(counts @ (sizes * np.tanh(sizes * p)) + np.tanh(p) - total)

    return float(brentq(excess, -_STEEPEST, _STEEPEST))
