"""A benchmark's result on a terminal. Names, reasons and notes are printed as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from ideagora.benchmarks.results.records import BenchmarkResult
from ideagora.report.bench.cells import (
    BEST,
    OFFLINE,
    SMOKE_TEST,
    STATUS,
    Cell,
    Columns,
    all_columns,
    count_samples,
    headline,
    interval,
    legend,
    number,
    p_value,
    reasons,
    significant,
    usage,
)
from ideagora.report.console import cell
from ideagora.report.figure_table import FigureTable
from ideagora.report.text_cleaning import cut_middle

LONGEST_NAME = 40
MOST_LINES = 8
"""Significant differences, and reasons, that are listed."""
MOST_NAMES = 5
"""Agents that are named for one reason."""
GAP = 2
DETECTABLE = "detectable"


def terminal_table(result: BenchmarkResult) -> RenderableType:
    """The result: table with intervals, significant differences, reasons of what is unscored, notes."""
    head = f"{result.title}: {headline(result)}"
    parts: list[RenderableType] = [Text(cell(f"{SMOKE_TEST}. {head}" if result.smoke_test else head), "bold")]
    if result.smoke_test:
        parts.append(Text(OFFLINE))
    if result.status in STATUS:
        parts.append(Text(STATUS[result.status], "yellow"))
    main, details = _without_details(result)
    parts += [_table(all_columns(main)), *_differences(main), *_unscored(result)]
    parts += [
        Text(f"• {cell(line)}", "dim")
        for line in (*legend(main), *details, *result.notes, usage(result))
        if line
    ]
    return Group(*parts)


def _without_details(result: BenchmarkResult) -> tuple[BenchmarkResult, tuple[str, ...]]:
    """The result without the measures that explain others, and a line that says where these are."""
    main = tuple(one for one in result.measures if not one.detail)
    if len(main) == len(result.measures):
        return result, ()
    titles = ", ".join(one.title for one in result.measures if one.detail)
    return replace(result, measures=main), (f"In the report and in results.json: {titles}.",)


def _table(columns: Columns) -> FigureTable:
    rows = [
        [
            Text(_short(row.agent)).append(f"\n{row.samples}" if row.samples else "", "dim"),
            *map(_text, row.cells),
        ]
        for row in columns.rows
    ]
    if columns.detectable:
        rows.append([Text(DETECTABLE, "dim"), *(Text(value, "dim") for value in columns.detectable)])
    return FigureTable([columns.agent, *(cell(measure.title) for measure in columns.measures)], rows)


def _text(one: Cell) -> Text:
    mean, *rest = _lines(one)
    return Text(mean, "bold" if one.best else "").append("".join(f"\n{line}" for line in rest), "dim")


def _lines(one: Cell) -> list[str]:
    """The mean, marked with a star if it is the best, then interval and counts."""
    mean = f"{one.mean} *" if one.best else one.mean
    return [line for line in (mean, one.interval, *one.counts.split(", ")) if line]


def _differences(result: BenchmarkResult) -> Iterator[Text]:
    rows = significant(result)
    if any(one.p is not None for one in result.comparisons) and not rows:
        yield Text(f"No difference between two {result.wording.agent}s is significant.")
    if rows:
        stars = f" (*: {BEST})" if any(f.best for f in result.figures) else ""
        yield Text(f"Significant differences{stars}:")
    for measure, one in rows[:MOST_LINES]:
        span = "" if one.low is None else f" ({interval(one.low, one.high, measure, sign=True)})"
        yield Text(
            f"  {cell(measure.title)}: {_short(one.first)} better than {_short(one.second)} by "
            f"{number(abs(one.difference or 0.0), measure)}{span}, p {_p(one.p_holm)}, n = {one.n}"
        )
    if len(rows) > MOST_LINES:
        yield Text(f"  and {len(rows) - MOST_LINES} more in comparisons.csv", "dim")


def _p(p: float | None) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _unscored(result: BenchmarkResult) -> Iterator[Text]:
    rows = reasons(result)
    for kind, reason, count in rows[:MOST_LINES]:
        yield Text(f"{count} unscored ({cell(kind)}): {cell(reason)}", "yellow")
    if len(rows) > MOST_LINES:
        yield Text(f"and {len(rows) - MOST_LINES} more reasons in results.json", "yellow")
    missing: dict[tuple[str, int], list[str]] = {}
    for agent in result.agents:
        for reason, count in agent.missing.items():
            missing.setdefault((reason, count), []).append(_short(agent.agent))
    for (reason, count), names in list(missing.items())[:MOST_LINES]:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        have = "have" if len(names) > 1 else "has"
        samples = count_samples(result, count)
        shown = ", ".join(names[:MOST_NAMES])
        yield Text(f"{shown}{more} {have} no idea on {samples}: {cell(reason)}", "yellow")
    if len(missing) > MOST_LINES:
        yield Text(f"and {len(missing) - MOST_LINES} more reasons in results.json", "yellow")


def _short(name: str) -> str:
    return cut_middle(cell(name), LONGEST_NAME)
