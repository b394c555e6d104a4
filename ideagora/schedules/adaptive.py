"""Adaptive rounds: the most informative pairs on the ranking, or on the top k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ideagora.errors import UsageError
from ideagora.schedules.balanced import Balanced, cap, require_budget
from ideagora.schedules.pairing import Entrants, Pairing, Verdicts
from ideagora.schedules.posterior import (
    Posterior,
    fit,
    laplacian,
    update_within,
    variance_of_differences,
    wins,
)
from ideagora.schedules.slot_order import SlotBalance

if TYPE_CHECKING:
    from numpy.typing import NDArray

Goal = Literal["ranking", "top_k"]

_ORDERS = 2
_SIDE_BY_SIDE = 8
_SWAPPED_WORTH = 0.05
"""Weight of a pair's second verdict, in the other order: judges tend to repeat themselves."""


@dataclass(frozen=True)
class Adaptive:
    """Rounds of the pairs with the highest expected information.

    The first round is balanced: every idea meets one other. After that, the value of a pair is how much its
    verdict would reduce the variance of the differences between agents, weighted by how uncertain the sign of
    each difference is: all differences for ``goal="ranking"``, those between the top ``k`` and the rest for
    ``"top_k"``. It ends when all neighbours in the ranking (or the top k and all others) are in the right
    order with probability ``confidence`` (``None``: never), after ``budget`` verdicts, or when all pairs have
    met in both orders. Raises UsageError for values out of range.
    """

    goal: Goal = "ranking"
    k: int = 3
    confidence: float | None = 0.95
    budget: int | None = None
    seed: int = 0
    name: str = "adaptive"

    def __post_init__(self) -> None:
        if self.goal not in ("ranking", "top_k"):
            raise UsageError(f"the goal {self.goal!r} is unknown; use ranking or top_k")
        if self.k < 1:
            raise UsageError(f"the top {self.k} is empty; k must be at least 1")
        require_budget(self.budget)
        if self.confidence is not None and not 0.5 < self.confidence < 1:
            raise UsageError(f"a confidence of {self.confidence} is out of range; give one between 0.5 and 1")

    def next(self, entrants: Entrants, seen: Verdicts, asked: Sequence[Pairing]) -> list[Pairing]:
        """The most informative pairings, about half as many as would give every idea one.

        Raises UsageError if the top k contains all agents.
        """
        self._require_border(entrants)
        left = self.total(entrants) - len(asked)
        slots = SlotBalance.after(asked, self.seed)
        if left <= 0:
            return []
        if not asked:
            opening = Balanced(seed=self.seed).next(entrants, seen, [])[:left]
            return [slots.order_pair(shown.topic, *shown.pair, shown.judge) for shown in opening]
        posterior = fit(entrants, wins(entrants, seen))
        if self.is_certain(entrants, posterior):
            return []
        doubt, size = self._doubt(entrants, posterior), min(_round_size(entrants), left)
        pairs = _choose(entrants, posterior, doubt, meeting_counts(entrants, asked), size)
        return [
            slots.order_pair(topic, low, high, (len(asked) + number) % entrants.judges)
            for number, (topic, low, high) in enumerate(pairs)
        ]

    def total(self, entrants: Entrants) -> int:
        """The budget, or twice the number of pairs if that is less: the maximum."""
        return cap(_ORDERS * entrants.pair_count(), self.budget)

    def is_certain(self, entrants: Entrants, posterior: Posterior) -> bool:
        """Whether the wanted confidence is reached."""
        if self.confidence is None:
            return False
        probability = posterior.probability()
        above, below = self._decisive(entrants, posterior)
        return bool((probability[above, below] >= self.confidence).all())

    def _require_border(self, entrants: Entrants) -> None:
        agents = int(entrants.entered.any(axis=0).sum())
        if self.goal == "top_k" and 2 <= agents <= self.k:
            raise UsageError(f"the top {self.k} of {agents} agents is all of them; take k below {agents}")

    def _decisive(
        self, entrants: Entrants, posterior: Posterior
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of agents whose order must be certain: neighbours, or the top k and the rest."""
        ranked = ranking(entrants, posterior)
        if self.goal == "ranking":
            return ranked[:-1], ranked[1:]
        above, below = np.meshgrid(ranked[: self.k], ranked[self.k :], indexing="ij")
        return above.ravel(), below.ravel()

    def _doubt(self, entrants: Entrants, posterior: Posterior) -> NDArray[np.float64]:
        """Weight of each difference between two agents, (agents, agents), symmetric."""
        _, variance = posterior.differences()
        probability = posterior.probability()
        doubt = np.minimum(probability, probability.T) / np.maximum(variance, 1e-12)
        if self.goal == "top_k":
            inside = np.zeros(entrants.agents, dtype=bool)
            inside[ranking(entrants, posterior)[: self.k]] = True
            doubt = doubt * (inside[:, None] != inside)
        there: NDArray[np.bool_] = np.asarray(entrants.entered.any(axis=0))
        return doubt * (there[:, None] & there) * (1 - np.eye(entrants.agents))


def _round_size(entrants: Entrants) -> int:
    """Pairings in a round: half of what gives every idea one, but enough to judge in parallel."""
    return max(_SIDE_BY_SIDE, int((entrants.entered.sum(axis=1) // 2).sum()) // 2)


def ranking(entrants: Entrants, posterior: Posterior) -> NDArray[np.int64]:
    """Agents with at least one idea, best first."""
    order = np.argsort(-posterior.mean, kind="stable")
    there: NDArray[np.bool_] = np.asarray(entrants.entered.any(axis=0))
    return order[there[order]]


def meeting_counts(entrants: Entrants, asked: Sequence[Pairing]) -> NDArray[np.int64]:
    """How often two ideas were paired, (topics, agents, agents), symmetric."""
    met = np.zeros((entrants.topics, entrants.agents, entrants.agents), dtype=np.int64)
    topic, first, second, _ = np.array(asked, dtype=np.int64).reshape(-1, 4).T
    np.add.at(met, (topic, first, second), 1)
    np.add.at(met, (topic, second, first), 1)
    return met


def _choose(
    entrants: Entrants, posterior: Posterior, doubt: NDArray[np.float64], met: NDArray[np.int64], size: int
) -> list[tuple[int, int, int]]:
    """The ``size`` most informative (topic, low, high), chosen topic by topic.

    The covariance is updated for each chosen verdict before the next one on the same topic is chosen.
    """
    low, high = np.triu_indices(entrants.agents, 1)
    open_pairs = entrants.entered[:, low] & entrants.entered[:, high]
    within, met = posterior.within.copy(), met[:, low, high].copy()
    chosen: list[tuple[int, int, int]] = []
    while len(chosen) < size:
        worth = _worth(posterior, within, doubt)[:, low, high] * np.where(met > 0, _SWAPPED_WORTH, 1.0)
        worth = np.where(open_pairs & (met < _ORDERS), worth, -1.0)
        best = worth.argmax(axis=1)
        value = worth[np.arange(entrants.topics), best]
        topics = np.argsort(-value, kind="stable")[: size - len(chosen)]
        topics = topics[value[topics] >= 0]
        if not len(topics):
            break
        pairs = low[best[topics]], high[best[topics]]
        within[topics] = update_within(posterior, within[topics], *pairs)
        met[topics, best[topics]] += 1
        chosen += zip(topics.tolist(), pairs[0].tolist(), pairs[1].tolist(), strict=True)
    return chosen


def _worth(
    posterior: Posterior, within: NDArray[np.float64], doubt: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much one verdict reduces the weighted variance of the differences, (topics, agents, agents).

    The variance of a difference shrinks by its squared covariance with the verdict, divided by the verdict's
    variance.
    """
    shared = posterior.covariance @ within / posterior.idea_variance
    narrowed = variance_of_differences(shared.swapaxes(1, 2) @ laplacian(doubt) @ shared)
    spread = variance_of_differences(within + within @ shared / posterior.idea_variance)
    gap, _ = posterior.differences()
    # A logistic curve averaged over a normal distribution is approximately a flatter logistic curve.
    flatter = 1 / (1 + np.pi * spread / 8)
    chance = 1 / (1 + np.exp(-gap * np.sqrt(flatter)))
    return narrowed * flatter * chance * (1 - chance)
