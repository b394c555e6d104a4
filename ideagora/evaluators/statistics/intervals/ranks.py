"""Ranks that the ratings allow, and probabilities of the order.

``draws`` is the bootstrap of the topics' influences (Kline and Santos 2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.intervals.clustered import Intervals

REPLICATES = 1000
JOINT_REPLICATES = 4000
"""Draws for intervals that hold together."""


def draws(intervals: Intervals, replicates: int = REPLICATES, seed: int = 0) -> NDArray[np.float64]:
    """Bootstrap draws of the ratings, (replicates, agents) in points: each topic's influence times a
    random weight.

    Weights are normal, divided by a common random spread, so each rating has its interval's t distribution.
    Raises RatingError where there is no interval.
    """
    covariance = _known(intervals)
    generator = np.random.default_rng(seed)
    degrees = intervals.topics - 1
    shape = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(covariance)) * max(covariance.max(), 1e-9))
    normal = generator.standard_normal((replicates, len(covariance))) @ shape.T
    return intervals.scores + normal / np.sqrt(generator.chisquare(degrees, (replicates, 1)) / degrees)


def superiority(intervals: Intervals) -> NDArray[np.float64]:
    """Probability that the row's agent is better than the column's, (agents, agents); 0.5 on the diagonal.

    From the t distribution of their difference (a flat prior); 0.5 for agents without bounds.
    Raises RatingError where there is no interval.
    """
    from scipy.stats import t

    covariance = _known(intervals)
    difference = intervals.scores[:, None] - intervals.scores[None, :]
    error = _errors_of_differences(covariance)
    chance: NDArray[np.float64] = t.cdf(difference / error, intervals.topics - 1)
    unknown = [intervals.agents.index(agent) for agent in intervals.alone]
    chance[unknown], chance[:, unknown] = 0.5, 0.5
    return chance


def rank_intervals(intervals: Intervals) -> NDArray[np.int64]:
    """Lowest and highest rank that each agent may have, (agents, 2), 1 the best.

    An agent's best rank counts the agents above it, its worst those below it, at the intervals' level
    (``superiority``).
    """
    return _ranks_allowed(superiority(intervals) > (1.0 + intervals.level) / 2.0)


def joint_rank_intervals(intervals: Intervals) -> NDArray[np.int64]:
    """Like ``rank_intervals``, but all of them hold together at the intervals' level, (agents, 2).

    Two agents are ordered only if their difference exceeds the quantile of the largest error, in standard
    errors, of all differences (max-t; Romano and Wolf 2005, Mogstad, Romano, Shaikh and Wilhelm 2024), which
    comes from ``draws``. Raises RatingError where there is no interval.
    """
    bounded = np.array([agent not in intervals.alone for agent in intervals.agents])
    gaps = intervals.scores[:, None] - intervals.scores
    errors = np.where(bounded[:, None] & bounded, _errors_of_differences(_known(intervals)), np.inf)
    deviations = draws(intervals, JOINT_REPLICATES) - intervals.scores
    largest = np.zeros(JOINT_REPLICATES)
    for place in np.flatnonzero(bounded):
        of_agent = np.abs(deviations[:, [place]] - deviations) / errors[place]
        largest = np.maximum(largest, of_agent.max(axis=1))
    return _ranks_allowed(gaps / errors > np.quantile(largest, intervals.level))


def _ranks_allowed(sure: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Best and worst rank (agents, 2) if the row's agent is surely above the column's."""
    above, below = sure.sum(axis=0), sure.sum(axis=1)
    return np.stack([1 + above, len(sure) - below], axis=1)


def _errors_of_differences(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard errors of the differences of agents, (agents, agents), at least tiny."""
    own = np.diag(covariance)
    variance = own[:, None] + own - 2 * covariance
    return np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))


def _known(intervals: Intervals) -> NDArray[np.float64]:
    covariance = intervals.covariance
    if covariance is None:
        raise RatingError(intervals.reason or "There is no interval.")
    return covariance
