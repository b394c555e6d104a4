"""Choose among the branches from verdicts in both orders (section 3.3); pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, cast

from ideagora.graphs.chain_of_ideas.records import Duel, RankedBranch
from ideagora.schema import NoveltyCheck

POINTS = {"first": 1, "second": -1, "tie": 0}
VERDICTS = ("novel", None, "obvious combination", "published")
"""Verdicts of the novelty judge from best to worst; ``None``: unchecked."""


@dataclass(frozen=True)
class Score:
    """The result of one branch: pairs won, tied, lost, and pairs without a verdict."""

    branch: int
    won: int = 0
    tied: int = 0
    lost: int = 0
    unscored: int = 0
    points: int = field(default=0, compare=False)
    """Criteria won minus criteria lost, over all verdicts in both orders."""

    @property
    def rate(self) -> float | None:
        """Winning rate over the pairs with a verdict, ties as half; ``None`` if there are none."""
        judged = self.won + self.tied + self.lost
        return (self.won + self.tied / 2) / judged if judged else None

    @property
    def summary(self) -> str:
        """For the report."""
        pairs = self.won + self.tied + self.lost
        missing = f", {self.unscored} without a verdict" if self.unscored else ""
        return f"{self.won} won, {self.tied} tied, {self.lost} lost of {pairs}{missing}"

    def as_state(self) -> RankedBranch:
        """Plain values."""
        return {**cast("RankedBranch", asdict(self)), "told": self.summary}


def score_duels(duels: Iterable[Duel], branches: Sequence[int]) -> list[Score]:
    """Score the branches from comparisons of pairs.

    A criterion counts for an idea if both orders prefer it there; the idea with more such criteria wins the
    pair. If they are equal, the overall preference decides (``overall``, if given), again if both orders
    agree. A pair with an unscored order has no verdict. Of two verdicts on one order the later one counts.
    """
    verdicts = {(duel["first"], duel["second"]): duel for duel in duels}
    tally = {branch: {"won": 0, "tied": 0, "lost": 0, "unscored": 0, "points": 0} for branch in branches}
    for one, other in combinations(branches, 2):
        there, back = verdicts.get((one, other)), verdicts.get((other, one))
        if there is None or back is None or there["criteria"] is None or back["criteria"] is None:
            tally[one]["unscored"] += 1
            tally[other]["unscored"] += 1
            continue
        points = _sum(there) - _sum(back)
        tally[one]["points"] += points
        tally[other]["points"] -= points
        outcome = _outcome(there, back)
        tally[one]["won" if outcome > 0 else "lost" if outcome < 0 else "tied"] += 1
        tally[other]["lost" if outcome > 0 else "won" if outcome < 0 else "tied"] += 1
    return [Score(branch, **counts) for branch, counts in tally.items()]


def _sum(duel: Duel) -> int:
    """Criteria won by the first minus those won by the second."""
    return sum(POINTS[choice] for choice in (duel["criteria"] or {}).values())


def _outcome(there: Duel, back: Duel) -> int:
    """Positive if the first idea of ``there`` wins the pair, negative if the second does, else 0."""
    one, other = there["criteria"] or {}, back["criteria"] or {}
    agreed = sum(_agreed(one[name], other[name]) for name in one.keys() & other.keys())
    return agreed or _agreed(there.get("overall") or "tie", back.get("overall") or "tie")


def _agreed(there: str, back: str) -> int:
    """1 or -1 if both orders prefer the same idea, as seen from ``there``; else 0."""
    return POINTS[there] if POINTS[there] == -POINTS[back] else 0


def novelty_key(check: NoveltyCheck) -> tuple[int, float]:
    """Sort key of an idea's novelty, best first: the verdict, then the similarity of the closest paper."""
    verdict = check.verdict if check.status != "unchecked" else None
    return VERDICTS.index(verdict), max((close.similarity for close in check.closest), default=1.0)


def rank_branches(
    scores: Sequence[Score],
    too_close: Collection[int],
    far: Collection[int] = frozenset(),
    novelty: Mapping[int, tuple[Any, ...]] | None = None,
) -> list[Score]:
    """Sort best first: by winning rate, then by summed criteria, then by novelty, then by branch.

    Ideas too close to a paper come after all others, and those whose chain is far from the topic last.

    Args:
        scores: the branches.
        too_close: branches whose idea is too close to a paper.
        far: branches whose chain is far from the topic.
        novelty: sort keys of the ideas' novelty by branch, best first.
    """

    def sort_key(score: Score) -> tuple[Any, ...]:
        rate = score.rate if score.rate is not None else 0.5
        is_far, is_close = score.branch in far, score.branch in too_close
        return is_far, is_close, -rate, -score.points, (novelty or {}).get(score.branch, ()), score.branch

    return sorted(scores, key=sort_key)
