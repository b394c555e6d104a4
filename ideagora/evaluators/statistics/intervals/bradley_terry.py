"""Intervals of Bradley–Terry ratings, in closed form or by resampling.

``resample_ratings`` is the plain bootstrap, which refits after drawing topics with replacement: its coverage
is as good with 20 topics or more, and too low with fewer (``docs/ratings.md`` has measurements).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.intervals.clustered import LEVEL, Intervals, agents_alone, intervals
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import (
    PRIOR,
    fit,
    information,
    is_connected,
    topic_wins,
    with_prior,
)
from ideagora.evaluators.statistics.ratings.ratings import POINTS, bradley_terry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

REPLICATES = 1000


def bradley_terry_intervals(
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
    influence = influences(rows, strengths)
    variance = _variance_of_verdicts(comparisons, rows.sum(axis=0), strengths) + influence[-1] ** 2
    alone = agents_alone(comparisons.agents, wins)
    return intervals(ratings, influence, variance, _topics_used(comparisons), level, alone)


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


def influences(rows: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
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


def _topics_used(comparisons: Comparisons) -> int:
    """Topics with a verdict between two different agents."""
    return len(np.unique(comparisons.topic[comparisons.first != comparisons.second]))
