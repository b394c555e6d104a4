"""From scores to a benchmark's result: means, intervals, paired tests, ranks (docs/benchmark_results.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite
from statistics import median_low

import numpy as np
from numpy.typing import NDArray

from ideagora.benchmarks.benchmark import Measure, Scores
from ideagora.benchmarks.results.records import (
    ALPHA,
    AgentFigure,
    AgentSummary,
    BenchmarkResult,
    Comparison,
    Coverage,
    Lengths,
    Sensitivity,
    Status,
)
from ideagora.evaluators.statistics.scores.paired_tests import (
    PairedTest,
    detectable_difference,
    holm,
    paired_test,
    smallest_p,
)
from ideagora.evaluators.statistics.scores.sample_means import mean_over_samples
from ideagora.evaluators.statistics.scores.sample_statistics import (
    Statistic,
    bootstrap,
    compare_statistic,
    figure_over_samples,
)
from ideagora.schema import Usage

OFFLINE_JUDGE = "offline"


def build_result(
    scores: Scores,
    measures: Sequence[Measure],
    *,
    benchmark: str,
    title: str,
    source: str = "",
    protocol: str = "default",
    n_samples: int | None = None,
    agents: Sequence[AgentSummary] = (),
    judges: Sequence[str] = (),
    coverage: Sequence[Coverage] = (),
    usage: Usage | None = None,
    notes: Sequence[str] = (),
    status: Status = "complete",
    categories: Mapping[str, str] | None = None,
    lengths: Lengths | None = None,
) -> BenchmarkResult:
    """The result of a benchmark.

    Args:
        scores: by measure, agent and sample.
        measures: those that were to be computed, in table order, also if nothing is scored.
        benchmark: its name on the command line.
        title: its name in headings.
        source: the paper: title and arXiv id.
        protocol: the protocol of the scores.
        n_samples: number of samples that were given to the agents; by default, those that are in ``scores``.
        agents: in table order; agents that are only in ``scores`` follow.
        judges: their models.
        coverage: of the verdicts (``count_verdicts``).
        usage: of the judges.
        notes: shown below the table, after those of this function.
        status: how the run ended; ``complete`` becomes ``nothing_scored`` if nothing is scored.
        categories: category by sample.
        lengths: of the ideas, against their ratings.

    Raises:
        ValueError: a score is not finite.
    """
    rows = _agent_rows(scores, agents)
    names = [row.agent for row in rows]
    if n_samples is None:
        n_samples = len({one for cells in scores.values() for row in cells.values() for one in row})
    smoke_test = bool(judges) and set(judges) == {OFFLINE_JUDGE}
    tables = [_Table.of(measure, scores) for measure in measures]
    comparisons = [] if smoke_test else [one for table in tables for one in _compare(table, names)]
    figures = [_figure(table, row, n_samples) for table in tables for row in rows]
    if not smoke_test:
        figures = [one for measure in measures for one in _ranked(measure, figures, comparisons)]
    is_scored = any(one.mean is not None for one in figures)
    result = BenchmarkResult(
        benchmark=benchmark,
        title=title,
        source=source,
        protocol=protocol,
        status=status if is_scored or status != "complete" else "nothing_scored",
        smoke_test=smoke_test,
        n_samples=n_samples,
        judges=tuple(judges),
        agents=tuple(rows),
        measures=tuple(measures),
        figures=tuple(figures),
        categories=_by_category(scores, measures, names, categories or {}),
        lengths=lengths,
        comparisons=tuple(comparisons),
        sensitivity=tuple(_sensitivity(measure.name, comparisons) for measure in measures),
        coverage=tuple(coverage),
        usage=usage,
    )
    return replace(result, notes=(*_notes(result), *notes))


def _agent_rows(scores: Scores, agents: Sequence[AgentSummary]) -> list[AgentSummary]:
    listed = [row.agent for row in agents]
    others = sorted({name for cells in scores.values() for name in cells} - set(listed))
    return [*agents, *(AgentSummary(agent=name) for name in others)]


def _by_category(
    scores: Scores, measures: Sequence[Measure], names: Sequence[str], categories: Mapping[str, str]
) -> dict[str, tuple[AgentFigure, ...]]:
    """The figures on the samples of each category, in the order of the samples."""
    samples: dict[str, set[str]] = {}
    for sample, category in categories.items():
        samples.setdefault(category, set()).add(sample)
    found = {}
    for category, members in samples.items() if len(samples) > 1 else ():
        part: Scores = {
            measure: {
                agent: {sample: score for sample, score in row.items() if sample in members}
                for agent, row in cells.items()
            }
            for measure, cells in scores.items()
        }
        found[category] = tuple(
            _figure(_Table.of(measure, part), AgentSummary(agent=name), len(members))
            for measure in measures
            for name in names
        )
    return found


@dataclass(frozen=True)
class _Table:
    """The scores that the figures of a measure are made of: one column, or several that are averaged."""

    measure: Measure
    statistics: tuple[Statistic, ...]
    columns: tuple[Mapping[str, Mapping[str, float | None]], ...]
    """By agent and sample."""

    @classmethod
    def of(cls, measure: Measure, scores: Scores) -> _Table:
        """The table of a measure."""
        parts = measure.mean_of or {measure.name: measure.statistic}
        return cls(measure, tuple(parts.values()), tuple(scores.get(name, {}) for name in parts))

    @property
    def is_mean(self) -> bool:
        """Whether the figure is a mean over samples."""
        return self.statistics == ("mean",)

    def samples(self, agent: str) -> list[str]:
        """The samples on which the agent has ideas, sorted."""
        return sorted({sample for column in self.columns for sample in column.get(agent, {})})

    def rows(self, agent: str, samples: Sequence[str]) -> NDArray[np.float64]:
        """Scores (samples, columns), nan where there is none.

        Raises:
            ValueError: a score is not finite.
        """
        found = [[column.get(agent, {}).get(sample) for column in self.columns] for sample in samples]
        if any(value is not None and not isfinite(value) for row in found for value in row):
            name = self.measure.name
            raise ValueError(f"{name}: a score of {agent} is not finite. Leave it out or make it None.")
        return np.array(found, dtype=np.float64).reshape(len(samples), len(self.columns))


def _figure(table: _Table, agent: AgentSummary, n_samples: int) -> AgentFigure:
    measure, values = table.measure, table.samples(agent.agent)
    rows = table.rows(agent.agent, values)
    scored = rows[~np.isnan(rows).any(axis=1)]
    found = (
        mean_over_samples(scored[:, 0], measure.lowest, measure.highest)
        if table.is_mean
        else figure_over_samples(rows, table.statistics, measure.lowest, measure.highest)
    )
    return AgentFigure(
        agent=agent.agent,
        measure=measure.name,
        mean=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        unscored=len(values) - found.n,
        without_idea=max(0, n_samples - max(agent.samples or 0, len(values))),
        reason=found.reason,
    )


def _compare(table: _Table, names: Sequence[str]) -> list[Comparison]:
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


def _paired_tester(table: _Table, scores: Sequence[NDArray[np.float64]]) -> Callable[[int, int], PairedTest]:
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


def _ranked(
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


def _sensitivity(measure: str, comparisons: Sequence[Comparison]) -> Sensitivity:
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


def _notes(result: BenchmarkResult) -> Iterator[str]:
    titles = {measure.name: measure.title for measure in result.measures}
    scored = {one.measure for one in result.figures if one.mean is not None}
    if scored and (empty := [title for name, title in titles.items() if name not in scored]):
        yield f"Not scored for any agent: {', '.join(empty)}."
    if len(result.agents) == 1:
        yield "There is one agent, so nothing is compared."
    if len({(one.n, one.without_idea) for one in result.figures if one.mean is not None}) > 1:
        yield (
            "Not all means are over the same samples; two agents are compared on the samples that are scored "
            "for both."
        )
    yield from _notes_on_size(result, titles)


def _notes_on_size(result: BenchmarkResult, titles: Mapping[str, str]) -> Iterator[str]:
    """Measures on which no difference can be significant, whatever the scores."""
    hopeless: dict[tuple[int, int], list[str]] = {}
    compared = sum(row.pairs > 0 for row in result.sensitivity)
    for row in result.sensitivity:
        n = max((one.n for one in result.comparisons if one.measure == row.measure), default=0)
        if row.pairs and row.pairs * smallest_p(n) >= ALPHA:
            hopeless.setdefault((n, row.pairs), []).append(titles[row.measure])
    for (n, pairs), measures in hopeless.items():
        where = "" if len(measures) == compared else f" ({', '.join(measures)})"
        yield (
            f"{n} common samples are too few for a significant difference{where}: the smallest possible "
            f"p-value is {smallest_p(n):.2g}, and {pairs} pair{'s are' if pairs != 1 else ' is'} compared."
        )
