"""How sure the order of neighbours is, and how many more verdicts would make it surer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import UsageError
from ideagora.evaluators.schedules.adaptive import ranking, times_met
from ideagora.evaluators.schedules.pairing import Field, Pairing
from ideagora.evaluators.schedules.posterior import Posterior, fit, sharpened, wins
from ideagora.evaluators.statistics.comparisons import Comparisons

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ORDERS = 2


@dataclass(frozen=True)
class Separation:
    """Two neighbours in the ranking, as positions among the agents."""

    better: int
    worse: int
    probability: float
    """That ``better`` is better."""
    more: int | None
    """Further verdicts between the two that would make the order as certain as wanted, if their difference
    is what it seems now. 0: it is. None: all that can still be asked about these topics would not do."""


def separations(
    field: Field, seen: Comparisons, asked: Sequence[Pairing], certainty: float = 0.95
) -> list[Separation]:
    """Every two neighbours among the agents with ideas, best first; empty for fewer than two agents.

    Raises UsageError for a certainty outside of 0.5 to 1.
    """
    from scipy.special import ndtri

    if not 0.5 < certainty < 1:
        raise UsageError(f"a certainty of {certainty} cannot be waited for; give one within 0.5 and 1")
    posterior, met = fit(field, wins(field, seen)), times_met(field, asked)
    probability = posterior.probability()
    found = []
    for better, worse in pairwise(ranking(field, posterior).tolist()):
        gap = posterior.mean[better] - posterior.mean[worse]
        topics = _still_open(field, met, better, worse)
        more = _needed(posterior, topics, better, worse, float((gap / ndtri(certainty)) ** 2))
        found.append(Separation(better, worse, float(probability[better, worse]), more))
    return found


def _still_open(field: Field, met: NDArray[np.int64], better: int, worse: int) -> NDArray[np.int64]:
    """Topics on which the two can still meet, in that order: those on which they never did come first."""
    games = met[:, better, worse]
    both = field.entered[:, better] & field.entered[:, worse]
    rounds = [np.flatnonzero(both & (games <= already)) for already in range(_ORDERS)]
    return np.concatenate(rounds)


def _needed(
    posterior: Posterior, topics: NDArray[np.int64], better: int, worse: int, wanted: float
) -> int | None:
    """The fewest of the topics, taken from the front, that bring the variance of the difference down."""
    low, high = 0, len(topics)
    if _variance(posterior, topics, better, worse) > wanted:
        return None
    while low < high:
        middle = (low + high) // 2
        if _variance(posterior, topics[:middle], better, worse) > wanted:
            low = middle + 1
        else:
            high = middle
    return low


def _variance(posterior: Posterior, topics: NDArray[np.int64], better: int, worse: int) -> float:
    """Variance of the difference after a verdict on each of the topics (twice named: two verdicts)."""
    within = posterior.within.copy()
    once, first = np.unique(topics, return_index=True)
    twice = np.delete(topics, first)
    for chosen in (once, twice):
        both = np.full(len(chosen), better), np.full(len(chosen), worse)
        within[chosen] = sharpened(posterior, within[chosen], *both)
    covariance = posterior.after(within).covariance
    return float(covariance[better, better] + covariance[worse, worse] - 2 * covariance[better, worse])
