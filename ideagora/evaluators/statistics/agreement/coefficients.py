"""Agreement of two or more raters by their verdicts, scores or ratings.

Correlations are SciPy's, kappa is scikit-learn's, alpha is the ``krippendorff`` package's; the intraclass
correlations (``icc``) are implemented here, since no dependency has them. Missing values are nan and are
omitted pairwise. A constant rater makes most figures undefined: ``None`` with a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from ideagora.evaluators.statistics.agreement.icc import IccKind, icc
from ideagora.evaluators.statistics.comparisons import TIE
from ideagora.evaluators.statistics.figures import Chosen, Figure, Kind, jackknife, missing_figure
from ideagora.evaluators.statistics.ratings.matches import score_of_lower, settle_match

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons
    from ideagora.evaluators.statistics.ratings.ratings import Ratings

    Column = NDArray[np.float64]

Weights = Literal["linear", "quadratic"]
Measurement = Literal["nominal", "ordinal", "interval"]
ICC_KINDS: tuple[IccKind, ...] = ("1,1", "1,k", "2,1", "2,k", "3,1", "3,k")

_CONSTANT = "One rater gives all items the same value, so the correlation is undefined."
_ALL_ALIKE = "All values are the same, so agreement beyond chance is undefined."


def percent(first: Column, second: Column, clusters: NDArray[np.int64] | None = None) -> Figure:
    """Share of units with equal values, as in the paper's Table 1 (after Zheng et al. 2024)."""
    return _paired(
        lambda a, b: float(np.mean(a == b)), first, second, clusters, "rate", "No unit has both values."
    )


def cohen_kappa(
    first: Column, second: Column, clusters: NDArray[np.int64] | None = None, weights: Weights | None = None
) -> Figure:
    """Cohen's kappa: agreement beyond chance; ``weights`` for ordered labels."""
    from sklearn.metrics import cohen_kappa_score

    def kappa(a: Column, b: Column) -> float | None:
        labels, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
        if len(labels) < 2:
            return None
        return _finite(cohen_kappa_score(codes[: len(a)], codes[len(a) :], weights=weights))

    return _paired(kappa, first, second, clusters, "agreement", _ALL_ALIKE)


def pearson(first: Column, second: Column, clusters: NDArray[np.int64] | None = None) -> Figure:
    """Pearson's correlation."""
    return _correlation(_pearson, first, second, clusters)


def spearman(first: Column, second: Column, clusters: NDArray[np.int64] | None = None) -> Figure:
    """Spearman's rank correlation."""
    return _correlation(lambda a, b: _pearson(_ranks(a), _ranks(b)), first, second, clusters)


def _pearson(first: Column, second: Column) -> float:
    """The correlation of two columns that are not constant; numpy's, as scipy.stats takes long to import."""
    return float(np.clip(np.corrcoef(first, second)[0, 1], -1.0, 1.0))


def _ranks(column: Column) -> Column:
    """Ranks from 1; equal values have their mean rank."""
    _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    mean_ranks: Column = np.cumsum(counts) - (counts - 1) / 2
    return mean_ranks[places]


def kendall(first: Column, second: Column, clusters: NDArray[np.int64] | None = None) -> Figure:
    """Kendall's tau-b, which allows for ties."""
    from scipy.stats import kendalltau

    return _correlation(lambda a, b: float(kendalltau(a, b).statistic), first, second, clusters)


def krippendorff_alpha(
    table: NDArray[np.float64],
    measurement: Measurement = "nominal",
    clusters: NDArray[np.int64] | None = None,
) -> Figure:
    """Krippendorff's alpha of a table (units, raters) with nan where a rater did not rate."""
    import krippendorff

    def alpha(chosen: Chosen) -> float | None:
        rows = table[chosen]
        paired = rows[(~np.isnan(rows)).sum(axis=1) > 1]
        if len(np.unique(paired[~np.isnan(paired)])) < 2:
            return None
        return _finite(krippendorff.alpha(reliability_data=paired.T, level_of_measurement=measurement))

    rated = (~np.isnan(table)).sum(axis=1) > 1
    units = np.arange(len(table)) if clusters is None else clusters
    if not rated.any():
        return missing_figure("No unit has two ratings.")
    table = table[rated]
    return jackknife(alpha, units[rated], "agreement", _ALL_ALIKE)


def without_ties(first: Column, second: Column) -> tuple[Column, Column]:
    """The two columns with nan for ties, so that units count on which both have a winner."""
    one, other = (np.where(column == TIE, np.nan, column) for column in (first, second))
    return one, other


def compare_labels(
    first: Column, second: Column, clusters: NDArray[np.int64] | None = None
) -> dict[str, Figure]:
    """Percent (also without ties), kappa and alpha of two raters' labels, nan where a rating is missing."""
    return {
        "percent": percent(first, second, clusters),
        "percent_without_ties": percent(*without_ties(first, second), clusters),
        "cohen_kappa": cohen_kappa(first, second, clusters),
        "krippendorff_alpha": krippendorff_alpha(np.stack([first, second], axis=1), "nominal", clusters),
    }


def compare_scores(
    first: Column, second: Column, clusters: NDArray[np.int64] | None = None
) -> dict[str, Figure]:
    """Correlations, intraclass correlations and alpha of two raters' scores, nan where one is missing."""
    table = np.stack([first, second], axis=1)
    return {
        "pearson": pearson(first, second, clusters),
        "spearman": spearman(first, second, clusters),
        "kendall": kendall(first, second, clusters),
        "krippendorff_alpha": krippendorff_alpha(table, "interval", clusters),
        **{f"icc({kind})": icc(table, kind, clusters) for kind in ICC_KINDS},
    }


def compare_ratings(first: Ratings, second: Ratings) -> dict[str, Figure]:
    """Correlations of two ratings over the agents that both have (the paper's Figures 6 and 7)."""
    shared = [agent for agent in first.agents if agent in second.agents]
    scores = [np.array([ratings[agent] for agent in shared]) for ratings in (first, second)]
    return {
        "pearson": pearson(*scores),
        "spearman": spearman(*scores),
        "kendall": kendall(*scores),
    }


Unit = tuple[str, str, str, int]
"""Topic, two agents by name, and which of their matches on that topic: the run."""


def judge_scores(comparisons: Comparisons) -> dict[str, dict[Unit, float]]:
    """For each judge, the score of the alphabetically first agent in each match: 1, 0, or 0.5 for a tie.

    The match goes to the idea that does better over both orders.
    """
    matches = settle_match(comparisons)
    result: dict[str, dict[Unit, float]] = {judge: {} for judge in comparisons.judges}
    lower = np.minimum(matches.first, matches.second).tolist()
    higher = np.maximum(matches.first, matches.second).tolist()
    columns = (
        matches.topic.tolist(),
        lower,
        higher,
        matches.judge.tolist(),
        matches.run_of_row.tolist(),
        ((1.0 + np.sign(score_of_lower(matches) - 0.5)) / 2.0).tolist(),
    )
    for topic, low, high, judge, number, score in zip(*columns, strict=True):
        pair = (comparisons.agents[low], comparisons.agents[high])
        first, second = sorted(pair)
        scores = result[comparisons.judges[judge]]
        while (unit := (comparisons.topics[topic], first, second, number)) in scores:
            number += 1
        scores[unit] = score if first == pair[0] else 1.0 - score
    return result


def _paired(
    statistic: Callable[[Column, Column], float | None],
    first: Column,
    second: Column,
    clusters: NDArray[np.int64] | None,
    kind: Kind,
    undefined: str,
) -> Figure:
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return missing_figure("No unit has both values.")
    units = np.arange(len(first)) if clusters is None else clusters
    first, second = first[both], second[both]
    return jackknife(lambda chosen: statistic(first[chosen], second[chosen]), units[both], kind, undefined)


def _correlation(
    statistic: Callable[[Column, Column], float],
    first: Column,
    second: Column,
    clusters: NDArray[np.int64] | None,
) -> Figure:
    def defined(a: Column, b: Column) -> float | None:
        if len(a) < 3 or np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
            return None
        return _finite(statistic(a, b))

    reason = "Fewer than three items have both values." if len(first) < 3 else _CONSTANT
    return _paired(defined, first, second, clusters, "correlation", reason)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
