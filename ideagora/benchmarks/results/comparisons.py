"""Agents compared in pairs on the samples that both have, and the ranks that this leaves possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median_low

import numpy as np
from numpy.typing import NDArray

from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.results.figures import ScoreTable
from ideagora.benchmarks.results.records import ALPHA, AgentFigure, Comparison, Sensitivity
from ideagora.evaluators.statistics.scores.paired_tests import (
    PairedTest,
    detectable_difference,
    holm,
    paired_test,
)
from ideagora.evaluators.statistics.scores.sample_statistics import bootstrap, compare_statistic


def compare_agents(table: ScoreTable, names: Sequence[str]) -> list[Comparison]:
    """All pairs of agents on a measure, with p-values corrected for their number."""
    samples = sorted({sample for name in names for sample in table.samples(name)})
    scores = [table.rows(name, samples) for name in names]
    pairs = list(combinations(range(len(names)), 2))
    test = _paired_tester(table, scores)
    tests = [test(first, second) for first, second in pairs]
    corrected = holm([test.p for test in tests])
    return [
        _comparison(table.measure, names[first], names[second], test, p_holm)
        for (first, second), test, p_holm in zip(pairs, tests, corrected, strict=True)
    ]


def _comparison(
    measure: Measure, first: str, second: str, test: PairedTest, p_holm: float | None
) -> Comparison:
    return Comparison(
        measure=measure.name,
        first=first,
        second=second,
        n=test.n,
        difference=test.difference,
        low=test.low,
        high=test.high,
        p=test.p,
        p_holm=p_holm,
        test=test.test,
        deviation=test.deviation,
        detectable=detectable_difference(test.deviation, test.n, ALPHA),
        reason=test.reason,
    )


def _paired_tester(
    table: ScoreTable, scores: Sequence[NDArray[np.float64]]
) -> Callable[[int, int], PairedTest]:
    """The test of two agents, given by their places, on the samples that are scored for both."""
    scored = [~np.isnan(rows).any(axis=1) for rows in scores]
    drawn: dict[tuple[int, bytes], NDArray[np.float64]] = {}

    def replicates(place: int, common: NDArray[np.bool_]) -> NDArray[np.float64]:
        key = (place, common.tobytes())
        if key not in drawn:
            drawn[key] = bootstrap(scores[place][common], table.statistics)
        return drawn[key]

    def test(first: int, second: int) -> PairedTest:
        common = np.logical_and(scored[first], scored[second])
        own, other = scores[first][common], scores[second][common]
        if table.is_mean:
            return paired_test(own[:, 0] - other[:, 0])
        both = (replicates(first, common), replicates(second, common)) if len(own) > 1 else None
        return compare_statistic(own, other, table.statistics, both)

    return test


def ranked(
    measure: Measure, figures: Sequence[AgentFigure], comparisons: Sequence[Comparison]
) -> Iterator[AgentFigure]:
    """The measure's figures with ranks; agents whose difference is not significant may share one."""
    sign = 1 if measure.higher_is_better else -1
    figures = [one for one in figures if one.measure == measure.name]
    comparisons = [one for one in comparisons if one.measure == measure.name]
    means = {one.agent: sign * one.mean for one in figures if one.mean is not None}
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    for one in comparisons:
        if one.significant and one.difference:
            winner, loser = (one.first, one.second) if sign * one.difference > 0 else (one.second, one.first)
            better[loser] += 1
            worse[winner] += 1
    for figure in figures:
        mean = means.get(figure.agent)
        if mean is None:
            yield figure
            continue
        rank = 1 + sum(other > mean for other in means.values())
        yield replace(
            figure,
            rank=rank,
            rank_low=min(rank, 1 + better[figure.agent]),
            rank_high=max(rank, len(means) - worse[figure.agent]),
            best=rank == 1 and len(means) > 1 and worse[figure.agent] == len(means) - 1,
        )


def sensitivity_of(measure: str, comparisons: Sequence[Comparison]) -> Sensitivity:
    """The differences that the comparisons of a measure can show."""
    tested = [one for one in comparisons if one.measure == measure and one.p is not None]
    if not tested:
        return Sensitivity(measure=measure, pairs=0)
    n = median_low(one.n for one in tested)
    deviation = float(np.sqrt(np.mean([(one.deviation or 0.0) ** 2 for one in tested])))
    return Sensitivity(
        measure=measure,
        pairs=len(tested),
        n=n,
        deviation=deviation,
        detectable=detectable_difference(deviation, n, ALPHA),
        detectable_corrected=detectable_difference(deviation, n, ALPHA / len(tested)),
    )
