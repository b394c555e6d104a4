"""Figures with intervals from a jackknife over topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["rate", "correlation", "agreement", "number"]
Chosen = NDArray[np.bool_]
LEVEL = 0.95
BOUNDS: dict[Kind, tuple[float, float]] = {"rate": (0.0, 1.0), "agreement": (-1.0, 1.0)}
"""Range of a kind of figure, to which intervals are clipped."""
GROUPS = 50
"""Maximum number of groups of clusters."""


@dataclass(frozen=True)
class Figure:
    """One number, or None with the reason; ``n`` is the number of rows it was computed from."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    """Why there is no value, or no interval."""


def missing_figure(reason: str, n: int = 0) -> Figure:
    """A figure without a value, for the given reason."""
    return Figure(None, n, reason=reason)


def jackknife(
    statistic: Callable[[Chosen], float | None],
    clusters: NDArray[np.int64],
    kind: Kind,
    undefined: str,
    level: float = LEVEL,
) -> Figure:
    """A statistic of rows with an interval over clusters (topics), leaving out a group of clusters at a time.

    ``statistic`` gets a mask of rows (n,) and returns None where it is undefined. Intervals are Student's t
    with one degree of freedom less than the number of groups: on Fisher's z scale for correlations, and the
    exact binomial interval, with each cluster as one trial, for a rate of 0 or 1.
    """
    n = len(clusters)
    value = statistic(np.ones(n, dtype=np.bool_)) if n else None
    if value is None:
        return missing_figure(undefined, n)
    names, position = np.unique(clusters, return_inverse=True)
    count = min(GROUPS, len(names))
    if count < 2:
        return Figure(value, n, reason="An interval needs at least two topics.")
    if kind == "rate" and value in (0.0, 1.0):
        return Figure(value, n, *_exact(value, len(names), level))
    group = position * count // len(names)
    left = [statistic(group != number) for number in range(count)]
    if any(each is None for each in left):
        return Figure(value, n, reason="Without some topic the figure is undefined, so it has no interval.")
    return _interval(value, np.array(left, dtype=np.float64), n, kind, level)


def _interval(value: float, left: NDArray[np.float64], n: int, kind: Kind, level: float) -> Figure:
    from scipy.special import stdtrit  # not scipy.stats, which takes a second to import

    perfect = abs(value) > 1 - 1e-12 or bool((np.abs(left) > 1 - 1e-12).any())
    if kind == "correlation" and perfect:
        return Figure(value, n, reason="A perfect correlation has no interval.")
    if np.ptp(left) < 1e-12:
        return Figure(
            value, n, reason="The figure is the same without any topic, so its variance cannot be estimated."
        )
    if kind == "correlation":
        centre, parts = np.arctanh(value), np.arctanh(left)
    else:
        centre, parts = value, left
    count = len(parts)
    error = np.sqrt((count - 1) / count * ((parts - parts.mean()) ** 2).sum())
    half = stdtrit(count - 1, (1 + level) / 2) * error
    low, high = float(centre - half), float(centre + half)
    if kind == "correlation":
        low, high = float(np.tanh(low)), float(np.tanh(high))
    if kind in BOUNDS:
        low, high = max(low, min(value, BOUNDS[kind][0])), min(high, BOUNDS[kind][1])
    return Figure(value, n, low, high)


def _exact(value: float, trials: int, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for none, or all, of ``trials``."""
    width = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / trials)
    return (0.0, width) if value == 0.0 else (1.0 - width, 1.0)
