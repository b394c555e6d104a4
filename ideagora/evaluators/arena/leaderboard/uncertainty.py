"""Uncertainty of the leaderboard: intervals, rank ranges, and probabilities of the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ideagora.evaluators.arena.leaderboard.records import Refits, Separation
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals, resample_ratings
from ideagora.evaluators.statistics.intervals.clustered import LEVEL, Intervals
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from ideagora.evaluators.statistics.intervals.ranks import joint_rank_intervals, rank_intervals
from ideagora.evaluators.statistics.ratings.ratings import BASE, POINTS
from ideagora.evaluators.statistics.ratings.separation import topics_to_separate
from ideagora.schedules.posterior import posterior_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


FEWEST_DRAWS = 40
"""Ratable draws of topics below which their outer 2.5 % are one draw."""


class IntervalRequest(Protocol):
    """The options that intervals depend on."""

    @property
    def is_paper(self) -> bool:
        """Whether the ratings are Elo."""
        ...

    @property
    def bootstrap(self) -> int | None:
        """Number of resamples of the topics; ``None``: closed form."""
        ...


class Bounds(NamedTuple):
    """Lower and upper rating, best and worst rank, and the ranks that hold for all agents together."""

    low: float | None = None
    high: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    joint_rank_low: int | None = None
    joint_rank_high: int | None = None


@dataclass(frozen=True)
class Spread:
    """Bounds of ratings and ranks by agent; agents without bounds are missing."""

    bounds: dict[str, Bounds]
    reason: str | None = None
    """Why there are none."""
    refits: int = 0
    """Number of refits to resampled topics; 0 in closed form."""
    unratable: int = 0
    """Refits left out because not all agents can be compared in them."""

    @property
    def record(self) -> Refits | None:
        """The refits, or ``None`` in closed form."""
        return Refits(tried=self.refits, unratable=self.unratable) if self.refits else None

    def bounds_of(self, agent: str) -> Bounds:
        """The bounds of an agent, ``None`` where there are none."""
        return self.bounds.get(agent, Bounds())


def compute_intervals(columns: Comparisons, request: IntervalRequest) -> Intervals:
    """Intervals of the ratings by the protocol's method."""
    return elo_intervals(columns) if request.is_paper else bradley_terry_intervals(columns)


def compute_spread(
    intervals: Intervals, columns: Comparisons, request: IntervalRequest, seed: int, *, resample: bool = True
) -> Spread:
    """Bounds in closed form, or from resampled topics if requested and possible (not for Elo)."""
    if resample and request.bootstrap is not None and not request.is_paper and intervals.reason is None:
        return _resampled_spread(intervals, columns, request.bootstrap, seed)
    refits = intervals.refits, intervals.unratable
    if intervals.low is None or intervals.high is None:
        return Spread({}, intervals.reason, *refits)
    bounds = np.stack([intervals.low, intervals.high])
    return Spread(_bounds_by_agent(intervals, bounds, rank_intervals(intervals)), None, *refits)


def _bounds_by_agent(
    intervals: Intervals, ratings: NDArray[np.float64], ranks: NDArray[np.int64]
) -> dict[str, Bounds]:
    """Bounds by agent from those of the ratings (2, agents) and of the ranks (agents, 2).

    The ranks that hold together are always those in closed form.
    """
    joint = joint_rank_intervals(intervals)
    columns = zip(intervals.agents, ratings.T.tolist(), ranks.tolist(), joint.tolist(), strict=True)
    return {
        agent: Bounds(*rating, *rank, *joint_rank)
        for agent, rating, rank, joint_rank in columns
        if agent not in intervals.alone
    }


def _resampled_spread(intervals: Intervals, columns: Comparisons, replicates: int, seed: int) -> Spread:
    """Percentiles of ratings and ranks over topics drawn with replacement."""
    scores = BASE + POINTS * resample_ratings(columns, replicates, seed)
    refits = replicates, replicates - len(scores)
    if len(scores) < FEWEST_DRAWS:
        reason = "Too few draws of topics connect all contestants, so no interval can be given."
        return Spread({}, reason, *refits)
    ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    tails = [50 * (1 - LEVEL), 50 * (1 + LEVEL)]
    bounds = np.percentile(scores, tails, axis=0)
    places = np.percentile(ranks, tails, axis=0, method="nearest").astype(np.int64)
    return Spread(_bounds_by_agent(intervals, bounds, places.T), None, *refits)


def compute_separation(
    intervals: Intervals, columns: Comparisons, ranking: Sequence[str], verdicts: int
) -> tuple[Separation, ...]:
    """For neighbours: the probability of their order, and the data needed to be sure of it.

    The probability is the posterior one on which the adaptive schedule stops. Neighbours are those that came
    out next to each other, which favours lucky ones; the posterior pulls strengths together and so allows
    for that (bench/arena_calibration.py).

    Args:
        intervals: of the ratings.
        columns: all verdicts.
        ranking: the agents, best first.
        verdicts: number requested so far, including unscored ones.
    """
    probabilities = None if intervals.reason else posterior_of(columns).probability()
    rows = []
    for above, below in pairwise(ranking):
        probability = None
        if probabilities is not None and not {above, below} & set(intervals.alone):
            pair = intervals.agents.index(above), intervals.agents.index(below)
            probability = round(float(probabilities[pair]), 4)
        needed = topics_to_separate(columns, intervals, (above, below), probability or 0.0, verdicts)
        rows.append(
            Separation(
                above=above,
                below=below,
                probability=probability,
                more_verdicts=needed.verdicts,
                more_topics=needed.topics,
                reason=needed.reason,
            )
        )
    return tuple(rows)
