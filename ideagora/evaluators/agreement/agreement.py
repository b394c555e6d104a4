"""Agreement of raters: of two raters item by item, and of all raters.

Verdicts are compared match by match, as the share of matches with the same winner (Chain of Ideas, section
4.2, Table 1), and by the ratings that each side gives the agents (its Figures 6 and 7). Scores are compared
by correlations and intraclass correlations (LiveIdeaBench, appendix on its human study).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TypedDict, cast

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.agreement.raters import OVERALL, Item, Rater, clusters_of, shared_items, with_overall
from ideagora.evaluators.arena.leaderboard.audit import audit_figure
from ideagora.evaluators.arena.protocol import Values, comparisons
from ideagora.evaluators.statistics.agreement.coefficients import (
    ICC_KINDS,
    compare_labels,
    compare_ratings,
    compare_scores,
    kendall,
    krippendorff_alpha,
    pearson,
    spearman,
)
from ideagora.evaluators.statistics.agreement.icc import icc, icc_of_own_raters
from ideagora.evaluators.statistics.figures import Figure, missing_figure
from ideagora.evaluators.statistics.ratings.ratings import Ratings, bradley_terry
from ideagora.schema import Verdict

Figures = dict[str, Figure]


def agreement(one: Rater, other: Rater) -> dict[str, Figures]:
    """Agreement of two raters by criterion, over the items that both rated.

    Raises:
        UsageError: the raters are of different kinds, or have no item in common.
    """
    return {name: _figures(one, other, name, items) for name, items in shared_items(one, other).items()}


def _figures(one: Rater, other: Rater, criterion: str, items: Sequence[Item]) -> Figures:
    columns = [np.array([rater.values[criterion][item] for item in items]) for rater in (one, other)]
    topics = clusters_of(items)
    if one.kind == "scores":
        return compare_scores(columns[0], columns[1], topics)
    if one.kind == "ratings":
        return {"pearson": pearson(*columns), "spearman": spearman(*columns), "kendall": kendall(*columns)}
    labels = compare_labels(columns[0], columns[1], topics)
    return {**labels, **_rating_correlations(one, other, criterion, items)}


def _rating_correlations(one: Rater, other: Rater, criterion: str, items: Sequence[Item]) -> Figures:
    """Correlations of the agents' ratings, from each rater's verdicts on the matches that both judged."""
    names = ("pearson", "spearman", "kendall")
    try:
        figures = compare_ratings(*(_ratings(rater, criterion, items) for rater in (one, other)))
    except RatingError as error:
        figures = dict.fromkeys(names, missing_figure(str(error)))
    return {f"ratings, {name}": figure for name, figure in figures.items()}


def _ratings(rater: Rater, criterion: str, items: Sequence[Item]) -> Ratings:
    wanted = {item.name for item in items}
    verdicts = [one for one in rater.verdicts if _is_usable(one, criterion, wanted)]
    topics, judges, agents = (
        sorted(names)
        for names in (
            {one.topic for one in verdicts},
            {one.judge for one in verdicts},
            {name for one in verdicts for name in one.agents},
        )
    )
    return bradley_terry(comparisons(verdicts, topics, judges, agents, _value_of(criterion)))


def _is_usable(verdict: Verdict, criterion: str, wanted: set[tuple[str, ...]]) -> bool:
    if verdict.criteria is None or len(verdict.agents) != 2:
        return False
    is_wanted = (verdict.kind, *sorted(verdict.subject)) in wanted
    return is_wanted and criterion in with_overall(verdict.criteria)


def _value_of(criterion: str) -> Values:
    return lambda verdict: with_overall(verdict.criteria or {})[criterion]


def agreement_of_all(raters: Sequence[Rater]) -> dict[str, Figures]:
    """Agreement by criterion of all raters that have it: alpha, and intraclass correlations.

    Items that only some raters rated count for alpha, but not for the intraclass correlations; ICC(1,1) takes
    each item's raters as its own, whoever they are.
    """
    criteria = dict.fromkeys(name for rater in raters for name in rater.values)
    return {name: _agreement_of_all_on(raters, name) for name in criteria}


def _agreement_of_all_on(raters: Sequence[Rater], criterion: str) -> Figures:
    columns = [rater.values[criterion] for rater in raters if criterion in rater.values]
    items = sorted({item for values in columns for item in values}, key=Item.sort_key)
    table = np.array([[values.get(item, np.nan) for values in columns] for item in items])
    labels = raters[0].kind == "verdicts"
    alpha = krippendorff_alpha(table, "nominal" if labels else "interval", clusters_of(items))
    if labels:
        return {"krippendorff_alpha": alpha}
    topics = clusters_of(items)
    ratings = [row[~np.isnan(row)].tolist() for row in table]
    return {
        "krippendorff_alpha": alpha,
        "icc(1,1)": icc_of_own_raters(ratings, "1,1", topics),
        "icc(1,k)": icc_of_own_raters(ratings, "1,k", topics),
        **{f"icc({kind})": icc(table, kind, topics) for kind in ICC_KINDS[2:]},
    }


class FigureFields(TypedDict):
    """An ``AuditFigure`` as JSON."""

    value: float | None
    low: float | None
    high: float | None
    n: int | None
    reason: str | None


CriteriaFigures = Mapping[str, Mapping[str, FigureFields]]
"""Criterion -> name of a figure -> the figure."""


def figures_as_json(figures: Mapping[str, Figures]) -> CriteriaFigures:
    """Figures as JSON values, the overall ones first."""
    order = sorted(figures, key=lambda name: name != OVERALL)
    return {
        name: {of: cast("FigureFields", asdict(audit_figure(one))) for of, one in figures[name].items()}
        for name in order
    }
