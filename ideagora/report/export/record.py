"""What the exports have in common: a benchmark's folder, arranged by sample and agent."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Measure, Plan, ProtocolName, Scores
from ideagora.benchmarks.registry import find_benchmark
from ideagora.benchmarks.results import BenchmarkResult, read_results
from ideagora.errors import RunError, UsageError
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.run_folder import now
from ideagora.report.run.load import RUN_FILE, load_run, map_strings
from ideagora.report.text_cleaning import clean, hide_folders
from ideagora.schema import Idea, Verdict

Cell = tuple[str, str]
"""Ids of a sample and an agent."""
NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class ScoreColumn:
    """One measure under one protocol."""

    name: str
    """The measure's name, with the protocol if there are several."""
    measure: Measure
    protocol: str
    scores: Mapping[str, Mapping[str, float | None]]
    """Agent -> sample id -> score; ``None``: unscored."""


@dataclass(frozen=True)
class BenchmarkRun:
    """A benchmark's folder."""

    id: str
    started: str
    finished: str | None
    seed: int
    version: str | None
    """Of ideagora."""
    results: tuple[BenchmarkResult, ...]
    """One per protocol."""
    columns: tuple[ScoreColumn, ...]
    cells: Mapping[Cell, tuple[str, ...]]
    """The ids of each agent's judged ideas on each sample, in order of sample and agent."""
    ideas: Mapping[str, Idea]
    topics: Mapping[str, str]
    """Sample id -> topic."""
    log: VerdictLog

    @property
    def name(self) -> str:
        """The benchmark's name on the command line."""
        return self.results[0].benchmark

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts, cleaned as in reports, read from the disk one by one."""
        for verdict in self.log:
            cleaned = map_strings(verdict.model_dump(mode="json"), lambda text: hide_folders(clean(text)))
            yield Verdict.model_validate(cleaned)

    def ideas_of(self, cell: Cell) -> list[Idea]:
        """The judged ideas of an agent on a sample, without those that the folder does not have."""
        return [self.ideas[idea_id] for idea_id in self.cells[cell] if idea_id in self.ideas]


def load_benchmark_run(folder: Path, benchmark: Benchmark[Any] | None = None) -> BenchmarkRun:
    """Read a benchmark's folder; scores are computed from its verdicts.

    Args:
        folder: the folder.
        benchmark: the benchmark, if it is not one of ideagora's own.

    Raises:
        RunError: it is not the folder of a benchmark, or has no results yet.
        UsageError: the benchmark is not known.
    """
    files, record = load_run(folder), _record(folder)
    results = read_results(folder, lambda content: map_strings(content, clean))
    if not results:
        raise RunError(f"{folder} has no results. Run the benchmark again with the same command.")
    log = VerdictLog(folder)
    benchmark = benchmark or find_benchmark(results[0].benchmark)
    seed = files.run.seed or 0
    columns = tuple(
        column for result in results for column in _columns(result, results, benchmark, log, seed)
    )
    cells, topics = _arrange(log, columns)
    return BenchmarkRun(
        id=str(record.get("id") or folder.name),
        started=str(record.get("started") or now()),
        finished=record["finished"] if isinstance(record.get("finished"), str) else None,
        seed=seed,
        version=files.run.versions.get("ideagora"),
        results=results,
        columns=columns,
        cells=cells,
        ideas={idea.id: idea for idea in files.ideas},
        topics=topics,
        log=log,
    )


def concerns(verdict: Verdict, measure: Measure) -> bool:
    """Whether a verdict answers a question behind a measure."""
    kind = verdict.kind
    return kind in (measure.name, measure.group) or measure.name.startswith(f"{kind}_")


def missing_extra(option: str, extra: str) -> UsageError:
    """The error for an export whose library is not installed."""
    return UsageError(f'--export {option} requires: pip install "ideagora[{extra}]".')


def _record(folder: Path) -> Mapping[str, Any]:
    content = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))  # ``load_run`` has checked it
    return content if isinstance(content, dict) else {}


def _columns(
    result: BenchmarkResult,
    results: tuple[BenchmarkResult, ...],
    benchmark: Benchmark[Any],
    verdicts: Iterable[Verdict],
    seed: int,
) -> Iterator[ScoreColumn]:
    groups = tuple(dict.fromkeys(measure.group for measure in result.measures))
    protocol: ProtocolName = "paper" if result.protocol == "paper" else "default"
    plan = Plan(judges=result.judges, protocol=protocol, only=groups, seed=seed)
    scores: Scores = benchmark.scores(verdicts, plan)
    for measure in result.measures:
        name = measure.name if len(results) == 1 else f"{measure.name} ({result.protocol})"
        yield ScoreColumn(name, measure, result.protocol, scores.get(measure.name, {}))


def _arrange(
    verdicts: Iterable[Verdict], columns: Iterable[ScoreColumn]
) -> tuple[dict[Cell, tuple[str, ...]], dict[str, str]]:
    """Ideas by sample and agent, and topics by sample; a cell without a verdict has no ideas."""
    ideas: dict[Cell, dict[str, None]] = defaultdict(dict)
    topics: dict[str, str] = {}
    for verdict in verdicts:
        sample = verdict.sample or ""
        topics.setdefault(sample, clean(verdict.topic))
        for idea_id, agent in zip(verdict.subject, verdict.agents, strict=False):
            ideas[sample, agent][idea_id] = None
    for column in columns:
        for agent, row in column.scores.items():
            for sample in row:
                ideas[sample, agent].update({})
    return {cell: tuple(ideas[cell]) for cell in sorted(ideas, key=_place)}, topics


def _place(cell: Cell) -> tuple[int, str, str]:
    """Samples by number if they are numbered."""
    sample, agent = cell
    return (int(sample) if sample.isdecimal() else 0, sample, agent)
