"""A benchmark's folder: its record, whether it is finished, and what is deleted before it begins again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

from ideagora.benchmarks.results.records import (
    RESULTS_FILE,
    AgentSummary,
    BenchmarkResult,
    read_results,
)
from ideagora.benchmarks.running.idea_log import IDEAS_FILE, IdeaLog
from ideagora.benchmarks.running.records import BenchmarkRun
from ideagora.config import Settings
from ideagora.errors import RunError
from ideagora.evaluators.judging.verdict_files import VERDICTS_FILE
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.run_folder import RunFolder, now
from ideagora.graphs.runtime.run_record import IDENTITY_FIELDS
from ideagora.models.cache.retry_failed import keys_to_retry

REPORT_FILES = ("report.html", "report.md", "results.csv", "comparisons.csv", "categories.csv", "results.tex")
"""Files that ``report/bench`` writes, besides ``plots/``."""


class OptionFields(TypedDict, total=False):
    """The options of a benchmark's run in ``run.json``."""

    judges: list[str]
    protocols: list[str]
    only: list[str]
    ideas: int
    epochs: int
    benchmark: list[str]
    """The benchmark's own options, as ``NAME=VALUE``."""
    before: str | None


class AgentFields(TypedDict):
    """An agent of a benchmark's run in ``run.json``."""

    agent: str
    source: str
    samples: int | None
    ideas: int | None
    missing: dict[str, int]
    """Reasons why it has no idea -> number of samples."""


class BenchmarkFields(RunFields, total=False):
    """The fields of a benchmark in ``run.json``."""

    generated_by: str
    created: str
    options: OptionFields
    data: str | None
    samples: list[str]
    contestants: list[AgentFields]
    entries: str
    """Digest of the ideas."""
    judging: str
    """Identity of the verdicts."""
    idea_notes: list[str]
    idea_outages: list[str]
    """Notes and outages while the ideas were generated."""
    verdicts: int


def read_record(folder: RunFolder) -> BenchmarkFields:
    """``run.json`` of a benchmark's folder; empty if there is none."""
    return cast("BenchmarkFields", folder.read() or {})


def run_record(
    run: BenchmarkRun, agents: Sequence[AgentSummary], notes: Sequence[str], digest: str, down: Sequence[str]
) -> BenchmarkFields:
    """The fields of a benchmark in ``run.json``."""
    plan = run.plans[0]
    return {
        "generated_by": run.generated_by or run.identity,
        "topic": {"text": f"{run.benchmark.title}, {len(run.samples)} samples"},
        "agent": run.spec or run.benchmark.name,
        "options": {
            "judges": list(plan.judges),
            "protocols": [one.protocol for one in run.plans],
            "only": list(plan.only),
            "ideas": run.ideas,
            "epochs": run.epochs,
            "benchmark": list(run.benchmark_options),
            "before": run.before,
        },
        "data": None if run.data is None else str(run.data.absolute()),
        "samples": list(run.samples),
        "contestants": [
            {
                "agent": one.agent,
                "source": one.source,
                "samples": one.samples,
                "ideas": one.ideas,
                "missing": dict(one.missing),
            }
            for one in agents
        ],
        "entries": digest,
        "judging": run.judging_identity(digest),
        "idea_notes": list(notes),
        "idea_outages": list(down),
        "notes": list(notes),
    }


def record_ideas(
    run: BenchmarkRun,
    folder: RunFolder,
    agents: Sequence[AgentSummary],
    notes: Sequence[str],
    down: tuple[str, ...],
) -> None:
    """Record a folder whose ideas are not judged yet."""
    previous = read_record(folder)
    record: BenchmarkFields = {
        "id": run.identity,
        "created": previous.get("created", now()),
        **run_record(run, agents, notes, IdeaLog(folder.path).digest, down),
        "settings": run.settings.model_dump(mode="json", include=set(IDENTITY_FIELDS)),
        "seed": run.settings.seed,
        "status": "incomplete" if down else "generated",
        "outages": list(down),
        "finished": now(),
    }
    folder.write(record)


def load_finished(folder: RunFolder) -> tuple[BenchmarkResult, ...] | None:
    """The results of a finished benchmark; ``None`` if it is not finished, or a file has changed since."""
    record = read_record(folder)
    complete = record.get("status") == "done" and (folder.path / RESULTS_FILE).exists()
    if not complete or record.get("ideas_sha256") != folder.ideas_hash():
        return None
    if len(VerdictLog(folder.path)) != record.get("verdicts"):
        folder.delete_checkpoints()
        return None
    try:
        return read_results(folder.path)
    except RunError:
        return None


def reset(folder: RunFolder, settings: Settings) -> None:
    """Delete ideas and results. Answered calls stay cached; unreadable answers are requested again."""
    keys = [] if settings.replay else keys_to_retry(folder.events())
    folder.clear()
    if keys:
        folder.log({"event": "asked anew", "keys": keys})
    (folder.path / IDEAS_FILE).unlink(missing_ok=True)
    delete_judging(folder)


def delete_judging(folder: RunFolder) -> None:
    """Delete verdicts and results, and where the judging stopped."""
    folder.delete_checkpoints()
    for name in (RESULTS_FILE, VERDICTS_FILE):
        (folder.path / name).unlink(missing_ok=True)
    _delete_reports(folder)


def _delete_reports(folder: RunFolder) -> None:
    """Delete what was written from the results, so that no page shows figures of another plan."""
    for name in REPORT_FILES:
        (folder.path / name).unlink(missing_ok=True)
    for plot in (folder.path / "plots").glob("*"):
        plot.unlink()


def reset_if_changed(folder: RunFolder, ideas: IdeaLog) -> None:
    """Delete checkpoints and verdicts if the ideas have changed since the last attempt."""
    if read_record(folder).get("entries") != ideas.digest:
        folder.delete_checkpoints()
        (folder.path / VERDICTS_FILE).unlink(missing_ok=True)


def keep_earlier(folder: RunFolder, identity: str) -> None:
    """Rename verdicts and results of another plan, so that the next one begins without them.

    An empty file is from an attempt that was stopped before it began: those of the other plan are renamed.
    """
    for name in (VERDICTS_FILE, RESULTS_FILE):
        file = folder.path / name
        if file.exists() and file.stat().st_size:
            stem, _, suffix = name.partition(".")
            file.rename(folder.path / f"{stem}.{identity}.{suffix}")
    folder.delete_checkpoints()
    _delete_reports(folder)
