"""A benchmark's folder as a data set for the Hugging Face hub: Parquet files and a card.

README.md              the card: what was run, the table of results, the columns
data/scores.parquet    one row per measure, protocol, agent and sample
data/verdicts.parquet  one row per answer of a judge
data/ideas.parquet     one row per sample, agent and idea
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Benchmark
from ideagora.graphs.files import folder_error, write_atomically
from ideagora.report.export import require_library
from ideagora.report.export.card import render_card
from ideagora.report.export.record import Cell, ExportedRun, load_exported_run
from ideagora.schema import Idea, Usage, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1_000
"""Rows in memory at once; also the size of a row group."""
Row = Mapping[str, Any]


def export_hf(folder: Path, out: Path, benchmark: Benchmark[Any] | None = None) -> Path:
    """Write a folder with Parquet files and a card, as the Hugging Face hub expects them.

    Args:
        folder: a benchmark's folder.
        out: the folder to write; files of an earlier export are replaced.
        benchmark: the benchmark, if it is not one of ideagora's own.

    Returns:
        ``out``.

    Raises:
        UsageError: pyarrow is not installed, or the benchmark is not known.
        RunError: the folder has no results, or the files cannot be written.
    """
    require_library("hf")
    run = load_exported_run(folder, benchmark)
    schemas = _schemas()
    try:
        (out / "data").mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            files = {name: _Table(out / "data" / f"{name}.parquet", schemas[name]) for name in schemas}
            _fill(run, {name: stack.enter_context(file) for name, file in files.items()})
        write_atomically(out / "README.md", render_card(run, tuple(schemas)))
    except OSError as error:
        raise folder_error(out, error) from None
    return out


def _schemas() -> dict[str, pa.Schema]:
    import pyarrow as pa

    text, texts, number, whole = pa.string(), pa.list_(pa.string()), pa.float64(), pa.int64()
    usage = dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), whole) | {"cost_usd": number}
    criteria = pa.list_(pa.struct({"name": text, "value": number}))
    return {
        "scores": pa.schema(
            {
                "protocol": text,
                "measure": text,
                "agent": text,
                "sample": text,
                "epoch": whole,
                "score": number,
            }
        ),
        "verdicts": pa.schema(
            {"id": text, "kind": text, "protocol": text, "sample": text, "epoch": whole, "topic": text}
            | {"agents": texts, "ideas": texts, "judge": text, "order": whole, "variant": text}
            | {"status": text, "reason": text, "criteria": criteria, "rationale": text, "details": text}
            | usage
        ),
        "ideas": pa.schema(
            {
                "sample": text,
                "agent": text,
                "epoch": whole,
                "id": text,
                "topic": text,
                "kind": text,
                "title": text,
            }
            | {"motivation": text, "novelty": text, "method": text, "experiment": text}
            | {"references": texts, "model": text, "created": text}
            | usage
        ),
    }


class _Table:
    """A Parquet file, which gets its name once it is complete."""

    def __init__(self, file: Path, schema: pa.Schema) -> None:
        self._file, self._schema = file, schema
        self._temporary = file.with_name(f".{file.name}.new")
        self._rows: list[Row] = []

    def __enter__(self) -> _Table:
        import pyarrow.parquet as pq

        self._writer = pq.ParquetWriter(self._temporary, self._schema, compression="zstd")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._flush()
            self._writer.close()
            if error is None:
                self._temporary.replace(self._file)
        finally:
            self._temporary.unlink(missing_ok=True)

    def add(self, rows: Iterable[Row]) -> None:
        self._rows += rows
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
            self._rows = []


def _fill(run: ExportedRun, tables: Mapping[str, _Table]) -> None:
    for sample in run.samples:
        verdicts = run.verdicts(sample)
        cells = list(run.cells(sample, verdicts))
        tables["scores"].add(row for cell in cells for row in _score_rows(run, cell))
        tables["verdicts"].add(map(_verdict_row, verdicts))
        tables["ideas"].add(_idea_row(cell, idea) for cell in cells for idea in cell.ideas)


def _score_rows(run: ExportedRun, cell: Cell) -> Iterator[Row]:
    for column in run.columns:
        if column.name in cell.scores:
            yield {
                "protocol": column.result.protocol,
                "measure": column.measure.name,
                "agent": cell.agent,
                "sample": cell.sample,
                "epoch": cell.epoch,
                "score": cell.scores[column.name],
            }


def _verdict_row(verdict: Verdict) -> Row:
    fields = {"id", "kind", "protocol", "sample", "epoch", "topic", "judge", "order", "variant", "status"}
    return {
        **verdict.model_dump(include={*fields, "reason", "rationale"}, by_alias=False),
        "agents": list(verdict.agents),
        "ideas": list(verdict.subject),
        "criteria": _criteria(verdict),
        "details": _json(verdict.details) if verdict.details else None,
        **_usage(verdict.usage),
    }


def _criteria(verdict: Verdict) -> list[Row] | None:
    if verdict.criteria is None:
        return None
    return [{"name": name, "value": value} for name, value in verdict.criteria.items()]


def _idea_row(cell: Cell, idea: Idea) -> Row:
    fields = {"id", "topic", "kind", "title", "motivation", "novelty", "method", "model", "created"}
    return {
        "sample": cell.sample,
        "agent": cell.agent,
        "epoch": cell.epoch,
        **idea.model_dump(include=fields),
        "experiment": _json(idea.experiment.model_dump(mode="json")) if idea.experiment else None,
        "references": list(idea.references),
        **_usage(idea.usage),
    }


def _usage(usage: Usage) -> Row:
    return usage.model_dump(include={"calls", "prompt_tokens", "completion_tokens", "cost_usd"})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
