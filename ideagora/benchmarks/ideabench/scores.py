"""Scorers of IdeaBench (sections 3.3.2 and 4.1.2): from verdicts to scores per agent and target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from ideagora.schema import Verdict

Table = dict[str, dict[str, float | None]]
"""Agent -> target -> score; ``None``: unscored."""
RANK, IDEAS, RATING, SIMILARITY = "target_rank", "ideas", "rating", "similarity"
"""Names in ``Verdict.criteria``."""


def relative_rank(rank: int, ideas: int) -> float:
    """The share of generated ideas that are ranked before the target's own, 0 to 1 (equation 1).

    Args:
        rank: the target's place in the ranking, from 1 to ``ideas`` + 1.
        ideas: the number of generated ideas in the ranking.

    Raises:
        ValueError: there is no such place.
    """
    if ideas < 1 or not 1 <= rank <= ideas + 1:
        raise ValueError(f"rank {rank} of a target among {ideas} ideas does not exist")
    return (rank - 1) / ideas


def insight_score(relative_ranks: Sequence[float]) -> float | None:
    """The mean over targets (equation 2); ``None`` without targets."""
    return mean(relative_ranks)


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of values that all exist; ``None`` if there are none or one is missing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def best(values: Sequence[float | None]) -> float | None:
    """The highest of values that all exist (section 4.1.2): the best of fewer ideas would be too low."""
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None


def weighted_mean(means: Mapping[str, float], sizes: Mapping[str, int]) -> float:
    """The mean over all targets from those of disjoint groups, such as the eight domains (section 4.2).

    Raises:
        KeyError: a group has no size.
    """
    total = sum(sizes[name] for name in means)
    return sum(value * sizes[name] for name, value in means.items()) / total


def insight_scores(verdicts: Iterable[Verdict]) -> Table:
    """Relative rank of each target, a mean over judges that ranked completely."""
    by_judge = _by_judge(verdicts)
    return _mean_over_judges(
        {key: [_relative_rank(verdict) for verdict in each] for key, each in by_judge.items()}, mean
    )


def _relative_rank(verdict: Verdict) -> float | None:
    if verdict.criteria is None:
        return None
    return relative_rank(int(verdict.criteria[RANK]), int(verdict.criteria[IDEAS]))


def best_scores(verdicts: Iterable[Verdict], criterion: str) -> Table:
    """The highest value among an agent's ideas for each target, a mean over judges that rated all of them."""
    return _mean_over_judges(_values(verdicts, criterion), best)


def mean_scores(verdicts: Iterable[Verdict], criterion: str) -> Table:
    """The mean value of an agent's ideas, which is what one idea can be expected to get."""
    return _mean_over_judges(_values(verdicts, criterion), mean)


_Key = tuple[str, str, str, str]
"""Agent, target, judge, variant."""


def _by_judge(verdicts: Iterable[Verdict]) -> dict[_Key, list[Verdict]]:
    groups: dict[_Key, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        assert verdict.sample is not None
        groups[verdict.agents[0], verdict.sample, verdict.judge, verdict.variant].append(verdict)
    return groups


def _values(verdicts: Iterable[Verdict], criterion: str) -> dict[_Key, list[float | None]]:
    return {
        key: [None if one.criteria is None else one.criteria[criterion] for one in each]
        for key, each in _by_judge(verdicts).items()
    }


def _mean_over_judges(
    values: Mapping[_Key, Sequence[float | None]],
    combine: Callable[[Sequence[float | None]], float | None],
) -> Table:
    """Combine the values of each judge, then average over the judges that have all of them."""
    judged: dict[tuple[str, str], list[float]] = {}
    for (agent, sample, _, _), each in values.items():
        scores = judged.setdefault((agent, sample), [])
        if (score := combine(each)) is not None:
            scores.append(score)
    table: Table = {}
    for (agent, sample), scores in judged.items():
        table.setdefault(agent, {})[sample] = mean(scores)
    return table
