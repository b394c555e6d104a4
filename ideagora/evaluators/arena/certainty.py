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
    verdicts_to_separate,
)
from ideagora.evaluators.statistics.ratings import BASE, POINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Asked(Protocol):
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

    def of(self, agent: str) -> tuple[float | None, float | None, int | None, int | None]:
        """Low and high rating, low and high rank."""
        return self.bounds.get(agent, (None, None, None, None))


def intervals_of(counted: Comparisons, asked: Asked) -> Intervals:
    """Intervals of one table's ratings by the protocol's method."""
    return elo_intervals(counted) if asked.is_paper else bootstrap_ratings(counted)


def spread_of(
    found: Intervals, counted: Comparisons, asked: Asked, seed: int, *, resample: bool = True
) -> Spread:
    """Bounds in closed form, or from resampled topics where that is asked for and can be (not for Elo)."""
    if resample and asked.bootstrap is not None and not asked.is_paper and found.reason is None:
        return _resampled_spread(counted, asked.bootstrap, seed)
    if found.low is None or found.high is None:
        return Spread({}, found.reason)
    ranks = rank_intervals(found)
    rows = zip(found.agents, found.low, found.high, ranks, strict=True)
    return Spread(
        {name: (float(low), float(high), int(best), int(worst)) for name, low, high, (best, worst) in rows}
    )


def _resampled_spread(counted: Comparisons, replicates: int, seed: int) -> Spread:
    """Percentiles of ratings and of ranks over topics drawn with replacement."""
    scores = BASE + POINTS * resampled(counted, replicates, seed)
    ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    tails = [50 * (1 - LEVEL), 50 * (1 + LEVEL)]
    bounds = np.percentile(scores, tails, axis=0)
    places = np.percentile(ranks, tails, axis=0, method="nearest").astype(np.int64)
    columns: NDArray[Any] = np.concatenate([bounds, places])
    return Spread(
        {
            agent: (float(low), float(high), int(best), int(worst))
            for agent, (low, high, best, worst) in zip(counted.agents, columns.T, strict=True)
        }
    )


def separation(found: Intervals, counted: Comparisons, ranking: tuple[str, ...]) -> list[dict[str, Any]]:
    """For neighbours: the chance that they are in the right order, and what it would take to be sure."""
    chance = None if found.reason else superiority(found)
    rows = []
    for above, below in pairwise(ranking):
        places = found.agents.index(above), found.agents.index(below)
        needed = verdicts_to_separate(counted, found, above, below)
        probability = None if chance is None else round(float(chance[places]), 4)
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
