"""The card (README.md) of a benchmark's data set for the Hugging Face hub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ideagora.benchmarks.results import AgentFigure, BenchmarkResult
from ideagora.report.export.record import BenchmarkRun
from ideagora.report.text_cleaning import escape_markdown as escaped

COLUMNS = {
    "scores": (
        "One row per protocol, measure, agent and sample. `score` is null if the sample is unscored; samples "
        "on which the agent has no idea have no row."
    ),
    "verdicts": (
        "One row per answer of a judge. `ideas` and `agents` are in the order shown; `order` is 1 for the "
        "swapped order. `status` is `scored` or `unscored`, with the `reason`. `criteria` are the answer's "
        "values, `details` (JSON) what the judge saw besides the ideas. `cost_usd` is null if a price is "
        "unknown."
    ),
    "ideas": (
        "One row per sample, agent and idea; `sample` is null for ideas that were not judged. `experiment` "
        "is JSON, `references` are ids of papers. Text is as the agents wrote it."
    ),
}


def render_card(run: BenchmarkRun, tables: Sequence[str]) -> str:
    """The card in Markdown, with the metadata that the hub reads."""
    result = run.results[0]
    sections = [
        f"# {escaped(result.title)}: results of {len(result.agents)} agents on {result.n_samples} samples",
        _introduction(run),
        *(section for one in run.results for section in _results_section(one, len(run.results) > 1)),
        "## Files",
        *(f"`data/{name}.parquet`: {COLUMNS[name]}" for name in tables),
        "## Licence",
        "The ideas and the judges' reasons are the output of models, and topics come from the benchmark's "
        "data set; their licences apply. State one here before you publish this folder.",
    ]
    return f"---\n{_metadata(run, tables)}---\n\n" + "\n\n".join(sections) + "\n"


def _metadata(run: BenchmarkRun, tables: Iterable[str]) -> str:
    lines = [
        f"pretty_name: {json.dumps(run.results[0].title)}",
        "tags:",
        "- ideagora",
        f"- {run.name}",
        "configs:",
    ]
    for name in tables:
        lines += [f"- config_name: {name}", f"  data_files: data/{name}.parquet"]
    return "".join(f"{line}\n" for line in lines)


def _introduction(run: BenchmarkRun) -> str:
    result = run.results[0]
    maker = f"ideagora {run.version}" if run.version else "ideagora"
    lines = [
        f"Benchmark: {escaped(result.source or result.title)}",
        f"Judges: {', '.join(map(escaped, result.judges)) or 'none'}",
        f"Made with {maker}, started {escaped(run.started)}, seed {run.seed}, run {escaped(run.id)}",
    ]
    if result.status != "complete":
        lines.append(f"The run is not complete ({escaped(result.status)})")
    if result.smoke_test:
        lines.append("The offline model judged, so nothing can be concluded from these figures")
    return "\n".join(f"- {line}." for line in lines)


def _results_section(result: BenchmarkResult, is_named: bool) -> Iterator[str]:
    yield f"## Results ({escaped(result.protocol)} protocol)" if is_named else "## Results"
    yield "\n".join(_table(result))
    yield "Mean with its 95 % interval, and the number of scored samples. “–”: no score."
    if result.notes:
        yield "\n".join(f"- {escaped(note)}" for note in result.notes)


def _table(result: BenchmarkResult) -> Iterator[str]:
    yield _row(["Measure", *(escaped(row.agent) for row in result.agents)])
    yield _row(["---", *("---:" for _ in result.agents)])
    for measure in result.measures:
        figures = [result.figure(row.agent, measure.name) for row in result.agents]
        shown = [_figure(figure, measure.decimals) for figure in figures]
        yield _row([escaped(f"{measure.title} ({measure.unit})"), *shown])


def _figure(figure: AgentFigure, decimals: int) -> str:
    if figure.mean is None:
        return "–"
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f" [{figure.low:.{decimals}f}, {figure.high:.{decimals}f}]"
    return f"{figure.mean:.{decimals}f}{interval}, n = {figure.n}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
