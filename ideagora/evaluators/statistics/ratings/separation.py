"""Number of further topics and verdicts needed to separate two agents.

Topics are the sampling unit: more verdicts on the same topics say nothing about other topics. The number of
topics is thus the size of a paired sample. A difference d with a standard deviation of s over topics is
detected with probability ``POWER`` on n topics if
d √n = (t(confidence, n-1) + t(POWER, n-1)) s.
(With the first t alone it would be detected half of the time; bench/arena_separation.py simulates this.)

Two agents are separated if the probability of their order is at least the confidence: in the table, in the
notes and where the adaptive schedule stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError

if TYPE_CHECKING:
    from ideagora.evaluators.statistics.comparisons import Comparisons
    from ideagora.evaluators.statistics.intervals.clustered import Intervals

CONFIDENCE = 0.95
"""Probability of the order from which two agents count as separated."""
POWER = 0.8
"""Probability that the topics suffice if the difference stays the same."""
MOST_TOPICS = 1_000_000
"""Above this number, the agents are treated as equal."""


@dataclass(frozen=True)
class Separation:
    """Further topics, and verdicts on them at the present number per topic; ``None`` with a reason.

    0 means that the two are already separated.
    """

    topics: int | None
    verdicts: int | None
    reason: str | None = None


def topics_to_separate(
    comparisons: Comparisons,
    intervals: Intervals,
    pair: tuple[str, str],
    probability: float,
    verdicts: int,
) -> Separation:
    """Topics and verdicts that separate two agents if their difference persists.

    Args:
        comparisons: the verdicts behind the intervals.
        intervals: the ratings' intervals.
        pair: the agents, the better one first.
        probability: that the first is better.
        verdicts: number requested so far on these topics, including unscored ones.
    """
    one, other = pair
    if intervals.reason:
        return Separation(None, None, intervals.reason)
    if lone := [agent for agent in (one, other) if agent in intervals.alone]:
        return Separation(None, None, f"{lone[0]} meets the others on only one topic.")
    first, second = intervals.agents.index(one), intervals.agents.index(other)
    gap = abs(float(intervals.scores[first] - intervals.scores[second]))
    if gap < 1e-9:
        return Separation(
            None, None, "Both have the same rating, so the number of verdicts cannot be estimated."
        )
    if probability >= CONFIDENCE:
        return Separation(0, 0)
    used = len(np.unique(comparisons.topic))
    wanted = further_topics(gap, _spread_over_topics(intervals, first, second, used))
    if wanted is None:
        return Separation(None, None, "The ratings are too close to estimate the number of verdicts.")
    more = max(1, wanted - used)
    return Separation(more, int(np.ceil(more * verdicts / used)))


def further_topics(
    gap: float, spread: float, confidence: float = CONFIDENCE, power: float = POWER
) -> int | None:
    """Topics that detect a difference with probability ``power``; ``None`` if above ``MOST_TOPICS``.

    Args:
        gap: the difference.
        spread: its standard deviation over topics, in the same unit.
        confidence: that the order is right.
        power: probability of reaching it.
    """

    def is_enough(topics: int) -> bool:
        return gap >= detectable_gap(topics, spread, confidence, power)

    if not is_enough(MOST_TOPICS):
        return None
    low, high = 1, MOST_TOPICS  # too few, and enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def detectable_gap(topics: int, spread: float, confidence: float = CONFIDENCE, power: float = POWER) -> float:
    """The difference that this many topics detect with probability ``power``, in the unit of the spread.

    Infinite for a single topic. The arguments are those of ``further_topics``.
    """
    from scipy.special import stdtrit

    if topics < 2:
        return float("inf")
    needed = stdtrit(topics - 1, confidence) + stdtrit(topics - 1, power)
    return float(needed * spread / np.sqrt(topics))


def _spread_over_topics(intervals: Intervals, first: int, second: int, topics: int) -> float:
    """Standard deviation of the difference of two ratings from topic to topic, in points."""
    covariance = intervals.covariance
    if covariance is None:
        raise RatingError(intervals.reason or "There is no interval.")
    contrast = np.zeros(len(intervals.agents))
    contrast[[first, second]] = 1.0, -1.0
    return float(np.sqrt(contrast @ covariance @ contrast * topics))
