"""From the verdicts on single ideas to the score of an agent on a sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from ideagora.schema import Verdict

AgentScores = dict[str, dict[str, float | None]]
"""Agent -> sample id -> score; ``None``: unscored."""
Aggregate = Callable[[Sequence[float | None]], float | None]
"""The score of several ideas; ``None`` in it is an idea that a judge could not score."""
ScoreOf = Callable[[Verdict], float | None]


def best_of_all(scores: Sequence[float | None]) -> float | None:
    """The best score; ``None`` unless every idea has one.

    With an unscored idea, the maximum of the others would be too low, and keeping it only where it cannot
    rise any more would be too high on average.

    >>> best_of_all([0.0, 1.0]), best_of_all([1.0, None])
    (1.0, None)
    """
    known = [score for score in scores if score is not None]
    return max(known) if known and len(known) == len(scores) else None


def mean_of_all(scores: Sequence[float | None]) -> float | None:
    """The mean score; ``None`` unless every idea has one.

    >>> mean_of_all([0.0, 1.0]), mean_of_all([1.0, None])
    (0.5, None)
    """
    known = [score for score in scores if score is not None]
    return fmean(known) if known and len(known) == len(scores) else None


def mean_of_scored(scores: Sequence[float | None]) -> float | None:
    """The mean of the scored ideas, what one idea can be expected to get; ``None`` if there is none.

    >>> mean_of_scored([0.0, 1.0]), mean_of_scored([1.0, None])
    (0.5, 1.0)
    """
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


def criterion(name: str) -> ScoreOf:
    """The value of a criterion; ``None`` if the verdict is unscored or lacks it."""
    return lambda verdict: None if verdict.criteria is None else verdict.criteria.get(name)


def score_ideas(verdicts: Iterable[Verdict], kind: str, score: ScoreOf, aggregate: Aggregate) -> AgentScores:
    """The score of every agent on every sample: its ideas per judge, then the mean over judges that have one.

    Args:
        verdicts: of one epoch and protocol; other kinds are ignored.
        kind: ``Verdict.kind`` of the questions.
        score: of one verdict.
        aggregate: of the ideas that one judge was asked about.
    """
    asked: dict[tuple[str, str], dict[tuple[str, str], list[float | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for verdict in verdicts:
        if verdict.kind == kind:
            place = (verdict.agents[0], verdict.sample or "")
            asked[place][verdict.judge, verdict.variant].append(score(verdict))
    table: AgentScores = defaultdict(dict)
    for (agent, sample), by_judge in asked.items():
        table[agent][sample] = mean_of_scored([aggregate(ideas) for ideas in by_judge.values()])
    return dict(table)
