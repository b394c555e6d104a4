"""Means over the samples of a benchmark, with intervals over samples.

A sample is one cluster: all judges, ideas and epochs on it are one score. On a scale with bounds, the
interval is Wilson's (1927) for the mean's place p on the scale, with the effective number of samples
p (1 - p) / variance of the mean (Korn and Graubard 1998; Franco, Little, Louis and Slud 2019) and Student's t
with n - 1 degrees of freedom. Without two bounds it is the mean ± t standard errors, cut at a bound.
docs/benchmark_results.md has the measured coverage: t alone fails on few samples, as scores that happen to be
equal have no variance.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL, Figure, missing_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_SPREAD = 1e-12
"""Part of the scale; differences below this are rounding errors."""

NO_SCORE = "No sample is scored."
ONE_SAMPLE = "An interval needs at least two samples; 1 is scored."
ALL_EQUAL = "All scores are equal, so their variance cannot be estimated."


def mean_over_samples(
    scores: NDArray[np.float64],
    lowest: float | None = None,
    highest: float | None = None,
    level: float = LEVEL,
) -> Figure:
    """Mean of the scores (n,) with its interval; without a value or an interval, the figure says why.

    Args:
        scores: one per scored sample.
        lowest: lower bound of the measure's scale; ``None`` if it has none.
        highest: upper bound.
        level: of the interval.
    """
    n = len(scores)
    if n == 0:
        return missing_figure(NO_SCORE)
    mean = float(scores.mean())
    if n == 1:
        return Figure(mean, n, reason=ONE_SAMPLE)
    error = float(scores.std(ddof=1)) / n**0.5
    if lowest is not None and highest is not None and _within(scores, lowest, highest):
        span = highest - lowest
        low, high = _wilson((mean - lowest) / span, error / span, n, level)
        return Figure(mean, n, lowest + span * low, lowest + span * high)
    if error <= _NO_SPREAD * max(1.0, abs(mean)):
        return Figure(mean, n, reason=ALL_EQUAL)
    half = t_quantile((1 + level) / 2, n - 1) * error
    low = mean - half if lowest is None else max(min(lowest, mean), mean - half)
    high = mean + half if highest is None else min(max(highest, mean), mean + half)
    return Figure(mean, n, low, high)


@cache
def t_quantile(probability: float, degrees: float) -> float:
    """Quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def _within(scores: NDArray[np.float64], lowest: float, highest: float) -> bool:
    return lowest < highest and bool(((scores >= lowest) & (scores <= highest)).all())


def _wilson(share: float, error: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's interval for a share, 0 to 1, with a standard error.

    Equal scores count as n trials, which is the greatest variance that a mean at this place can have.
    """
    share = min(max(share, 0.0), 1.0)
    variance = share * (1 - share)
    trials = variance / error**2 if error > _NO_SPREAD else float(n)
    t = t_quantile((1 + level) / 2, n - 1)
    centre = share + t**2 / (2 * trials)
    half = t * np.sqrt(variance / trials + (t / (2 * trials)) ** 2)
    scale = 1 + t**2 / trials
    low, high = float((centre - half) / scale), float((centre + half) / scale)
    return max(0.0, min(low, share)), min(1.0, max(high, share))
