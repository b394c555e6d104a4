"""From scores to a benchmark's result: means, intervals, paired tests, ranks (docs/benchmark_results.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ideagora.benchmarks.benchmark import Scores
from ideagora.benchmarks.results.comparisons import compare_agents, ranked, sensitivity_of
from ideagora.benchmarks.results.figures import ScoreTable, figure_of, figures_by_category
from ideagora.benchmarks.results.records import ALPHA, AgentSummary, BenchmarkResult, Comparison
from ideagora.evaluators.statistics.scores.paired_tests import smallest_p

OFFLINE_JUDGE = "offline"


def build_result(
    known: BenchmarkResult, scores: Scores, categories: Mapping[str, str] | None = None
) -> BenchmarkResult:
    """The result with the figures, comparisons and notes that follow from its scores.

    Args:
        known: the result without them. Its measures are those that were to be computed, also if nothing is
            scored; agents that are only in the scores follow its own. ``n_samples`` 0 stands for the samples
            in the scores, the status ``complete`` becomes ``nothing_scored`` if nothing is scored, and its
            notes follow those of this function.
        scores: by measure, agent and sample.
        categories: category by sample.

    Raises:
        ValueError: a score is not finite.
    """
    rows = _agent_rows(scores, known.agents)
    result = replace(
        known,
        agents=tuple(rows),
        n_samples=known.n_samples or len(_samples(scores)),
        smoke_test=bool(known.judges) and set(known.judges) == {OFFLINE_JUDGE},
        categories=figures_by_category(scores, known.measures, [row.agent for row in rows], categories or {}),
    )
    result = _with_figures(result, [ScoreTable.of(measure, scores) for measure in known.measures])
    if result.status == "complete" and all(one.mean is None for one in result.figures):
        result = replace(result, status="nothing_scored")
    return replace(result, notes=(*_notes(result), *known.notes))


def _agent_rows(scores: Scores, agents: Sequence[AgentSummary]) -> list[AgentSummary]:
    listed = [row.agent for row in agents]
    others = sorted({name for cells in scores.values() for name in cells} - set(listed))
    return [*agents, *(AgentSummary(agent=name) for name in others)]


def _samples(scores: Scores) -> set[str]:
    return {sample for cells in scores.values() for row in cells.values() for sample in row}


def _with_figures(result: BenchmarkResult, tables: Sequence[ScoreTable]) -> BenchmarkResult:
    """The result with figures, and unless it is a smoke test with comparisons and ranks."""
    figures = [figure_of(table, row, result.n_samples) for table in tables for row in result.agents]
    names = [row.agent for row in result.agents]
    comparisons: list[Comparison] = []
    if not result.smoke_test:
        comparisons = [one for table in tables for one in compare_agents(table, names)]
        figures = [one for measure in result.measures for one in ranked(measure, figures, comparisons)]
    return replace(
        result,
        figures=tuple(figures),
        comparisons=tuple(comparisons),
        sensitivity=tuple(sensitivity_of(measure.name, comparisons) for measure in result.measures),
    )


def _notes(result: BenchmarkResult) -> Iterator[str]:
    agent, sample = result.wording.agent, result.wording.sample
    titles = {measure.name: measure.title for measure in result.measures}
    scored = {one.measure for one in result.figures if one.mean is not None}
    if scored and (empty := [title for name, title in titles.items() if name not in scored]):
        yield f"Not scored for any {agent}: {', '.join(empty)}."
    if not scored and any(one.scored for one in result.coverage) and not _has_gaps(result):
        yield (
            "Every question has an answer, but the method scores returns no score: check the names of "
            "measures, kinds of questions and criteria."
        )
    if len(result.agents) == 1:
        yield f"There is one {agent}, so nothing is compared."
    if len({(one.n, one.without_idea) for one in result.figures if one.mean is not None}) > 1:
        yield (
            f"Not all means are over the same {sample}s; two {agent}s are compared on the {sample}s that are "
            "scored for both."
        )
    yield from _notes_on_size(result, titles)


def _has_gaps(result: BenchmarkResult) -> bool:
    """Whether a question has no score, so that what depends on it may have none either."""
    return any(one.unscored or one.unasked for one in result.coverage)


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
            f"{n} common {result.wording.sample}s are too few for a significant difference{where}: the "
            f"smallest possible p-value is {smallest_p(n):.2g}, and {pairs} "
            f"pair{'s are' if pairs != 1 else ' is'} compared."
        )
