"""Choose among the branches from verdicts in both orders (section 3.3); pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any


@dataclass(frozen=True)
class Score:
    """The result of one branch: pairs won, tied, lost, and pairs without a verdict."""

    branch: int
    won: int = 0
    tied: int = 0
    lost: int = 0
    unscored: int = 0

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

    def as_state(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "told": self.summary}


def score_duels(duels: Iterable[Mapping[str, Any]], branches: Sequence[int]) -> list[Score]:
    """Score the branches from duels, each ``{"first", "second", "criteria": {name: choice} | None}``.

    A pair counts as won only if both orders agree; a disagreement under swap is a tie. A pair with an
    unscored order has no verdict.
    """
    outcome = {(duel["first"], duel["second"]): _outcome(duel) for duel in duels}
    tally = {branch: {"won": 0, "tied": 0, "lost": 0, "unscored": 0} for branch in branches}
    for one, other in combinations(branches, 2):
        forward, swapped = outcome.get((one, other)), outcome.get((other, one))
        if forward is None or swapped is None:
            tally[one]["unscored"] += 1
            tally[other]["unscored"] += 1
        elif forward * swapped < 0:
            winner, loser = (one, other) if forward > 0 else (other, one)
            tally[winner]["won"] += 1
            tally[loser]["lost"] += 1
        else:
            tally[one]["tied"] += 1
            tally[other]["tied"] += 1
    return [Score(branch, **counts) for branch, counts in tally.items()]


def _outcome(duel: Mapping[str, Any]) -> int | None:
    """Criteria won by the first minus those won by the second; ``None`` if unscored."""
    criteria = duel["criteria"]
    if criteria is None:
        return None
    points = {"first": 1, "second": -1, "tie": 0}
    return sum(points[choice] for choice in criteria.values())


def rank_branches(
    scores: Sequence[Score], too_close: set[int], far: Collection[int] = frozenset()
) -> list[Score]:
    """Sort best first; ties by branch number.

    Ideas too close to a paper come after all others, and those whose chain is far from the topic last.
    """

    def sort_key(score: Score) -> tuple[bool, bool, float, int]:
        rate = score.rate if score.rate is not None else 0.5
        return score.branch in far, score.branch in too_close, -rate, score.branch

    return sorted(scores, key=sort_key)
