"""Audit of the judges: reliability and biases.

Every figure has its n and an interval over topics, or a reason why it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.agreement.coefficients import (
    cohen_kappa,
    judge_scores,
    krippendorff_alpha,
    percent,
    spearman,
)
from ideagora.evaluators.statistics.comparisons import TIE
from ideagora.evaluators.statistics.figures import Chosen, Figure, jackknife, missing_figure
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import topic_wins
from ideagora.evaluators.statistics.ratings.matches import score_range
from ideagora.evaluators.statistics.ratings.ratings import bradley_terry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons


@dataclass(frozen=True)
class JudgePair:
    """Agreement of two judges over the matches that both judged."""

    judges: tuple[str, str]
    percent: Figure
    cohen_kappa: Figure


@dataclass(frozen=True)
class Audit:
    """The figures beside a ranking."""

    flip_rate: Figure
    """Share of matches judged in both orders whose verdict changes with the order."""
    first_slot_rate: Figure
    """Share of points of the idea shown first, ties as half; 0.5 for a judge without position bias."""
    length_correlation: Figure
    """Spearman's correlation of the outcome with the log ratio of the two lengths."""
    own_family: Figure
    """Points that judges give to agents of their own model family beyond the ratings by other judges."""
    judge_pairs: tuple[JudgePair, ...]
    krippendorff_alpha: Figure
    """Of all judges over all matches, nominal: first, second, tie."""
    intransitive: Figure
    """Share of cyclic triples of agents; n counts the triples in which each pair has a winner."""


def audit(
    comparisons: Comparisons,
    judge_family: Mapping[str, str] | None = None,
    agent_family: Mapping[str, str] | None = None,
) -> Audit:
    """All figures at once; ``judge_family`` and ``agent_family`` give their model families by name."""
    pairs, alpha = _between_judges(comparisons)
    return Audit(
        flip_rate=flip_rate(comparisons),
        first_slot_rate=first_slot_rate(comparisons),
        length_correlation=length_correlation(comparisons),
        own_family=own_family(comparisons, judge_family or {}, agent_family or {}),
        judge_pairs=pairs,
        krippendorff_alpha=alpha,
        intransitive=intransitive(comparisons),
    )


def flip_rate(comparisons: Comparisons) -> Figure:
    """Share of matches judged in both orders whose two verdicts differ; a tie against a win counts."""
    rows = comparisons.rows(_in_both_orders(comparisons))
    if not len(rows):
        return missing_figure("No match was judged in both orders.")
    start, low, high = score_range(rows)
    flipped = (_preference(low) != _preference(high)).astype(np.float64)
    return jackknife(
        lambda chosen: _mean(flipped[chosen]),
        rows.topic[start],
        "rate",
        "No match was judged in both orders.",
    )


def repeat_flip_rate(comparisons: Comparisons, repeats: Comparisons) -> Figure:
    """Share of the verdicts that differ when the same judge is asked the same question once more.

    The flips in swapped order contain this noise; what they have beyond it is due to the order.

    Args:
        comparisons: the first verdicts.
        repeats: the second ones on the same questions, row by row.
    """
    why = "No comparison was scored twice in the same order."
    if not len(comparisons):
        return missing_figure(why)
    flipped = (_preference(comparisons.outcome) != _preference(repeats.outcome)).astype(np.float64)
    return jackknife(lambda chosen: _mean(flipped[chosen]), comparisons.topic, "rate", why)


def first_slot_rate(comparisons: Comparisons) -> Figure:
    """Share of the idea shown first, over matches in both orders if there are any, else over all verdicts.

    In both orders each idea is shown first once, so strength is not mistaken for position bias.
    """
    both = _in_both_orders(comparisons)
    rows = comparisons.rows(both) if both.any() else comparisons
    return jackknife(lambda chosen: _mean(rows.outcome[chosen]), rows.topic, "rate", "There are no verdicts.")


def length_correlation(comparisons: Comparisons) -> Figure:
    """Spearman's correlation of the outcome with how much longer the first idea is than the second."""
    known = comparisons.rows(np.isfinite(comparisons.length))
    return spearman(known.outcome, known.length, known.topic)


def own_family(
    comparisons: Comparisons, judge_family: Mapping[str, str], agent_family: Mapping[str, str]
) -> Figure:
    """Points that judges give to agents of their family beyond those expected from other judges' ratings.

    Over verdicts with exactly one agent of the judge's family; 0.05 is five more wins in a hundred.
    """
    judges = np.array([judge_family.get(name, "") for name in comparisons.judges])[comparisons.judge]
    agents = np.array([agent_family.get(name, "") for name in comparisons.agents])
    own_first = (agents[comparisons.first] == judges) & (judges != "")
    own_second = (agents[comparisons.second] == judges) & (judges != "")
    concerned = own_first ^ own_second
    if not concerned.any():
        return missing_figure(
            "No judge is known to share its model family with exactly one of the two agents."
        )
    score = np.where(own_first, comparisons.outcome, 1.0 - comparisons.outcome)

    def excess(chosen: Chosen) -> float | None:
        rest = comparisons.rows(chosen & ~concerned)
        try:
            strengths = (bradley_terry(rest, base=0.0).scores) * np.log(10.0) / 400.0
        except RatingError:
            return None
        gap = strengths[comparisons.first] - strengths[comparisons.second]
        expected = 1.0 / (1.0 + np.exp(np.where(own_first, -gap, gap)))
        return _mean((score - expected)[chosen & concerned])

    figure = jackknife(
        excess, comparisons.topic, "number", "Verdicts by other judges do not rate all agents."
    )
    return Figure(figure.value, int(concerned.sum()), figure.low, figure.high, figure.reason)


def intransitive(comparisons: Comparisons) -> Figure:
    """Share of cyclic triples among those in which each pair has a winner over all topics."""
    wins = topic_wins(comparisons).sum(axis=0)
    beats = (wins > wins.T + 1e-9).astype(np.float64)
    either = beats + beats.T
    circles = round(float(np.trace(beats @ beats @ beats)) / 3)
    triples = round(float(np.trace(either @ either @ either)) / 6)
    if not triples:
        return missing_figure("No three agents have a winner in all three of their pairs.")
    return Figure(circles / triples, triples, reason="A count over all topics; it has no interval.")


def _between_judges(comparisons: Comparisons) -> tuple[tuple[JudgePair, ...], Figure]:
    scores = judge_scores(comparisons)
    judges = [judge for judge in comparisons.judges if scores[judge]]
    if len(judges) < 2:
        return (), missing_figure("Agreement needs at least two judges.")
    units = sorted({unit for judge in judges for unit in scores[judge]})
    table = np.array([[scores[judge].get(unit, np.nan) for judge in judges] for unit in units])
    topics = np.unique([unit[0] for unit in units], return_inverse=True)[1]
    pairs = tuple(
        JudgePair(
            (judges[one], judges[other]),
            percent(table[:, one], table[:, other], topics),
            cohen_kappa(table[:, one], table[:, other], topics),
        )
        for one, other in combinations(range(len(judges)), 2)
    )
    return pairs, krippendorff_alpha(table, "nominal", topics)


def _in_both_orders(comparisons: Comparisons) -> Chosen:
    """Rows of matches that were judged in one order and in the other."""
    if not len(comparisons):
        return np.zeros(0, dtype=np.bool_)
    match = np.unique(comparisons.match, return_inverse=True)[1]
    forward = np.bincount(match, comparisons.first < comparisons.second)
    backward = np.bincount(match, comparisons.first > comparisons.second)
    return np.asarray(((forward > 0) & (backward > 0))[match])


def _preference(outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 if the idea is better, by however much, -1 if the other one is, 0 for a tie."""
    preference: NDArray[np.float64] = np.sign(np.round(outcome - TIE, 9))
    return preference


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float | None:
    return float(values.mean()) if len(values) else None
