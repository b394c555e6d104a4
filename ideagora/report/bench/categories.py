"""Texts of what a result states beside its table: figures by category, and ratings against lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.results.records import AgentFigure, BenchmarkResult, Lengths
from ideagora.report.bench.cells import MISSING, counted, interval, number


@dataclass(frozen=True)
class CategoryTable:
    """One measure by category: a row for each category, a column for each agent."""

    measure: Measure
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def category_tables(result: BenchmarkResult) -> Iterator[CategoryTable]:
    """The means by category with intervals and n; of measures that have one in some category."""
    for measure in result.measures:
        rows = tuple(
            (name, tuple(_in_category(one, measure) for one in figures if one.measure == measure.name))
            for name, figures in result.categories.items()
        )
        if any(cell != MISSING for _, cells in rows for cell in cells):
            yield CategoryTable(measure, rows)


def _in_category(one: AgentFigure, measure: Measure) -> str:
    if one.mean is None:
        return MISSING
    span = f" ({interval(one.low, one.high, measure)})" if one.low is not None else ""
    return f"{number(one.mean, measure)}{span}, n = {one.n}"


def length_text(lengths: Lengths) -> Iterator[str]:
    """What the lengths of the ideas say about their ratings."""
    yield f"The mean rating of an idea against its length; {counted(lengths.n, 'idea')}."
    if lengths.correlation is None:
        yield f"No correlation: {lengths.reason}"
        return
    span = "" if lengths.low is None else f" [{lengths.low:.2f}, {lengths.high:.2f}]"
    yield f"Spearman's correlation: {lengths.correlation:.2f}{span}.".replace("-", "−")
    if lengths.low is None and lengths.reason:
        yield f"No interval: {lengths.reason}"
