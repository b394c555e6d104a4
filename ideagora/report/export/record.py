"""What the exports have in common: a benchmark's folder, read sample by sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Measure, Plan, ProtocolName
from ideagora.benchmarks.registry import find_benchmark
from ideagora.benchmarks.results.records import BenchmarkResult, read_results
from ideagora.benchmarks.results.scoring import complete_verdicts, ids_by_sample
from ideagora.benchmarks.running.folder import BenchmarkFields
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.errors import RunError
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.run_folder import RunFolder
from ideagora.report.run.load import map_strings
from ideagora.report.text_cleaning import clean, hide_folders
from ideagora.schema import Experiment, Idea, Verdict

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Column:
    """One measure under one protocol."""

    name: str
    """The measure's name, with the protocol if there are several."""
    measure: Measure
    result: BenchmarkResult

    def concerns(self, verdict: Verdict) -> bool:
        """Whether a verdict answers a question behind the measure."""
        kind = verdict.kind
        is_about = kind in (self.measure.name, self.measure.group) or self.measure.name.startswith(f"{kind}_")
        return is_about and verdict.protocol == self.result.protocol


@dataclass(frozen=True)
class Cell:
    """An agent's ideas on a sample in one epoch, their scores and their verdicts."""

    sample: str
    agent: str
    epoch: int
    ideas: tuple[Idea, ...]
    scores: Mapping[str, float | None]
    """By column; ``None``: unscored. Columns that say nothing on the agent are left out."""
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class ExportedRun:
    """A benchmark's folder. Ideas and verdicts are read from the disk for one sample at a time."""

    benchmark: Benchmark[Any]
    record: BenchmarkFields
    """``run.json``"""
    results: tuple[BenchmarkResult, ...]
    """One per protocol."""
    columns: tuple[Column, ...]
    ideas: IdeaLog
    log: VerdictLog
    places: Mapping[str, Sequence[str]]
    """Sample id -> ids of its verdicts."""

    @property
    def id(self) -> str:
        """The run's identity."""
        return str(self.record.get("id", ""))

    @property
    def started(self) -> str:
        """When it began, as ISO 8601."""
        return str(self.record.get("started") or self.record.get("created") or "1970-01-01T00:00:00+00:00")

    @property
    def seed(self) -> int:
        """The seed of its settings."""
        seed = self.record.get("seed")
        return seed if isinstance(seed, int) else 0

    @property
    def version(self) -> str | None:
        """The version of ideagora."""
        versions = self.record.get("versions")
        return versions.get("ideagora") if isinstance(versions, Mapping) else None

    @property
    def samples(self) -> tuple[str, ...]:
        """The samples with ideas or verdicts, in the order of the run."""
        known = {*(sample for sample, _, _ in self.ideas.counts), *self.places}
        recorded = map(str, self.record.get("samples", ()))
        return tuple(sample for sample in dict.fromkeys((*recorded, *sorted(known))) if sample in known)

    def verdicts(self, sample: str) -> list[Verdict]:
        """The verdicts on a sample."""
        return [_cleaned(verdict) for verdict in self.log.read(self.places.get(sample, ()))]

    def cells(self, sample: str, verdicts: Sequence[Verdict]) -> Iterator[Cell]:
        """What each agent did on a sample, by epoch and agent; ``verdicts`` are those on it."""
        ideas = self.ideas.ideas(sample)
        for epoch in sorted({*ideas, *(verdict.epoch for verdict in verdicts)}):
            of_epoch = [verdict for verdict in verdicts if verdict.epoch == epoch]
            scores = self._scores(sample, of_epoch)
            agents = {
                *ideas.get(epoch, ()),
                *scores,
                *(agent for verdict in of_epoch for agent in verdict.agents),
            }
            for agent in sorted(agents):
                yield Cell(
                    sample=sample,
                    agent=agent,
                    epoch=epoch,
                    ideas=tuple(_cleaned_idea(idea) for idea in ideas.get(epoch, {}).get(agent, ())),
                    scores=scores.get(agent, {}),
                    verdicts=tuple(verdict for verdict in of_epoch if agent in verdict.agents),
                )

    def _scores(self, sample: str, verdicts: Sequence[Verdict]) -> dict[str, dict[str, float | None]]:
        """Agent -> column -> score."""
        by_agent: dict[str, dict[str, float | None]] = defaultdict(dict)
        for result in self.results:
            incomplete = {(kind.kind, sample) for kind in result.coverage if sample in kind.incomplete}
            plan = self._plan(result)
            complete = complete_verdicts(verdicts, plan, dict.fromkeys(incomplete, 1))
            scores = self.benchmark.scores(list(complete), plan)
            for column in self.columns:
                if column.result is result:
                    for agent, row in scores.get(column.measure.name, {}).items():
                        if sample in row:
                            by_agent[agent][column.name] = row[sample]
        return by_agent

    def _plan(self, result: BenchmarkResult) -> Plan:
        protocol: ProtocolName = "paper" if result.protocol == "paper" else "default"
        groups = tuple(dict.fromkeys(measure.group for measure in result.measures))
        return Plan(judges=result.judges, protocol=protocol, only=groups, seed=self.seed)


def load_exported_run(folder: Path, benchmark: Benchmark[Any] | None = None) -> ExportedRun:
    """Open a benchmark's folder.

    Args:
        folder: the folder.
        benchmark: the benchmark, if it is not one of ideagora's own.

    Raises:
        RunError: it is not the folder of a benchmark, or has no results yet.
        UsageError: the benchmark is not known.
    """
    record: BenchmarkFields = map_strings(RunFolder(folder, "").read() or {}, clean)
    results = read_results(folder, lambda content: map_strings(content, clean))
    if not results:
        raise RunError(f"{folder} has no results. Judge its ideas: ideagora bench score {folder}")
    if benchmark is None:
        options = record.get("options")
        own = options.get("benchmark", ()) if isinstance(options, Mapping) else ()
        benchmark = find_benchmark(results[0].benchmark, tuple(map(str, own)))
    log = VerdictLog(folder)
    return ExportedRun(
        benchmark=benchmark,
        record=record,
        results=results,
        columns=tuple(_columns(results)),
        ideas=IdeaLog(folder),
        log=log,
        places=ids_by_sample(log),
    )


def _columns(results: Sequence[BenchmarkResult]) -> Iterator[Column]:
    for result in results:
        for measure in result.measures:
            name = measure.name if len(results) == 1 else f"{measure.name} ({result.protocol})"
            yield Column(name, measure, result)


def _cleaned(verdict: Verdict) -> Verdict:
    """A verdict with its free texts as reports show them; a reason may name a folder of this machine."""
    return verdict.model_copy(
        update={
            "topic": clean(verdict.topic),
            "rationale": clean(verdict.rationale) if verdict.rationale else None,
            "reason": hide_folders(clean(verdict.reason)) if verdict.reason else None,
            "details": map_strings(verdict.details, clean),
        }
    )


def _cleaned_idea(idea: Idea) -> Idea:
    """An idea with the texts that are exported as reports show them."""
    texts = {name: getattr(idea, name) for name in ("topic", "title", "method", "motivation", "novelty")}
    cleaned = {name: None if text is None else clean(text) for name, text in texts.items()}
    plan = None if idea.experiment is None else map_strings(idea.experiment.model_dump(mode="json"), clean)
    experiment = None if plan is None else Experiment.model_validate(plan)
    return idea.model_copy(update={**cleaned, "experiment": experiment})
