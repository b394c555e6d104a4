"""Ratings from verdicts on one criterion, on the Elo scale: base 1000, 400 points for odds of ten to one.

``bradley_terry`` is the default: the order of the verdicts does not matter, and its intervals can be had
(``intervals``). ``elo`` is what the Chain-of-Ideas paper reports (section 4.4).

Ties count as half a win in both. Davidson's model (Newman's iteration fits the same one) was weighed and not
taken, for four reasons; ``docs/ratings.md`` has the figures. With ties as half wins
- 100 points mean the same in both tables: an expected score, ties being half, of 64 %;
- a verdict and its swapped twin give the same ratings whether they count as two, or as one that is a tie when
  they disagree; under Davidson's model that doubles the distances;
- ties pull two agents together, always; under Davidson's model with two agents they change nothing;
- the ratings rest on nothing but the expected score, and judges differ in how readily they call a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import PRIOR, fit, topic_wins
from ideagora.evaluators.statistics.ratings.connectivity import missing_pairs, unbounded_agents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

BASE = 1000.0
POINTS = 400.0 / log(10.0)
"""Points for a natural logit."""

K = 4.0
"""Elo's step, as in the practice that the paper follows (Zheng et al. 2024); the paper itself gives none."""

ELO_ORDERS = 100
"""Random orders of the verdicts that Elo ratings are averaged over."""
_PLAYED_VERDICTS = 2_000_000
"""Maximum number of verdicts played in all orders together, which take about a second."""

Method = Literal["bradley-terry", "elo", "bias-aware"]


@dataclass(frozen=True)
class Ratings:
    """One rating for each agent, in points; their mean is ``base``."""

    agents: tuple[str, ...]
    scores: NDArray[np.float64]
    """(agents,) in points."""
    method: Method
    base: float = BASE
    k: float | None = None
    """Elo's step; None for the other methods."""
    prior: float | None = None
    """Ties that each agent was given because some rating is unbounded; None where none were needed."""
    unbounded: tuple[str, ...] = ()
    """Agents that won, or lost, every comparison with the others: only the sign of their rating counts."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """The agents, best first; equal ratings in the order of their names."""
        order = sorted(zip(-self.scores, self.agents, strict=True))
        return tuple(agent for _, agent in order)

    def __getitem__(self, agent: str) -> float:
        """The rating of an agent, in points."""
        return float(self.scores[self.agents.index(agent)])


def bradley_terry(comparisons: Comparisons, *, base: float = BASE, prior: float = PRIOR) -> Ratings:
    """Bradley–Terry ratings by maximum likelihood, ties as half wins.

    If an agent won or lost everything, maximum likelihood puts it at infinity. Then, and only then, every
    agent is given ``prior`` ties against the average of the others; ``unbounded`` names whom that keeps
    finite. Raises RatingError for fewer than two agents, no verdict, or comparisons that fall apart (pairs
    named).
    """
    require_ratable(comparisons)
    infinite = unbounded_agents(comparisons)
    strengths = fit(topic_wins(comparisons).sum(axis=0), prior)
    return Ratings(
        agents=comparisons.agents,
        scores=base + POINTS * strengths,
        method="bradley-terry",
        base=base,
        prior=prior if infinite else None,
        unbounded=infinite,
    )


def elo(comparisons: Comparisons, *, base: float = BASE, k: float = K, orders: int = ELO_ORDERS) -> Ratings:
    """Elo ratings: each verdict in its turn moves points from one agent to the other.

    The result depends on the order of the verdicts, of which the paper says nothing, so the ratings are the
    mean over ``orders`` random ones (fewer for very many verdicts). They do not depend on the order of
    ``comparisons`` or of its topics.
    Raises RatingError like ``bradley_terry``.
    """
    require_ratable(comparisons)
    scores = play_in_orders(comparisons, playing_orders(comparisons, orders), base, k)
    return Ratings(agents=comparisons.agents, scores=scores, method="elo", base=base, k=k)


def playing_orders(comparisons: Comparisons, orders: int) -> list[NDArray[np.int64]]:
    """Random orders of the rows, (orders, n); the same ones however the rows and topics are arranged.

    Each comes with its reverse, which cancels most of what depends on the order.
    """
    start = _canonical_order(comparisons)
    drawn = max(1, min(orders, _PLAYED_VERDICTS // max(len(start), 1)) // 2)
    generator = np.random.default_rng(0)
    shuffled = [start[generator.permutation(len(start))] for _ in range(drawn)]
    return [order for one in shuffled for order in (one, one[::-1])]


def play_in_orders(
    comparisons: Comparisons, orders: Sequence[NDArray[np.int64]], base: float, k: float
) -> NDArray[np.float64]:
    """Mean of the Elo ratings (agents,) over the orders."""
    from evalica import Winner
    from evalica import elo as evalica_elo

    # One call for all orders, since a call takes longer than its verdicts: in each, agents are others.
    rows, agents = np.concatenate(orders), len(comparisons.agents)
    others = np.repeat(np.arange(len(orders)) * agents, [len(order) for order in orders])
    first, second = comparisons.first[rows] + others, comparisons.second[rows] + others
    winners = np.array([Winner.Y, Winner.Draw, Winner.X])[(2 * comparisons.outcome[rows]).astype(np.int64)]
    played = evalica_elo(first, second, winners.tolist(), initial=base, k=k).scores
    scores = np.asarray(played.reindex(range(len(orders) * agents), fill_value=base), dtype=np.float64)
    return np.asarray(scores.reshape(len(orders), agents).mean(axis=0))


def combine(ratings: Sequence[Ratings]) -> Ratings:
    """The average over criteria (or over anything else), as the paper's column "Average": each counts the
    same.

    Raises RatingError if there is nothing to average, or the agents or methods differ.
    """
    if not ratings:
        raise RatingError("There are no ratings to average; give those of at least one criterion.")
    head = ratings[0]
    if any(other.agents != head.agents or other.method != head.method for other in ratings):
        raise RatingError(
            "Ratings of different agents or methods cannot be averaged; give the same agents and method."
        )
    infinite = {agent for each in ratings for agent in each.unbounded}
    return replace(
        head,
        scores=np.mean([each.scores for each in ratings], axis=0),
        prior=max((each.prior for each in ratings if each.prior is not None), default=None),
        unbounded=tuple(agent for agent in head.agents if agent in infinite),
    )


def win_matrix(comparisons: Comparisons) -> NDArray[np.float64]:
    """Share of the row's agent against the column's, (agents, agents), ties as half; nan: they never met."""
    wins = topic_wins(comparisons).sum(axis=0)
    games = wins + wins.T
    with np.errstate(invalid="ignore"):
        share: NDArray[np.float64] = wins / games
    return share


def require_ratable(comparisons: Comparisons) -> None:
    """Raise RatingError, saying what is missing, unless every agent can be compared with every other."""
    if len(comparisons.agents) < 2:
        names = ", ".join(comparisons.agents) or "none"
        raise RatingError(f"A rating needs two agents; there is {names}. Add another agent.")
    if not len(comparisons):
        raise RatingError(
            "No verdict is scored, so nothing can be rated; see the reasons of the unscored verdicts."
        )
    missing = missing_pairs(comparisons)
    if missing:
        pairs = "; ".join(f"{one} and {other}" for one, other in missing)
        raise RatingError(f"Not all agents can be compared; add verdicts on these pairs: {pairs}.", missing)


def _canonical_order(comparisons: Comparisons) -> NDArray[np.int64]:
    """The rows by the names of topic, pair and judge, then by which of the two was shown first."""
    by_name = _ranks(comparisons.agents)
    first, second = by_name[comparisons.first], by_name[comparisons.second]
    topic, judge = (
        _ranks(names)[column]
        for names, column in (
            (comparisons.topics, comparisons.topic),
            (comparisons.judges, comparisons.judge),
        )
    )
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.lexsort((comparisons.match, first > second, judge, high, low, topic))


def _ranks(names: Sequence[str]) -> NDArray[np.int64]:
    """The place of each name in alphabetical order."""
    return np.argsort(np.argsort(np.array(names)))
