"""Scorers of IdeaBench (sections 3.3.2 and 4.1.2): from verdicts to scores per agent and target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ideagora.benchmarks.aggregation import AgentScores, mean_of_all, score_ideas
from ideagora.schema import Verdict

RANK, IDEAS, RATING, SIMILARITY = "target_rank", "ideas", "rating", "similarity"
"""Names in ``Verdict.criteria``."""


def relative_rank(rank: int, ideas: int) -> float:
    """The share of generated ideas that are ranked before the target's own, 0 to 1 (equation 1).

    Args:
        rank: the target's position in the ranking, from 1 to ``ideas`` + 1.
        ideas: the number of generated ideas in the ranking.

    Raises:
        ValueError: the rank is out of range.
    """
    if ideas < 1 or not 1 <= rank <= ideas + 1:
        raise ValueError(f"rank {rank} of a target among {ideas} ideas does not exist")
    return (rank - 1) / ideas


def insight_score(relative_ranks: Sequence[float]) -> float | None:
    """The mean over targets (equation 2); ``None`` without targets."""
    return mean_of_all(relative_ranks)


def weighted_mean(means: Mapping[str, float], sizes: Mapping[str, int]) -> float:
    """The mean over all targets from those of disjoint groups, such as the eight domains (section 4.2).

    Raises:
        KeyError: a group has no size.
    """
    total = sum(sizes[name] for name in means)
    return sum(value * sizes[name] for name, value in means.items()) / total


def insight_scores(verdicts: Iterable[Verdict], kind: str) -> AgentScores:
    """Relative rank of each target, a mean over judges that ranked completely."""
    return score_ideas(verdicts, kind, _relative_rank, mean_of_all)


def _relative_rank(verdict: Verdict) -> float | None:
    if verdict.criteria is None:
        return None
    return relative_rank(int(verdict.criteria[RANK]), int(verdict.criteria[IDEAS]))
