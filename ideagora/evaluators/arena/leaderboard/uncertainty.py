"""How sure the leaderboard is: intervals, ranks and chances by topic, and the audit of the judges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals import (
    LEVEL,
    Intervals,
    bootstrap_ratings,
    elo_intervals,
    rank_intervals,
    resampled,
    superiority,
)
from ideagora.evaluators.statistics.ratings import BASE, POINTS
from ideagora.evaluators.statistics.separation import topics_to_separate

if TYPE_CHECKING:
    from numpy.typing import NDArray


FEWEST_DRAWS = 40
"""Ratable draws of topics below which their outer 2.5 % are one draw."""


class IntervalRequest(Protocol):
    """What the figures need to know of the options."""

    @property
    def is_paper(self) -> bool:
        """Whether ratings are Elo's."""
        ...

    @property
    def bootstrap(self) -> int | None:
        """Resamples of topics; ``None``: in closed form."""
        ...


@dataclass(frozen=True)
class Spread:
    """Bounds of ratings and ranks, by agent; an agent without bounds is not in it."""

    bounds: dict[str, tuple[float, float, int, int]]
    reason: str | None = None
    """Why there are none."""
    refits: int = 0
    """Fits to part of the topics, or to topics drawn anew; 0 in closed form."""
    unratable: int = 0
    """Of these, fits left out because not all agents can be compared in them."""

    @property
    def record(self) -> dict[str, int] | None:
        """The refits for the record; ``None``: there were none."""
        return {"tried": self.refits, "unratable": self.unratable} if self.refits else None

    def of(self, agent: str) -> tuple[float | None, float | None, int | None, int | None]:
        """Low and high rating, low and high rank."""
        return self.bounds.get(agent, (None, None, None, None))


def intervals_of(counted: Comparisons, asked: IntervalRequest) -> Intervals:
    """Intervals of one table's ratings by the protocol's method."""
    return elo_intervals(counted) if asked.is_paper else bootstrap_ratings(counted)


def spread_of(
    found: Intervals, counted: Comparisons, asked: IntervalRequest, seed: int, *, resample: bool = True
) -> Spread:
    """Bounds in closed form, or from resampled topics where that is asked for and can be (not for Elo)."""
    if resample and asked.bootstrap is not None and not asked.is_paper and found.reason is None:
        return _resampled_spread(found, counted, asked.bootstrap, seed)
    refits = found.refits, found.unratable
    if found.low is None or found.high is None:
        return Spread({}, found.reason, *refits)
    columns = np.stack([found.low, found.high, *rank_intervals(found).T])
    return Spread(_bounds(found, columns), None, *refits)


def _bounds(found: Intervals, columns: NDArray[Any]) -> dict[str, tuple[float, float, int, int]]:
    """(low, high, best rank, worst rank) by agent, of columns (4, agents)."""
    return {
        agent: (float(low), float(high), int(best), int(worst))
        for agent, (low, high, best, worst) in zip(found.agents, columns.T, strict=True)
        if agent not in found.alone
    }


def _resampled_spread(found: Intervals, counted: Comparisons, replicates: int, seed: int) -> Spread:
    """Percentiles of ratings and of ranks over topics drawn with replacement."""
    scores = BASE + POINTS * resampled(counted, replicates, seed)
    refits = replicates, replicates - len(scores)
    if len(scores) < FEWEST_DRAWS:
        reason = "Too few draws of topics connect all contestants, so no interval can be given."
        return Spread({}, reason, *refits)
    ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    tails = [50 * (1 - LEVEL), 50 * (1 + LEVEL)]
    bounds = np.percentile(scores, tails, axis=0)
    places = np.percentile(ranks, tails, axis=0, method="nearest").astype(np.int64)
    return Spread(_bounds(found, np.concatenate([bounds, places])), None, *refits)


def separation(
    found: Intervals, counted: Comparisons, ranking: tuple[str, ...], verdicts: int
) -> list[dict[str, Any]]:
    """For neighbours: the chance that they are in the right order, and what it would take to be sure.

    ``verdicts`` were asked so far; the rows of ``counted`` may be matches of two.
    """
    chance = None if found.reason else superiority(found)
    rows = []
    for above, below in pairwise(ranking):
        places = found.agents.index(above), found.agents.index(below)
        needed = topics_to_separate(counted, found, above, below, verdicts)
        unknown = chance is None or above in found.alone or below in found.alone
        probability = None if chance is None or unknown else round(float(chance[places]), 4)
        rows.append(
            {
                "above": above,
                "below": below,
                "probability": probability,
                "more_verdicts": needed.verdicts,
                "more_topics": needed.topics,
                "reason": needed.reason,
            }
        )
    return rows
