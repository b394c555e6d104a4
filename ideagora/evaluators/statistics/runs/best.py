"""The best of an agent's runs on each topic, rated against the ordinary ideas of the others.

To choose the best idea and to rate it by the same verdicts would count luck as quality. So each verdict of an
idea against another agent counts for the best one if the verdicts against all *other* agents prefer that
idea. The choice is that of a user who lets these judges choose; a choice without errors would gain more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.figures import LEVEL
from ideagora.evaluators.statistics.ratings.ratings import POINTS
from ideagora.evaluators.statistics.scores.sample_means import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons
    from ideagora.evaluators.statistics.ratings.ratings import Ratings

_FURTHEST = 12.0
"""Logits beyond which the rating counts as unbounded."""


@dataclass(frozen=True)
class BestOfRuns:
    """The rating of the best of an agent's ideas on each topic, in points; missing numbers have a reason."""

    rating: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def best_of_runs(matches: Comparisons, ratings: Ratings, agent: str, level: float = LEVEL) -> BestOfRuns:
    """The rating of the agent's best idea on each topic, while the others keep their ratings.

    Args:
        matches: one row per match (``settle_match``).
        ratings: of all agents from all runs.
        agent: one with several runs.
        level: of the interval, a jackknife over topics.
    """
    if ratings.prior is not None:
        return BestOfRuns(
            reason="Some contestant won or lost everything, so nothing can be rated beside the others."
        )
    try:
        chosen = _chosen_matches(matches, ratings, ratings.agents.index(agent))
        rating = float(ratings.base + POINTS * _rating(chosen))
    except RatingError as error:
        return BestOfRuns(reason=str(error))
    topics = np.unique(chosen.topic)
    if len(topics) < 2:
        return BestOfRuns(rating, reason="An interval needs at least two topics.")
    try:
        left = POINTS * np.array([_rating(chosen.rows(chosen.topic != topic)) for topic in topics])
    except RatingError:
        return BestOfRuns(rating, reason="Without some topic the best ideas won or lost everything.")
    count = len(topics)
    spread = float(np.sqrt((count - 1) / count * ((left - left.mean()) ** 2).sum()))
    half = t_quantile((1 + level) / 2, count - 1) * spread
    return BestOfRuns(rating, rating - half, rating + half)


@dataclass(frozen=True)
class _Matches:
    """Matches of one agent, (n,): topic, run, opponent, its strength in logits, points, weight."""

    topic: NDArray[np.int64]
    run: NDArray[np.int64]
    opponent: NDArray[np.int64]
    strength: NDArray[np.float64]
    points: NDArray[np.float64]
    weight: NDArray[np.float64]

    def rows(self, mask: NDArray[np.bool_]) -> _Matches:
        return _Matches(*(column[mask] for column in vars(self).values()))


def _chosen_matches(matches: Comparisons, ratings: Ratings, agent: int) -> _Matches:
    """The agent's matches, weighted by whether the other opponents prefer the idea of this run."""
    is_first = matches.first == agent
    rows = np.flatnonzero(is_first | (matches.second == agent))
    opponent = np.where(is_first, matches.second, matches.first)[rows]
    if len(np.unique(opponent)) < 2:
        raise RatingError(
            "The best of several ideas is chosen by the verdicts against some contestants and rated by those "
            "against the others, so it needs three contestants."
        )
    points = np.where(is_first, matches.outcome, 1.0 - matches.outcome)[rows]
    strengths = (ratings.scores - ratings.base) / POINTS
    expected = 1.0 / (1.0 + np.exp(strengths[opponent] - strengths[agent]))
    all_of_agent = _Matches(
        matches.topic[rows], matches.run_of_row[rows], opponent, strengths[opponent], points,
        np.zeros(len(rows)),
    )  # fmt: skip
    for topic in np.unique(all_of_agent.topic):
        of_topic = np.flatnonzero(all_of_agent.topic == topic)
        for other in np.unique(opponent[of_topic]):
            choosing = of_topic[opponent[of_topic] != other]
            rated = of_topic[opponent[of_topic] == other]
            all_of_agent.weight[rated] = _is_best(
                all_of_agent.run[choosing], (points - expected)[choosing], all_of_agent.run[rated]
            )
    return all_of_agent


def _is_best(
    runs: NDArray[np.int64], surplus: NDArray[np.float64], rated: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The part of the choice that falls on each rated run: equally good ones share it.

    ``surplus`` is what the matches of ``runs`` brought beyond what was expected. A run that was not judged
    against the others is not chosen; without any, all share.
    """
    judged = np.array([run for run in np.unique(rated) if run in runs])
    if not len(judged):
        return np.full(len(rated), 1.0 / max(1, len(rated)))
    means = np.array([surplus[runs == run].mean() for run in judged])
    best = judged[means >= means.max() - 1e-9]
    weight = np.isin(rated, best).astype(np.float64)
    return np.asarray(weight / weight.sum())


def _rating(matches: _Matches) -> float:
    """Strength in logits at which the expected points are those of the chosen ideas."""
    from scipy.optimize import brentq

    def surplus(strength: float) -> float:
        chance = 1.0 / (1.0 + np.exp(matches.strength - strength))
        return float(matches.weight @ (matches.points - chance))

    if not surplus(-_FURTHEST) > 0 > surplus(_FURTHEST):
        raise RatingError("The best ideas won or lost everything, so their rating is unbounded.")
    return float(brentq(surplus, -_FURTHEST, _FURTHEST))
