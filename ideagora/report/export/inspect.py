"""A benchmark's folder as logs of Inspect (inspect_ai), one per agent, written by its own writer.

One log sample per sample and epoch; one score per measure. What is unscored has Inspect's unscored value
(nan) and the reason. Each score lists its verdicts. The log's metrics are the agent's means as in the table.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ideagora.benchmarks.benchmark import Benchmark
from ideagora.evaluators.judging.asking import REFUSED, UNREADABLE
from ideagora.graphs.files import folder_error
from ideagora.report.export import require_library
from ideagora.report.export.record import (
    NOT_JUDGED,
    Cell,
    Column,
    ExportedRun,
    load_exported_run,
)
from ideagora.report.text_cleaning import hide_folders
from ideagora.schema import Idea, Usage, Verdict, stable_id

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalScore, EvalSpec, EvalStats
    from inspect_ai.scorer import Score

UsageByJudge = Mapping[str, Usage]
MAX_FILE_NAME = 100
"""Characters of an agent's name in a file's name."""
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


def export_inspect(folder: Path, out: Path, benchmark: Benchmark[Any] | None = None) -> Path:
    """Write an Inspect log per agent, ``<benchmark>-<agent>.eval``.

    A log is built in memory, so there is one per agent; its samples are kept on the disk until then.

    Args:
        folder: a benchmark's folder.
        out: the folder to write; logs of an earlier export are replaced.
        benchmark: the benchmark, if it is not one of ideagora's own.

    Returns:
        ``out``.

    Raises:
        UsageError: inspect_ai is not installed, or the benchmark is not known.
        RunError: the folder has no results, or a log cannot be written.
    """
    require_library("inspect")
    run = load_exported_run(folder, benchmark)
    name = run.results[0].benchmark
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".new-") as temporary:
            files, usage = _divide_by_agent(run, Path(temporary)), _usage(run)
            written = {
                f"{name}-{_file_name(agent, files)}.eval": _write_log(run, agent, file, usage[agent])
                for agent, file in files.items()
            }
            for old in out.glob(f"{name}*.eval"):
                old.unlink()
            for log, path in written.items():
                path.replace(out / log)
        return out
    except OSError as error:
        raise folder_error(out, error) from None


def _file_name(agent: str, agents: Iterable[str]) -> str:
    """The agent's name in characters of every file system; with an id if another agent has the same."""
    names = {one: _NOT_IN_NAMES.sub("-", one)[:MAX_FILE_NAME].casefold() for one in agents}
    is_alone = list(names.values()).count(names[agent]) == 1
    return names[agent] if is_alone else f"{names[agent]}-{stable_id(agent)}"


def _divide_by_agent(run: ExportedRun, folder: Path) -> dict[str, Path]:
    """Write the samples of each agent to a file of its own, in one pass over the verdicts; agent -> file."""
    files: dict[str, TextIO] = {}
    with ExitStack() as stack:
        for sample in run.samples:
            for cell in run.cells(sample, run.verdicts(sample)):
                if cell.agent not in files:
                    file = (folder / f"{len(files)}.jsonl").open("w", encoding="utf-8")
                    files[cell.agent] = stack.enter_context(file)
                files[cell.agent].write(f"{_sample(run, cell).model_dump_json()}\n")
    return {agent: Path(file.name) for agent, file in files.items()}


def _samples(file: Path) -> Iterator[EvalSample]:
    from inspect_ai.log import EvalSample

    with file.open(encoding="utf-8", newline="\n") as opened:
        for line in opened:
            yield EvalSample.model_validate_json(line)


def _write_log(run: ExportedRun, agent: str, file: Path, usage: UsageByJudge) -> Path:
    from inspect_ai.log import write_eval_log

    log = file.with_suffix(".eval")
    write_eval_log(inspect_log(run, agent, list(_samples(file)), usage), log)
    return log


def inspect_log(run: ExportedRun, agent: str, samples: list[EvalSample], usage: UsageByJudge) -> EvalLog:
    """The log of an agent's samples; ``usage`` is that of the questions about it."""
    from inspect_ai.log import EvalLog, EvalResults

    return EvalLog(
        status="success" if run.results[0].status == "complete" else "cancelled",
        eval=_spec(run, agent, samples),
        results=EvalResults(
            total_samples=len(samples),
            completed_samples=len(samples),
            scores=[_means(column, agent, samples) for column in run.columns],
        ),
        stats=_stats(run, usage),
        samples=samples,
    )


def _spec(run: ExportedRun, agent: str, samples: list[EvalSample]) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import ModelConfig

    result = run.results[0]
    ids = list(dict.fromkeys(sample.id for sample in samples))
    return EvalSpec(
        eval_id=stable_id("inspect", run.id, agent),
        run_id=run.id,
        created=run.started,
        task=result.benchmark,
        task_id=stable_id("task", result.benchmark),
        task_display_name=result.title,
        task_args={"protocol": [each.protocol for each in run.results], "seed": run.seed},
        dataset=EvalDataset(name=result.benchmark, samples=len(ids), sample_ids=ids),
        model=agent,
        model_roles={"grader": [ModelConfig(model=judge) for judge in result.judges]},
        config=EvalConfig(epochs=max((sample.epoch for sample in samples), default=1)),
        packages={"ideagora": run.version} if run.version else {},
        metadata={
            "source": result.source,
            "agents": [row.agent for row in result.agents],
            "judges": list(result.judges),
            "status": result.status,
            "notes": list(map(hide_folders, result.notes)),
        },
    )


def _sample(run: ExportedRun, cell: Cell) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput

    place = (cell.sample, cell.agent, str(cell.epoch))
    topics = [*(idea.topic for idea in cell.ideas), *(verdict.topic for verdict in cell.verdicts)]
    topic, answer = next(iter(topics), ""), "\n\n".join(map(_idea_text, cell.ideas))
    return EvalSample(
        id=cell.sample,
        epoch=cell.epoch,
        input=topic,
        target="",
        messages=[
            ChatMessageUser(id=stable_id("user", *place), content=topic),
            ChatMessageAssistant(id=stable_id("assistant", *place), content=answer),
        ],
        output=ModelOutput(model=cell.ideas[0].model if cell.ideas else "unknown", completion=answer),
        scores=dict(_scores(run, cell)),
        metadata={"sample": cell.sample, "agent": cell.agent, "ideas": [idea.id for idea in cell.ideas]},
        uuid=stable_id("sample", run.id, *place),
    )


def _idea_text(idea: Idea) -> str:
    parts = [("Motivation", idea.motivation), ("Novelty", idea.novelty), ("Method", idea.method)]
    if idea.experiment is not None:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(idea.experiment.steps, 1))
        parts.append(("Experiment", steps))
    return "\n\n".join([f"# {idea.title}", *(f"## {name}\n{text}" for name, text in parts if text)])


def _scores(run: ExportedRun, cell: Cell) -> Iterator[tuple[str, Score]]:
    from inspect_ai.scorer import Score

    records = {verdict.id: _verdict_record(verdict) for verdict in cell.verdicts}  # measures share them
    for column in run.columns:
        if column.name not in cell.scores:
            continue
        about = [verdict for verdict in cell.verdicts if column.concerns(verdict)]
        metadata = {"verdicts": [records[verdict.id] for verdict in about]}
        value = cell.scores[column.name]
        if value is not None:
            reasons = "\n\n".join(
                f"{verdict.judge}: {verdict.rationale}" for verdict in about if verdict.rationale
            )
            yield column.name, Score(value=value, explanation=reasons or None, metadata=metadata)
        else:
            why = list(dict.fromkeys(verdict.reason for verdict in about if verdict.reason)) or [NOT_JUDGED]
            explained = "; ".join(why)
            yield (
                column.name,
                Score.unscored(reason=_reason(why[0]), explanation=explained, metadata=metadata),
            )


def _reason(why: str) -> str:
    """Inspect's own word for the most frequent reasons."""
    words = {UNREADABLE: "invalid_response_format", REFUSED: "refusal"}
    return words.get(why.partition(":")[0], why)


def _verdict_record(verdict: Verdict) -> dict[str, Any]:
    fields = {"id", "judge", "subject", "criteria", "status", "reason", "order", "variant", "details"}
    return verdict.model_dump(mode="json", include=fields)


def _means(column: Column, agent: str, samples: list[EvalSample]) -> EvalScore:
    """The agent's mean on a measure, as in the table."""
    from inspect_ai.log import EvalMetric, EvalScore

    metrics = {}
    figure = column.result.figure(agent, column.measure.name)
    if figure.mean is not None:
        interval = {"low": figure.low, "high": figure.high, "n": figure.n, "unscored": figure.unscored}
        metrics["mean"] = EvalMetric(name="mean", value=figure.mean, metadata=interval)
    scores = [sample.scores.get(column.name) for sample in samples if sample.scores]
    counts = Counter(score.reason is None for score in scores if score)
    return EvalScore(
        name=column.name,
        scorer=column.name,
        scored_samples=counts[True],
        unscored_samples=counts[False],
        metrics=metrics,
        metadata={
            "title": column.measure.title,
            "unit": column.measure.unit,
            "protocol": column.result.protocol,
        },
    )


def _usage(run: ExportedRun) -> Mapping[str, UsageByJudge]:
    """Agent -> judge -> usage; that of a comparison counts for the agent shown first."""
    totals: dict[str, dict[str, Usage]] = defaultdict(lambda: defaultdict(Usage))
    for verdict in run.log:
        totals[verdict.agents[0]][verdict.judge] += verdict.usage
    return totals


def _stats(run: ExportedRun, totals: UsageByJudge) -> EvalStats:
    from inspect_ai.log import EvalStats
    from inspect_ai.model import ModelUsage

    return EvalStats(
        started_at=run.started,
        completed_at=run.record.get("finished") or "",
        model_usage={
            judge: ModelUsage(
                input_tokens=usage.prompt_tokens,
                output_tokens=usage.completion_tokens,
                total_tokens=usage.prompt_tokens + usage.completion_tokens,
                total_cost=usage.cost_usd,
            )
            for judge, usage in sorted(totals.items())
            if usage.calls
        },
    )
