"""Confidence intervals, rank ranges and probabilities of the order, all clustered by topic.

Verdicts on one topic are dependent because they judge the same ideas; topics are the sampling unit. The
variance is that of each topic's influence on the ratings, so with T topics the intervals are those of a
mean of T numbers: Student's t with T - 1 degrees of freedom (cluster-robust, Liang and Zeger 1986; t, Bell
and McCaffrey 2002). ``draws`` is the bootstrap of these influences (Kline and Santos 2012).
``resample_ratings`` is the plain bootstrap, which refits after drawing topics with replacement: its coverage
is as good with 20 topics or more, and too low with fewer (``docs/ratings.md`` has measurements).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.ratings.ratings import (
    POINTS,
    Ratings,
    bradley_terry,
    elo,
    play_in_orders,
    playing_orders,
)
from ideagora.evaluators.statistics.ratings.strengths import (
    PRIOR,
    disconnected_agents,
    fit,
    information,
    is_connected,
    topic_wins,
    with_prior,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

LEVEL = 0.95
REPLICATES = 1000
JOINT_REPLICATES = 4000
"""Draws for intervals that hold together."""
JACKKNIFE_ORDERS = 10
"""Orders of the verdicts for each refit of the Elo jackknife. A refit plays the same orders as the whole
without its group, so what depends on the order cancels."""
GROUPS = 50
"""Maximum number of groups of topics in the Elo jackknife."""

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


def bootstrap_ratings(
    comparisons: Comparisons, *, level: float = LEVEL, base: float = 1000.0, prior: float = PRIOR
) -> Intervals:
    """Bradley–Terry ratings with intervals over topics.

    If a prior was needed, it counts as one more topic. Raises RatingError like ``bradley_terry``.
    """
    ratings = bradley_terry(comparisons, base=base, prior=prior)
    strengths = (ratings.scores - base) / POINTS
    wins = topic_wins(comparisons)
    nothing = np.zeros((1, *wins.shape[1:]))
    rows = np.concatenate([wins, nothing if ratings.prior is None else with_prior(nothing, ratings.prior)])
    influence = _influence(rows, strengths)
    variance = _variance_of_verdicts(comparisons, rows.sum(axis=0), strengths) + influence[-1] ** 2
    alone = _alone(comparisons.agents, wins)
    return intervals(ratings, influence, variance, _topics_used(comparisons), level, alone)


def elo_intervals(
    comparisons: Comparisons, *, level: float = LEVEL, base: float = 1000.0, k: float = 4.0
) -> Intervals:
    """Elo ratings with intervals over topics, by leaving out a group of topics at a time (jackknife).

    Each topic is a group while there are at most ``GROUPS`` of them. Refits without which not all agents can
    be compared are left out and counted. Raises RatingError like ``elo``.
    """
    ratings = elo(comparisons, base=base, k=k)
    orders = playing_orders(comparisons, JACKKNIFE_ORDERS)
    whole = play_in_orders(comparisons, orders, base, k)
    group = comparisons.topic * min(GROUPS, len(comparisons.topics)) // len(comparisons.topics)
    groups, position = np.unique(group, return_inverse=True)
    wins = topic_wins(replace(comparisons, topic=position, topics=tuple(map(str, groups))))
    ratable = is_connected(wins.sum(axis=0) - wins)
    used = np.flatnonzero(ratable)
    influence = np.zeros((len(used) + 1, len(comparisons.agents)))
    refits = np.full((len(used), len(comparisons.agents)), base)
    for row, number in enumerate(used):
        without = [order[position[order] != number] for order in orders]
        refits[row] = play_in_orders(comparisons, without, base, k)
    if len(used):
        grown = _growth(whole - base, refits.mean(axis=0) - base)
        influence[:-1] = grown * (len(used) - 1) / len(used) * (refits.mean(axis=0) - refits)
    alone = _alone(comparisons.agents, wins)
    found = intervals(ratings, influence, np.zeros(len(comparisons.agents)), len(used), level, alone)
    return replace(found, refits=len(groups), unratable=len(groups) - len(used))


def _growth(whole: NDArray[np.float64], refitted: NDArray[np.float64]) -> float:
    """How much further from the start the ratings are than those of the refits, which play less.

    With few verdicts, Elo ratings grow like a sum over topics, whereas the jackknife is for a mean.
    """
    square = float(refitted @ refitted)
    return float(whole @ refitted) / square if square > 0 else 1.0


def intervals(
    ratings: Ratings,
    influence: NDArray[np.float64],
    variance: NDArray[np.float64],
    topics: int,
    level: float = LEVEL,
    alone: tuple[str, ...] = (),
) -> Intervals:
    """Intervals from influences (clusters, agents) in points; ``variance`` (agents,) is the minimum."""
    of = ratings.agents, ratings.scores, influence
    if topics < 2:
        return _with_bounds(*of, np.zeros_like(variance), topics, level, alone)
    from scipy.stats import norm, t

    certain = norm.ppf((1.0 + level) / 2.0) / t.ppf((1.0 + level) / 2.0, topics - 1)  # verdicts are many
    extra = np.maximum(variance * certain**2 - _spread(influence, topics), 0.0)
    return _with_bounds(*of, extra, topics, level, alone)


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
    scores, influence, extra = (
        np.mean([getattr(each, name) for each in several], axis=0)
        for name in ("scores", "influence", "extra")
    )
    topics = min(each.topics for each in several)
    found = _with_bounds(head.agents, scores, influence, extra, topics, head.level, head.alone)
    return replace(found, refits=head.refits, unratable=head.unratable)


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


def resample_ratings(
    comparisons: Comparisons, replicates: int = REPLICATES, seed: int = 0, *, prior: float = PRIOR
) -> NDArray[np.float64]:
    """The plain bootstrap: ratings on topics drawn with replacement, (ratable draws, agents) in logits.

    Draws on which not all agents can be compared are left out, so there may be fewer than ``replicates``.
    """
    wins = topic_wins(comparisons)
    wins = wins[wins.any(axis=(1, 2))]
    count, agents = len(wins), wins.shape[-1]
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), replicates)
    drawn = (weights.astype(np.float64) @ wins.reshape(count, -1)).reshape(-1, agents, agents)
    return fit(drawn[is_connected(drawn)], prior)


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


def _influence(rows: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row of wins (rows, agents, agents) moves the strengths, to first order; in points.

    That is the change without the row (Bell and McCaffrey's jackknife, CR3): a topic with much of an agent's
    verdicts pulls the rating towards itself, so its residuals are too small. With the same pairs on every
    topic this is the plain influence. Where the others do not connect all agents, the plain one is taken.
    """
    agents, whole = len(strengths), rows.sum(axis=0)
    chance = 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
    slopes = (rows - (rows + np.swapaxes(rows, 1, 2)) * chance).sum(axis=2)
    topics = int(rows.any(axis=(1, 2)).sum())
    connected = is_connected(whole - rows)
    others = np.where(connected[:, None, None], whole - rows, whole)
    scale = np.where(connected, (topics - 1) / topics, 1.0)
    centred = information(others, strengths) + 1.0 / agents
    return POINTS * scale[:, None] * np.linalg.solve(centred, slopes[..., None])[..., 0]


def _variance_of_verdicts(
    comparisons: Comparisons, wins: NDArray[np.float64], strengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Variance (agents,) in points squared if all verdicts were independent."""
    agents = len(strengths)
    first, second = comparisons.first, comparisons.second
    chance = 1.0 / (1.0 + np.exp(strengths[second] - strengths[first]))
    residual = (comparisons.outcome - chance) ** 2 * (first != second)
    pairs = np.bincount(first * agents + second, residual, agents * agents).reshape(agents, agents)
    pairs = pairs + pairs.T
    middle = np.diag(pairs.sum(axis=1)) - pairs
    inverse = np.linalg.inv(information(wins, strengths) + 1.0 / agents)
    variance: NDArray[np.float64] = POINTS**2 * np.diag(inverse @ middle @ inverse)
    return variance


def _with_bounds(
    agents: tuple[str, ...],
    scores: NDArray[np.float64],
    influence: NDArray[np.float64],
    extra: NDArray[np.float64],
    topics: int,
    level: float,
    alone: tuple[str, ...],
) -> Intervals:
    from scipy.stats import t

    def without_bounds(reason: str) -> Intervals:
        return Intervals(agents, scores, None, None, level, topics, influence, extra, reason, alone)

    if topics < 2:
        return without_bounds(f"An interval needs verdicts on at least two topics; there is {topics}.")
    variance = np.diag(_covariance(influence, extra, topics))
    bounded = np.array([agent not in alone for agent in agents])
    if not (variance > _NO_VARIANCE)[bounded].all():
        return without_bounds(
            "The verdicts do not differ from what the ratings predict, so there is no interval."
        )
    half = t.ppf((1.0 + level) / 2.0, topics - 1) * np.sqrt(variance)
    bounds = scores - half, scores + half
    return Intervals(agents, scores, *bounds, level, topics, influence, extra, alone=alone)


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


def _alone(agents: tuple[str, ...], wins: NDArray[np.float64]) -> tuple[str, ...]:
    """Agents that a single topic's wins (topics, agents, agents) connect to the largest component."""
    used = wins[wins.any(axis=(1, 2))]
    if len(used) < 2:
        return ()
    found: NDArray[np.bool_] = np.any(disconnected_agents(used.sum(axis=0) - used), axis=0)
    return tuple(agents[place] for place in np.flatnonzero(found))


def _topics_used(comparisons: Comparisons) -> int:
    """Topics with a verdict between two different agents."""
    return len(np.unique(comparisons.topic[comparisons.first != comparisons.second]))


def _known(intervals: Intervals) -> NDArray[np.float64]:
    covariance = intervals.covariance
    if covariance is None:
        raise RatingError(intervals.reason or "There is no interval.")
    return covariance
