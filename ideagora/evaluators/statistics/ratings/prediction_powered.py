"""Ratings by people from few votes and many verdicts: prediction-powered Bradley–Terry.

Judges' verdicts on all pairs are corrected by what they got wrong on the pairs that people voted on
(Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023). The score equation of the ratings is

    w · mean over all pairs of score(judges)
    + mean over voted pairs of [score(people) - w · score(judges)] = 0

with the weight w (0 to 1) that gives the narrowest intervals (Angelopoulos, Duchi and Zrnic 2023, PPI++):
judges who say nothing about people's votes get no weight. The voted pairs have to be a random sample of all
pairs, as ``ideagora vote export`` draws them from a round robin. Intervals are clustered by topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.intervals.clustered import LEVEL, Intervals, intervals
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import information, is_connected
from ideagora.evaluators.statistics.ratings.ratings import BASE, POINTS, Ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 100
_FURTHEST = 12.0
"""Logits from the mean beyond which a rating counts as unbounded."""


@dataclass(frozen=True)
class VotedPairs:
    """Pairs with the judges' mean outcome and the people's, nan where nobody voted; arrays are (n,)."""

    agents: tuple[str, ...]
    topic: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    judged: NDArray[np.float64]
    """Points of ``low``: 1, 0, or between."""
    voted: NDArray[np.float64]

    @property
    def has_vote(self) -> NDArray[np.bool_]:
        """(n,) whether somebody voted on the pair."""
        return ~np.isnan(self.voted)


@dataclass(frozen=True)
class PredictionPowered:
    """Ratings by people, and the weight of the judges' verdicts in them."""

    intervals: Intervals
    weight: float


def prediction_powered(
    pairs: VotedPairs, weight: float | None = None, level: float = LEVEL
) -> PredictionPowered:
    """Ratings with intervals over topics; ``weight`` 0 is the votes alone, ``None`` the best one.

    Raises:
        RatingError: the votes (with the verdicts, if they have weight) do not rate all agents.
    """
    if not pairs.has_vote.any():
        raise RatingError(
            "No vote is on a pair that judges compared, so verdicts cannot be corrected by votes."
        )
    if weight is None:
        start = _strengths(pairs, 1.0)
        weight = _best_weight(*(_influence(pairs, start, part) for part in (0.0, 1.0)))
    strengths = _strengths(pairs, weight)
    voted_topics = len(np.unique(pairs.topic[pairs.has_vote]))
    ratings = Ratings(pairs.agents, BASE + POINTS * strengths, "bradley-terry")
    influence = POINTS * _influence(pairs, strengths, weight)
    found = intervals(ratings, influence, np.zeros(len(pairs.agents)), voted_topics, level)
    return PredictionPowered(found, weight)


def _parts(pairs: VotedPairs, weight: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each pair, its part of the games and of the points of ``low`` in the score equation."""
    every, some = 1.0 / len(pairs.topic), pairs.has_vote / pairs.has_vote.sum()
    games = weight * every + (1.0 - weight) * some
    points = weight * every * pairs.judged + some * (np.nan_to_num(pairs.voted) - weight * pairs.judged)
    return games, points


def _strengths(pairs: VotedPairs, weight: float) -> NDArray[np.float64]:
    """The solution of the score equation by damped Newton steps; mean 0, in logits."""
    agents = len(pairs.agents)
    games, points = _parts(pairs, weight)
    met = np.zeros((agents, agents))
    np.add.at(met, (pairs.low, pairs.high), games)
    if not is_connected(met[None])[0]:
        raise RatingError("The votes do not connect all agents; collect votes on more pairs.")
    strengths = np.zeros(agents)
    for _ in range(_ROUNDS):
        slope = _pull(pairs, points - games * _chance(pairs, strengths)).sum(axis=0)
        step = np.linalg.solve(information(met, strengths) + met.mean() / agents, slope)
        strengths = strengths + step / max(1.0, float(np.abs(step).max()))
        if np.abs(strengths).max() > _FURTHEST:
            break
        if np.abs(step).max() < 1e-9:
            return np.asarray(strengths - strengths.mean())
    raise RatingError("With so few votes, some agent won or lost everything and has no rating; collect more.")


def _influence(pairs: VotedPairs, strengths: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """How far each topic moves the strengths, (topics, agents); each mean is a ratio of sums over topics."""
    agents, topics = len(strengths), int(pairs.topic.max()) + 1
    games, _ = _parts(pairs, weight)
    chance, some = _chance(pairs, strengths), pairs.has_vote
    met = np.zeros((agents, agents))
    np.add.at(met, (pairs.low, pairs.high), games)

    def centred(residual: NDArray[np.float64], used: NDArray[np.bool_]) -> NDArray[np.float64]:
        pulls = _pull(pairs, np.where(used, residual, 0.0))
        counts = used.astype(np.float64)
        mean = pulls.sum(axis=0) / counts.sum()
        sums = np.zeros((topics, agents))
        np.add.at(sums, pairs.topic, (pulls - counts[:, None] * mean) / counts.sum())
        return sums

    of_judges = centred(pairs.judged - chance, np.ones_like(some))
    of_votes = centred(np.nan_to_num(pairs.voted) - chance - weight * (pairs.judged - chance), some)
    inverse = np.linalg.inv(information(met, strengths) + met.mean() / agents)
    return np.asarray((weight * of_judges + of_votes) @ inverse)


def _best_weight(without: NDArray[np.float64], with_all: NDArray[np.float64]) -> float:
    """The weight of the smallest total variance, quadratic in it, from the influences at 0 and at 1."""
    change = with_all - without
    square = float((change**2).sum())
    return float(np.clip(-(without * change).sum() / square, 0.0, 1.0)) if square > 0 else 1.0


def _chance(pairs: VotedPairs, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(strengths[pairs.high] - strengths[pairs.low])))


def _pull(pairs: VotedPairs, residual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each pair's residual for ``low`` and against ``high``, (n, agents)."""
    pulls = np.zeros((len(residual), len(pairs.agents)))
    rows = np.arange(len(residual))
    pulls[rows, pairs.low] = residual
    pulls[rows, pairs.high] = -residual
    return pulls
