"""A benchmark's result as Markdown, CSV and LaTeX. All names and texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable

from ideagora.benchmarks.results.records import AgentFigure, BenchmarkResult
from ideagora.report.bench.cells import (
    BEST,
    SMOKE_TEST,
    Cell,
    Columns,
    better_first,
    headline,
    legend,
    page_columns,
    shown,
)
from ideagora.report.csv_text import csv_text
from ideagora.report.text_cleaning import escape_markdown

_FIGURES = (
    *("benchmark", "protocol", "measure", "unit", "agent"),
    *("mean", "low", "high", "n", "unscored", "without_idea"),
)
_RANKS = ("rank", "rank_low", "rank_high", "best")
DETECTABLE = "Detectable difference"
_LATEX_COLUMNS = 4


def markdown_table(result: BenchmarkResult) -> str:
    """The table as Markdown, with what its figures mean; in parts if there are many measures."""
    result = shown(result)
    lines = [*_intro(result)]
    for columns in page_columns(result):
        lines += [*markdown_rows(columns), ""]
    lines += [f"- {escape_markdown(line)}" for line in _explained(result)]
    return "\n".join(lines).strip() + "\n"


def csv_table(result: BenchmarkResult) -> str:
    """All figures as CSV, one row per measure and agent, not rounded; empty where there is no value."""
    result = shown(result)
    return csv_text([*_FIGURES, "n_samples", *_RANKS, "reason"], (
        (*_figure_cells(one, result), result.n_samples, one.rank, one.rank_low, one.rank_high, int(one.best),
         one.reason)
        for one in result.figures
    ))  # fmt: skip


def csv_categories(result: BenchmarkResult) -> str:
    """All figures by category as CSV, one row per category, measure and agent."""
    result = shown(result)
    return csv_text(["category", *_FIGURES, "reason"], (
        (category, *_figure_cells(one, result), one.reason)
        for category, figures in result.categories.items()
        for one in figures
    ))  # fmt: skip


def _figure_cells(one: AgentFigure, result: BenchmarkResult) -> tuple[object, ...]:
    unit = next((measure.unit for measure in result.measures if measure.name == one.measure), None)
    return (
        result.benchmark, result.protocol, one.measure, unit, one.agent, one.mean, one.low, one.high, one.n,
        one.unscored, one.without_idea,
    )  # fmt: skip


def csv_comparisons(result: BenchmarkResult) -> str:
    """All comparisons as CSV, one row per measure and pair; in each, the better agent is the first."""
    result = shown(result)
    header = "benchmark protocol measure first second difference low high n p p_holm test detectable reason"
    measures = {measure.name: measure for measure in result.measures}
    rows = (better_first(one, measures[one.measure]) for one in result.comparisons if one.measure in measures)
    of_result = result.benchmark, result.protocol
    return csv_text(
        header.split(),
        (
            (*of_result, one.measure, one.first, one.second, one.difference, one.low, one.high, one.n, one.p,
             one.p_holm, one.test, one.detectable, one.reason)
            for one in rows
        ),
    )  # fmt: skip


def latex_table(result: BenchmarkResult) -> str:
    """The table as LaTeX for the package booktabs, one ``table`` for every few measures.

    The interval and what is unscored are below each mean; the best is bold.
    """
    result = shown(result)
    parts = page_columns(result, _LATEX_COLUMNS)
    head = " ".join((SMOKE_TEST + "." if result.smoke_test else "", f"{result.title}: {headline(result)}."))
    lines = ["% \\usepackage{booktabs}"]
    for number, columns in enumerate(parts, 1):
        part = f" Part {number} of {len(parts)}." if len(parts) > 1 else ""
        words = " ".join(_explained(result)) if number == len(parts) else ""
        lines += ["\\begin{table}", "\\centering", *_latex_rows(columns)]
        lines += [f"\\caption{{{_latex(f'{head}{part} {words}')}}}", "\\end{table}", ""]
    return "\n".join(lines)


def _intro(result: BenchmarkResult) -> Iterable[str]:
    yield f"**{escape_markdown(result.title)}:** {escape_markdown(headline(result))}"
    yield ""
    if result.smoke_test:
        yield from (f"**{SMOKE_TEST}.**", "")


def _explained(result: BenchmarkResult) -> Iterable[str]:
    if any(one.best for one in result.figures):
        yield f"Bold: {BEST}."
    yield from legend(result)


def markdown_rows(columns: Columns) -> Iterable[str]:
    """The lines of a Markdown table, escaped."""
    yield _piped(
        [
            escape_markdown(columns.agent.capitalize()),
            *(escape_markdown(measure.title) for measure in columns.measures),
        ]
    )
    yield _piped(["---", *["---:"] * len(columns.measures)])
    for row in columns.rows:
        name = escape_markdown(row.agent) + (f" ({row.samples})" if row.samples else "")
        yield _piped([name, *map(_markdown_cell, row.cells)])
    if columns.detectable:
        yield _piped([DETECTABLE, *columns.detectable])


def _markdown_cell(cell: Cell) -> str:
    mean = f"**{cell.mean}**" if cell.best else cell.mean
    notes = ", ".join(words for words in (cell.interval, cell.counts) if words)
    return f"{mean} ({notes})" if notes else mean


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_rows(columns: Columns) -> Iterable[str]:
    yield f"\\begin{{tabular}}{{l{'r' * len(columns.measures)}}}"
    yield "\\toprule"
    yield _latex_row(
        [_latex(columns.agent.capitalize()), *(_latex(measure.title) for measure in columns.measures)]
    )
    yield "\\midrule"
    for row in columns.rows:
        yield _latex_row([_latex(row.agent), *(_latex_mean(cell) for cell in row.cells)])
        for below in (
            ["", *(cell.interval for cell in row.cells)],
            [row.samples, *(cell.counts for cell in row.cells)],
        ):
            if any(below):
                yield _latex_row([f"\\scriptsize {_latex(words)}" if words else "" for words in below])
    if columns.detectable:
        yield "\\midrule"
        yield _latex_row([DETECTABLE, *(_latex(value) for value in columns.detectable)])
    yield from ("\\bottomrule", "\\end{tabular}")


def _latex_mean(cell: Cell) -> str:
    return f"\\textbf{{{_latex(cell.mean)}}}" if cell.best else _latex(cell.mean)


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    return f"{{}}{row} \\\\" if row.startswith(("[", "*")) else f"{row} \\\\"  # not an argument of \\


def _latex(text: str) -> str:
    """The text with LaTeX's special characters escaped; letters without a command stay as they are."""
    from pylatexenc.latexencode import unicode_to_latex

    encoded: str = unicode_to_latex(
        " ".join(text.split()), unknown_char_policy="keep", unknown_char_warning=False
    )
    return encoded
