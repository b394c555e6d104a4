"""Differences between two agents on the samples that both have: test, interval, detectable difference.

Up to ``MOST_FLIPPED`` samples, the test is the exact sign-flip (paired permutation) test: if the agents are
equal, a sample's difference is as likely as its negative (Fisher 1935). The interval consists of the
differences that the test does not reject (from the means of all subsets, Hartigan 1969). With more samples,
test and interval are Student's. So an interval excludes 0 exactly if the uncorrected p-value is at most 0.05.
docs/benchmark_results.md has the measured type I errors, coverage and power.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL
from ideagora.evaluators.statistics.scores.sample_means import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_FLIPPED = 12
"""Maximum number of samples for the exact test: 4,096 combinations of signs."""
POWER = 0.8
_DECIMALS = 12
"""Differences are rounded to this, so that rounding errors do not break ties."""

Test = Literal["sign-flip", "t", "exchange", "bootstrap-t"]
"""The last two are of ``sample_statistics``."""


@dataclass(frozen=True)
class PairedTest:
    """The mean difference on ``n`` common samples. Missing numbers have a ``reason``."""

    n: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Two-sided, uncorrected."""
    test: Test | None = None
    deviation: float | None = None
    """Standard deviation of the differences over samples."""
    reason: str | None = None


def paired_test(differences: NDArray[np.float64], level: float = LEVEL) -> PairedTest:
    """Test whether the differences (n,), one per common sample, are 0 on average."""
    n = len(differences)
    values = np.round(differences, _DECIMALS)
    if n == 0:
        return PairedTest(0, reason="The two have no scored sample in common.")
    mean = float(values.mean())
    if n == 1:
        return PairedTest(1, mean, reason="A test needs at least two common samples; there is 1.")
    deviation = float(values.std(ddof=1))
    test: Test = "sign-flip" if n <= MOST_FLIPPED else "t"
    p = _sign_flip_p(values) if test == "sign-flip" else _t_p(mean, deviation, n)
    bounds, reason = _bounds(values, mean, deviation, level)
    return PairedTest(n, mean, *bounds, p, test, deviation, reason)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number (Holm 1979), in the same order; ``None`` is not counted."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        corrected[place] = largest
    return corrected


def smallest_p(n: int) -> float:
    """The smallest p-value that ``n`` common samples can give."""
    return float(2.0 ** (1 - n)) if n else 1.0


def detectable_difference(
    deviation: float | None, n: int, alpha: float = 1 - LEVEL, power: float = POWER
) -> float | None:
    """True difference that ``n`` common samples show at the level ``alpha`` with probability ``power``.

    (t(1 - alpha/2, n - 1) + t(power, n - 1)) deviation / √n, with the largest level up to ``alpha`` that the
    test attains. ``None`` if so few samples can show none, or if the deviation is unknown or 0.
    """
    if not deviation or n < 2 or smallest_p(n) > alpha:
        return None
    if n <= MOST_FLIPPED:
        alpha = int(alpha / smallest_p(n) + 1e-9) * smallest_p(n)
    return (t_quantile(1 - alpha / 2, n - 1) + t_quantile(power, n - 1)) * deviation / float(n**0.5)


def _sign_flip_p(values: NDArray[np.float64]) -> float:
    """Share of sign combinations whose sum is at least as far from 0 as the observed one."""
    total = float(values.sum())
    sums = np.abs(total - 2 * (_subsets(len(values)) @ values))
    margin = 1e-9 * float(np.abs(values).sum())
    return float((sums >= abs(total) - margin).mean())


def _t_p(mean: float, deviation: float, n: int) -> float:
    from scipy.special import stdtr

    if deviation < 10.0**-_DECIMALS:
        return smallest_p(n) if mean else 1.0
    return max(smallest_p(n), float(2 * stdtr(n - 1, -abs(mean) / (deviation / n**0.5))))


def _bounds(
    values: NDArray[np.float64], mean: float, deviation: float, level: float
) -> tuple[tuple[float | None, float | None], str | None]:
    n = len(values)
    if deviation < 10.0**-_DECIMALS:
        return (None, None), "All differences are equal, so their variance cannot be estimated."
    if n > MOST_FLIPPED:
        half = t_quantile((1 + level) / 2, n - 1) * deviation / n**0.5
        return (mean - half, mean + half), None
    outside = int((1 - level) / 2 * 2**n + 1e-9)
    if outside == 0:
        return (None, None), f"{n} common samples are too few for an interval at {level:.0%}."
    masks = _subsets(n)[1:]
    means = np.sort(masks @ values / masks.sum(axis=1))
    return (float(means[outside - 1]), float(means[-outside])), None


@cache
def _subsets(n: int) -> NDArray[np.float64]:
    """Every subset of n elements as a row of ones and zeros, (2^n, n), the empty one first."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
