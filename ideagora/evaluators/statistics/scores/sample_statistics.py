"""Figures of a benchmark that are no mean over samples: a percentile, and the mean of several such figures.

Intervals resample samples, so all judges, ideas and epochs on one stay together, and the figures that are
averaged are of the same samples. They are percentile intervals, widened for few samples (Hesterberg 2015,
expanded percentile). Two agents are compared on common samples: up to ``MOST_FLIPPED`` by exchanging their
scores on every subset of the samples, which is exact, else by Student's t with the error of a bootstrap of
both together. docs/liveideabench.md has the measured coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL, Figure, missing_figure
from ideagora.evaluators.statistics.scores.paired_tests import MOST_FLIPPED, PairedTest, smallest_p
from ideagora.evaluators.statistics.scores.sample_means import ALL_EQUAL, NO_SCORE, ONE_SAMPLE, t_quantile
from ideagora.evaluators.statistics.scores.statistic import Statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

REPLICATES = 2_000
_CHUNK = 200
"""Replicates at once, which bounds the memory."""
_PERCENTILE = 30
_NO_SPREAD = 1e-12
_DECIMALS = 12
"""Differences are rounded to this, so that rounding errors do not break ties."""


def statistic_of(scores: NDArray[np.float64], statistics: Sequence[Statistic]) -> NDArray[np.float64]:
    """The mean over columns of each column's statistic, for scores (..., samples, columns).

    nan stands for a score that is missing; the result is nan if a column has no score.
    """
    values = [_column(scores[..., place], statistic) for place, statistic in enumerate(statistics)]
    mean: NDArray[np.float64] = np.mean(np.stack(values, axis=-1), axis=-1)
    return mean


def _column(scores: NDArray[np.float64], statistic: Statistic) -> NDArray[np.float64]:
    """The statistic over the last axis, without missing scores."""
    missing = np.isnan(scores)
    counts = (~missing).sum(axis=-1)
    if statistic == "mean":
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(missing, 0.0, scores).sum(axis=-1) / counts)
    ordered = np.sort(scores, axis=-1)  # missing ones are last
    place = np.maximum(counts - 1, 0) * (_PERCENTILE / 100)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0))
    lower = np.take_along_axis(ordered, low[..., None], -1)[..., 0]
    upper = np.take_along_axis(ordered, high[..., None], -1)[..., 0]
    return np.asarray(lower + (place - low) * (upper - lower))


def figure_over_samples(
    scores: NDArray[np.float64],
    statistics: Sequence[Statistic],
    lowest: float | None = None,
    highest: float | None = None,
    level: float = LEVEL,
) -> Figure:
    """A figure of scores (samples, columns) with its interval over samples; nan: missing."""
    rows = scores[~np.isnan(scores).all(axis=1)]
    n = len(rows)
    value = float(statistic_of(rows, statistics)) if n else float("nan")
    if np.isnan(value):
        return missing_figure(NO_SCORE)
    if n == 1:
        return Figure(value, n, reason=ONE_SAMPLE)
    drawn = bootstrap(rows, statistics)
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) == 0 or float(np.ptp(drawn)) <= _NO_SPREAD * max(1.0, abs(value)):
        return Figure(value, n, reason=ALL_EQUAL)
    tail = _expanded_tail(n, level)
    low, high = (float(bound) for bound in np.quantile(drawn, (tail, 1 - tail)))
    low, high = min(low, value), max(high, value)
    return Figure(
        value, n, low if lowest is None else max(lowest, low), high if highest is None else min(highest, high)
    )


def bootstrap(rows: NDArray[np.float64], statistics: Sequence[Statistic]) -> NDArray[np.float64]:
    """The figure of ``REPLICATES`` samples drawn with replacement from rows (samples, columns).

    The draws depend on the number of samples alone, so those of two agents belong together.
    """
    generator, n = np.random.default_rng(0), len(rows)
    parts = [
        statistic_of(rows[generator.integers(0, n, (_CHUNK, n))], statistics)
        for _ in range(REPLICATES // _CHUNK)
    ]
    return np.concatenate(parts)


def _expanded_tail(n: int, level: float) -> float:
    """The tail of a percentile interval that is as wide as Student's t interval where that is exact."""
    from scipy.special import ndtr

    return float(ndtr(-np.sqrt(n / (n - 1)) * t_quantile((1 + level) / 2, n - 1)))


def compare_statistic(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    statistics: Sequence[Statistic],
    drawn: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    level: float = LEVEL,
) -> PairedTest:
    """Test whether two agents differ, from their scores (samples, columns) on the same samples, none missing.

    ``drawn`` are the replicates of both from ``bootstrap``, if they are known.
    """
    n = len(first)
    if n == 0:
        return PairedTest(0, reason="The two have no scored sample in common.")
    difference = float(statistic_of(first, statistics) - statistic_of(second, statistics))
    if n == 1:
        return PairedTest(1, difference, reason="A test needs at least two common samples; there is 1.")
    own, other = drawn or (bootstrap(first, statistics), bootstrap(second, statistics))
    error = float((own - other).std(ddof=1))
    deviation = error * n**0.5
    if n <= MOST_FLIPPED:
        p = _exchange_p(first, second, statistics, difference)
        reason = f"{n} common samples are too few for an interval of this difference."
        return PairedTest(n, difference, p=p, test="exchange", deviation=deviation, reason=reason)
    if error <= _NO_SPREAD:
        p = smallest_p(n) if abs(difference) > _NO_SPREAD else 1.0
        reason = "All differences are equal, so their variance cannot be estimated."
        return PairedTest(n, difference, p=p, test="bootstrap-t", deviation=0.0, reason=reason)
    half = t_quantile((1 + level) / 2, n - 1) * error
    p = max(smallest_p(n), _t_p(difference / error, n))
    return PairedTest(n, difference, difference - half, difference + half, p, "bootstrap-t", deviation)


def _exchange_p(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    statistics: Sequence[Statistic],
    difference: float,
) -> float:
    """Share of the subsets of samples whose exchange gives at least this difference."""
    n = len(first)
    swapped = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)[:, :, None]
    own = statistic_of(np.where(swapped, second, first), statistics)
    other = statistic_of(np.where(swapped, first, second), statistics)
    differences = np.round(np.abs(own - other), _DECIMALS)
    return float((differences >= round(abs(difference), _DECIMALS)).mean())


def _t_p(t: float, n: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1, -abs(t)))
