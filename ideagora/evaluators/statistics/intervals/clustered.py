"""Confidence intervals clustered by topic.

Verdicts on one topic are dependent because they judge the same ideas; topics are the sampling unit. The
variance is that of each topic's influence on the ratings, so with T topics the intervals are those of a
mean of T numbers: Student's t with T - 1 degrees of freedom (cluster-robust, Liang and Zeger 1986; t, Bell
and McCaffrey 2002). If agents have several runs on a topic, the topic's influence is that of all of them, so
the variance between runs is part of the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import disconnected_agents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.ratings.ratings import Ratings

LEVEL = 0.95

_NO_VARIANCE = 1e-12
"""Points squared; a variance below this is rounding error."""


@dataclass(frozen=True)
class Intervals:
    """Ratings with their errors, in points.

    ``low`` and ``high`` are None, with a ``reason``, if the verdicts give no interval.
    """

    agents: tuple[str, ...]
    scores: NDArray[np.float64]
    """(agents,) the ratings."""
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None
    level: float
    topics: int
    """Topics with verdicts, the clusters."""
    influence: NDArray[np.float64]
    """(clusters, agents) influence of each cluster on each rating; the last row is the prior's."""
    extra: NDArray[np.float64]
    """(agents,) added variance in points squared, so that no interval is narrower than for independent
    verdicts."""
    reason: str | None = None
    alone: tuple[str, ...] = ()
    """Agents connected to the others by a single topic (or group). Their results on other topics are unknown,
    so they have no bounds."""
    refits: int = 0
    """Refits, each without a group of topics; 0 in closed form."""
    unratable: int = 0
    """Refits left out because not all agents can be compared without their group."""

    @property
    def covariance(self) -> NDArray[np.float64] | None:
        """(agents, agents) in points squared; None where there is no interval."""
        return None if self.reason else _covariance(self.influence, self.extra, self.topics)


def intervals(
    ratings: Ratings,
    influence: NDArray[np.float64],
    variance: NDArray[np.float64],
    topics: int,
    level: float = LEVEL,
    alone: tuple[str, ...] = (),
) -> Intervals:
    """Intervals from influences (clusters, agents) in points; ``variance`` (agents,) is the minimum."""
    estimates = Intervals(
        ratings.agents,
        ratings.scores,
        low=None,
        high=None,
        level=level,
        topics=topics,
        influence=influence,
        extra=np.zeros_like(variance),
        alone=alone,
    )
    if topics < 2:
        return _with_bounds(estimates)
    from scipy.stats import norm, t

    certain = norm.ppf((1.0 + level) / 2.0) / t.ppf((1.0 + level) / 2.0, topics - 1)  # verdicts are many
    extra = np.maximum(variance * certain**2 - _spread(influence, topics), 0.0)
    return _with_bounds(replace(estimates, extra=extra))


def combine_intervals(several: Sequence[Intervals]) -> Intervals:
    """Intervals of the average over criteria, from the average influence of each topic.

    Correlated criteria thus do not narrow the intervals. Raises RatingError if there is nothing to average,
    or if agents or topics differ.
    """
    if not several:
        raise RatingError("There are no ratings to average; give those of at least one criterion.")
    head = several[0]
    if any(each.agents != head.agents or each.influence.shape != head.influence.shape for each in several):
        raise RatingError(
            "Ratings of different agents or topics cannot be averaged; give the same agents and topics."
        )
    means = {
        name: np.mean([getattr(each, name) for each in several], axis=0)
        for name in ("scores", "influence", "extra")
    }
    return _with_bounds(replace(head, topics=min(each.topics for each in several), **means))


def agents_alone(agents: tuple[str, ...], wins: NDArray[np.float64]) -> tuple[str, ...]:
    """Agents that a single topic's wins (topics, agents, agents) connect to the largest component."""
    used = wins[wins.any(axis=(1, 2))]
    if len(used) < 2:
        return ()
    found: NDArray[np.bool_] = np.any(disconnected_agents(used.sum(axis=0) - used), axis=0)
    return tuple(agents[place] for place in np.flatnonzero(found))


def _with_bounds(estimates: Intervals) -> Intervals:
    """The estimates with their bounds, or without any and with the reason."""
    from scipy.stats import t

    def without_bounds(reason: str) -> Intervals:
        return replace(estimates, low=None, high=None, reason=reason)

    topics = estimates.topics
    if topics < 2:
        return without_bounds(f"An interval needs verdicts on at least two topics; there is {topics}.")
    variance = np.diag(_covariance(estimates.influence, estimates.extra, topics))
    bounded = np.array([agent not in estimates.alone for agent in estimates.agents])
    if not (variance > _NO_VARIANCE)[bounded].all():
        return without_bounds(
            "The verdicts do not differ from what the ratings predict, so there is no interval."
        )
    half = t.ppf((1.0 + estimates.level) / 2.0, topics - 1) * np.sqrt(variance)
    return replace(estimates, low=estimates.scores - half, high=estimates.scores + half, reason=None)


def _covariance(
    influence: NDArray[np.float64], extra: NDArray[np.float64], topics: int
) -> NDArray[np.float64]:
    agents = len(extra)
    centring = np.eye(agents) - 1.0 / agents
    added = centring @ np.diag(extra * agents / max(agents - 1, 1)) @ centring
    covariance: NDArray[np.float64] = topics / (topics - 1) * influence.T @ influence + added
    return covariance


def _spread(influence: NDArray[np.float64], topics: int) -> NDArray[np.float64]:
    spread: NDArray[np.float64] = topics / (topics - 1) * (influence**2).sum(axis=0)
    return spread
