"""Judges the ideas of a benchmark's folder again: with other judges or measures, or for the first time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Plan
from ideagora.benchmarks.registry import find_benchmark
from ideagora.benchmarks.results.records import AgentSummary, BenchmarkResult
from ideagora.benchmarks.running.folder import (
    AgentFields,
    BenchmarkFields,
    delete_judging,
    keep_earlier,
    load_finished,
    read_record,
)
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.benchmarks.running.judge import FolderIdeas, judge_ideas
from ideagora.benchmarks.running.records import BenchmarkResources, BenchmarkRun
from ideagora.config import Settings
from ideagora.errors import UsageError
from ideagora.evaluators.arena.entries.contestants import ResolvedContestants
from ideagora.evaluators.arena.entries.lineup import ContestantIdeas
from ideagora.graphs.generate import load_budget
from ideagora.graphs.run_folder import RunFolder
from ideagora.models.cache.retry_failed import keys_to_retry

KEPT = ("seed", "source", "full_text")
"""Settings of the run that also apply when its ideas are judged again."""


def load_run(
    folder: Path, settings: Settings, plans: Callable[[Benchmark[Any], Settings], tuple[Plan, ...]]
) -> BenchmarkRun:
    """The run of a folder with other plans, and with its own seed and sources unless the settings name some.

    Raises:
        UsageError: the folder has no benchmark run, its ideas are incomplete, or its data set has changed.
    """
    record = _record_of(folder)
    options = record["options"]
    settings = _with_settings_of(record, settings)
    benchmark_options = tuple(map(str, options.get("benchmark", ())))
    benchmark = find_benchmark(str(record["agent"]), benchmark_options)
    before = options.get("before")
    data = Path(recorded) if (recorded := record.get("data")) else None
    samples = benchmark.load(data).samples
    if lacking := [name for name in record["samples"] if name not in samples]:
        raise UsageError(
            f"The data set no longer has the sample {lacking[0]!r}, for which {folder} has ideas. Restore "
            "the data set, or run the benchmark again."
        )
    return BenchmarkRun(
        benchmark=benchmark,
        data_set=samples,
        samples={name: samples[name] for name in record["samples"]},
        contestants=_contestants(record),
        plans=tuple(replace(plan, before=before) for plan in plans(benchmark, settings)),
        ideas=int(options["ideas"]),
        epochs=int(options["epochs"]),
        settings=settings,
        data=data,
        before=before,
        generated_by=str(record.get("generated_by", record.get("id", ""))),
        generated=IdeaLog(folder).digest,
        spec=str(record["agent"]),
        benchmark_options=benchmark_options,
        notes=tuple(record.get("idea_notes", ())),
    )


def _record_of(folder: Path) -> BenchmarkFields:
    """The record of a benchmark run that has all its ideas.

    Raises:
        UsageError: there is none in the folder, or ideas are missing.
    """
    record = read_record(RunFolder(folder, ""))
    is_run = isinstance(record.get("options"), Mapping) and "samples" in record
    if not is_run or not (folder / "ideas.jsonl").exists():
        raise UsageError(
            f"{folder} is not the folder of a benchmark run. Make one: ideagora bench NAME AGENTS --no-score."
        )
    if outages := record.get("idea_outages"):
        raise UsageError(
            f"The ideas in {folder} are incomplete: {str(outages[0]).rstrip('.')}. Repeat the command that "
            "generates them first."
        )
    return record


def _with_settings_of(record: BenchmarkFields, settings: Settings) -> Settings:
    """The settings with those of the folder that judging depends on and that the command does not state."""
    recorded = {**(record.get("settings") or {}), "seed": record.get("seed", settings.seed)}
    names = [name for name in KEPT if name in recorded and name not in settings.model_fields_set]
    return settings.model_copy(update={name: recorded[name] for name in names})


def judged_already(run: BenchmarkRun, path: Path) -> tuple[BenchmarkResult, ...]:
    """The folder's results if they are those of the run's plans on its ideas; empty if they are not."""
    folder = RunFolder(path, "")
    if read_record(folder).get("judging") != run.judging_identity(run.generated or ""):
        return ()
    return load_finished(folder) or ()


def _contestants(record: BenchmarkFields) -> ResolvedContestants:
    """The contestants by name; their ideas are in the folder."""
    rows = record.get("contestants", ())
    return ResolvedContestants((), tuple(ContestantIdeas(one["agent"], one["source"], ()) for one in rows))


async def rescore(
    run: BenchmarkRun, path: Path, resources: BenchmarkResources
) -> tuple[BenchmarkResult, ...]:
    """Judge the ideas in the folder; earlier verdicts and results are renamed if the plan differs.

    Raises:
        BudgetExhausted: the budget is spent; the folder contains the results so far.
        IdeagoraError: a fatal error. Progress is saved; the same command resumes.
    """
    record = read_record(RunFolder(path, ""))
    before = str(record.get("id", ""))
    with RunFolder(path, run.identity, replaces=before) as folder:
        if resources.fresh and not run.settings.replay and (keys := keys_to_retry(folder.events())):
            folder.log({"event": "asked anew", "keys": keys})
        if before != run.identity and record.get("judging") == run.judging_identity(run.generated or ""):
            folder.delete_checkpoints()  # the same verdicts, which another command began
        elif before != run.identity:
            keep_earlier(folder, before)
        elif resources.fresh:
            delete_judging(folder)
        elif (finished := load_finished(folder)) is not None:
            return finished
        agents = [_summary(one) for one in record.get("contestants", ())]
        budget = load_budget(run.settings, [path])
        ideas = FolderIdeas(IdeaLog(path), agents, run.notes)
        return await judge_ideas(run, folder, ideas, resources, budget)


def _summary(row: AgentFields) -> AgentSummary:
    return AgentSummary(
        agent=row["agent"],
        source=row["source"],
        samples=row.get("samples"),
        ideas=row.get("ideas"),
        missing=dict(row.get("missing") or {}),
    )
