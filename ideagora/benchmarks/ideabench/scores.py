"""Scorers of IdeaBench (sections 3.3.2 and 4.1.2): from verdicts to scores per agent and target."""

from __future__ import annotations

from collections.abc import Iterable

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


def insight_scores(verdicts: Iterable[Verdict], kind: str) -> AgentScores:
    """Relative rank of each target, a mean over judges that ranked completely; their mean is equation 2."""
    return score_ideas(verdicts, kind, _relative_rank, mean_of_all)


def _relative_rank(verdict: Verdict) -> float | None:
    if verdict.criteria is None:
        return None
    return relative_rank(int(verdict.criteria[RANK]), int(verdict.criteria[IDEAS]))
