"""Intraclass correlations from mean squares (Shrout and Fleiss 1979).

Intervals are those of McGraw and Wong (1996), which take the targets for independent; where targets come in
clusters (ideas on a topic), they leave out one cluster at a time, on Fisher's scale for k raters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL, Chosen, Figure, jackknife, missing_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

IccKind = Literal["1,1", "1,k", "2,1", "2,k", "3,1", "3,k"]


def icc(
    table: NDArray[np.float64],
    kind: IccKind = "2,1",
    clusters: NDArray[np.int64] | None = None,
    level: float = LEVEL,
) -> Figure:
    """Intraclass correlation of a table (targets, raters), of targets that all raters rated.

    ``1,·`` each target has raters of its own, ``2,·`` the raters are a sample (absolute agreement), ``3,·``
    they are all there are (consistency); ``·,1`` of a single rater, ``·,k`` of the raters' mean. ``clusters``
    are the topics (targets,) that the interval is over; without them it is over independent targets.
    """
    complete = ~np.isnan(table).any(axis=1)
    rows = table[complete]
    targets, raters = rows.shape
    if targets < 2 or raters < 2:
        return missing_figure(
            "An intraclass correlation needs two raters and two targets rated by all.", targets
        )
    between, within, of_raters, residual = _mean_squares(rows)
    if between + within <= 0:
        return missing_figure("All values are the same, so the correlation is undefined.", targets)
    squares, shape = (between, within, of_raters, residual), (targets, raters)
    single = _single(kind[0], squares, shape)
    if single is None:
        return missing_figure("Only the raters' means differ, so the correlation is undefined.", targets)
    reason: str | None = None
    if clusters is not None and len(np.unique(clusters[complete])) < targets:
        low, high, reason = _bounds_over_clusters(rows, kind[0], clusters[complete], level)
    elif kind[0] == "2":
        low, high = _bounds_of_sample(single, squares, shape, level)
    else:
        low, high = _bounds_by_f(kind[0], squares, shape, level)
    if kind[2] == "k":
        stepped = _stepped_up(single, raters), _stepped_up(low, raters), _stepped_up(high, raters)
    else:
        stepped = single, low, high
    if low is None and reason is None:
        reason = "Without a residual there is no interval."
    return Figure(stepped[0], targets, stepped[1], stepped[2], reason)


def icc_of_own_raters(
    ratings: Iterable[Sequence[float]],
    kind: Literal["1,1", "1,k"] = "1,1",
    clusters: NDArray[np.int64] | None = None,
    level: float = LEVEL,
) -> Figure:
    """ICC(1, 1) or ICC(1, k) of targets that have raters of their own, given as the ratings of each target.

    It is over the targets with the most frequent number of ratings k, of at least two.
    """
    rated = [sorted(each) for each in ratings]
    counts = Counter(len(each) for each in rated if len(each) > 1)
    if not counts:
        return missing_figure("No target has two ratings.")
    usual = max(counts, key=lambda number: (counts[number], number))
    chosen = [place for place, each in enumerate(rated) if len(each) == usual]
    table = np.array([rated[place] for place in chosen], dtype=np.float64)
    return icc(table, kind, None if clusters is None else clusters[chosen], level)


def _bounds_over_clusters(
    rows: NDArray[np.float64], model: str, clusters: NDArray[np.int64], level: float
) -> tuple[float | None, float | None, str | None]:
    """Interval of one rater's correlation over clusters, and why there is none.

    k r / (2 + (k - 2) r) has Fisher's z of the intraclass correlation r of k raters (Fisher 1925, §39) as its
    inverse hyperbolic tangent.
    """
    raters = rows.shape[1]

    def folded(chosen: Chosen) -> float | None:
        kept = rows[chosen]
        if len(kept) < 2:
            return None
        value = _single(model, _mean_squares(kept), kept.shape)
        return None if value is None else raters * value / (2 + (raters - 2) * value)

    undefined = "Only the raters' means differ, so the correlation is undefined."
    found = jackknife(folded, clusters, "correlation", undefined, level)
    low, high = (
        None if bound is None else 2 * bound / (raters - (raters - 2) * bound)
        for bound in (found.low, found.high)
    )
    return low, high, found.reason


def _single(model: str, squares: tuple[float, float, float, float], shape: tuple[int, int]) -> float | None:
    """The correlation of one rater."""
    between, within, of_raters, residual = squares
    targets, raters = shape
    if model == "1":
        return _ratio(between - within, between + (raters - 1) * within)
    between_raters = raters * (of_raters - residual) / targets if model == "2" else 0.0
    return _ratio(between - residual, between + (raters - 1) * residual + between_raters)


def _mean_squares(rows: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Mean squares between targets, within targets, between raters, and of the residual."""
    targets, raters = rows.shape
    mean = rows.mean()
    of_targets = raters * float(((rows.mean(axis=1) - mean) ** 2).sum())
    of_raters = targets * float(((rows.mean(axis=0) - mean) ** 2).sum())
    total = float(((rows - mean) ** 2).sum())
    return (
        of_targets / (targets - 1),
        max(total - of_targets, 0.0) / (targets * (raters - 1)),
        of_raters / (raters - 1),
        max(total - of_targets - of_raters, 0.0) / ((targets - 1) * (raters - 1)),
    )


def _bounds_by_f(
    model: str, squares: tuple[float, float, float, float], shape: tuple[int, int], level: float
) -> tuple[float | None, float | None]:
    """Interval of one rater's correlation, models 1 and 3: the F ratio over and times its quantiles."""
    from scipy.special import fdtri  # not scipy.stats, which takes a second to import

    between, within, _, residual = squares
    targets, raters = shape
    noise, degrees = residual, (targets - 1) * (raters - 1)
    if model == "1":
        noise, degrees = within, targets * (raters - 1)
    if noise <= 0:
        return None, None
    low = between / noise / fdtri(targets - 1, degrees, (1 + level) / 2)
    high = between / noise * fdtri(degrees, targets - 1, (1 + level) / 2)
    return float((low - 1) / (low + raters - 1)), float((high - 1) / (high + raters - 1))


def _bounds_of_sample(
    value: float, squares: tuple[float, float, float, float], shape: tuple[int, int], level: float
) -> tuple[float | None, float | None]:
    """Interval of one rater's correlation, model 2, with Satterthwaite's degrees of freedom."""
    from scipy.special import fdtri

    between, _, of_raters, residual = squares
    targets, raters = shape
    if residual <= 0:
        return None, None
    rater_part = raters * value * of_raters
    rest_part = (targets * (1 + (raters - 1) * value) - raters * value) * residual
    spread = rater_part**2 / (raters - 1) + rest_part**2 / ((targets - 1) * (raters - 1))
    free = (rater_part + rest_part) ** 2 / spread
    over, under = fdtri(targets - 1, free, (1 + level) / 2), fdtri(free, targets - 1, (1 + level) / 2)
    mixed = raters * of_raters + (raters * targets - raters - targets) * residual
    low = targets * (between - over * residual) / (over * mixed + targets * between)
    high = targets * (under * between - residual) / (mixed + targets * under * between)
    return float(low), float(high)


def _stepped_up(value: float | None, raters: int) -> float | None:
    """Spearman and Brown: of the mean of several raters, from that of one."""
    return None if value is None else _ratio(raters * value, 1 + (raters - 1) * value)


def _ratio(numerator: float, denominator: float) -> float | None:
    return float(numerator / denominator) if abs(denominator) > 1e-12 else None
