"""The card (README.md) of a benchmark's data set for the Hugging Face hub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ideagora.benchmarks.results.records import BenchmarkResult
from ideagora.report.bench.table_exports import markdown_table
from ideagora.report.export.record import ExportedRun
from ideagora.report.text_cleaning import escape_markdown as escaped
from ideagora.report.text_cleaning import hide_folders

COLUMNS = {
    "scores": (
        "One row per protocol, measure, agent, sample and epoch. `score` is null if it is unscored; samples "
        "on which the agent has no idea have no row."
    ),
    "verdicts": (
        "One row per answer of a judge. `ideas` and `agents` are in the order shown; `order` is 1 for the "
        "swapped order. `status` is `scored` or `unscored`, with the `reason`. `criteria` are the answer's "
        "values, `details` (JSON) what the judge saw besides the ideas. `cost_usd` is null if a price is "
        "unknown."
    ),
    "ideas": (
        "One row per sample, agent, epoch and idea, best first. `experiment` is JSON, `references` are ids "
        "of papers. Text is as the agents wrote it."
    ),
}


def render_card(run: ExportedRun, tables: Sequence[str]) -> str:
    """The card in Markdown, with the metadata that the hub reads."""
    result = run.results[0]
    sections = [
        f"# {escaped(result.title)}: judged ideas of {len(result.agents)} agents",
        _introduction(run),
        *(f"## Results, {escaped(each.protocol)} protocol\n\n{_table(each)}" for each in run.results),
        "## Files",
        *(f"`data/{name}.parquet`: {COLUMNS[name]}" for name in tables),
        "## Licence",
        "The ideas and the judges' reasons are the output of models, and topics come from the benchmark's "
        "data set; their licences apply. State one here before you publish this folder.",
    ]
    return f"---\n{_metadata(run, tables)}---\n\n" + "\n\n".join(sections) + "\n"


def _metadata(run: ExportedRun, tables: Iterable[str]) -> str:
    result = run.results[0]
    tags = ["ideagora", result.benchmark]
    lines = [f"pretty_name: {json.dumps(result.title)}", f"tags: {json.dumps(tags)}", "configs:"]
    for name in tables:
        lines += [f"- config_name: {name}", f"  data_files: data/{name}.parquet"]
    return "".join(f"{line}\n" for line in lines)


def _introduction(run: ExportedRun) -> str:
    result = run.results[0]
    maker = f"ideagora {run.version}" if run.version else "ideagora"
    lines = [
        f"Benchmark: {escaped(result.source or result.title)}",
        f"Judges: {', '.join(map(escaped, result.judges)) or 'none'}",
        f"Made with {escaped(maker)}, started {escaped(run.started)}, seed {run.seed}, run {escaped(run.id)}",
    ]
    return "\n".join(f"- {line}." for line in lines)


def _table(result: BenchmarkResult) -> str:
    return markdown_table(replace(result, notes=tuple(map(hide_folders, result.notes)))).rstrip()
