"""A benchmark's folder as a log of Inspect (inspect_ai), written by its own writer.

One log sample per sample, agent and epoch; one score per measure. What is unscored has Inspect's unscored
value (nan) and the reason. Each score lists its verdicts. The log's metrics are the means by agent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Benchmark
from ideagora.evaluators.judging.asking import REFUSED, UNREADABLE
from ideagora.graphs.run_folder import folder_error
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

SUFFIXES = (".eval", ".json")


def export_inspect(folder: Path, out: Path, benchmark: Benchmark[Any] | None = None) -> Path:
    """Write an Inspect log.

    Args:
        folder: a benchmark's folder.
        out: a file ``*.eval`` or ``*.json``, or a folder, which gets ``<benchmark>.eval``.
        benchmark: the benchmark, if it is not one of ideagora's own.

    Returns:
        The log's file.

    Raises:
        UsageError: inspect_ai is not installed, or the benchmark is not known.
        RunError: the folder has no results, or the log cannot be written.
    """
    require_library("inspect")
    from inspect_ai.log import write_eval_log

    run = load_exported_run(folder, benchmark)
    file = out if out.suffix in SUFFIXES else out / f"{run.results[0].benchmark}.eval"
    temporary = file.with_name(f".{file.stem}.new{file.suffix}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_eval_log(inspect_log(run), temporary)
        temporary.replace(file)
        return file
    except OSError as error:
        raise folder_error(file, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def inspect_log(run: ExportedRun) -> EvalLog:
    """The log of a benchmark's run."""
    from inspect_ai.log import EvalLog, EvalResults

    samples = [
        _sample(run, cell) for sample in run.samples for cell in run.cells(sample, run.verdicts(sample))
    ]
    return EvalLog(
        status="success" if run.results[0].status == "complete" else "cancelled",
        eval=_spec(run, samples),
        results=EvalResults(
            total_samples=len(samples),
            completed_samples=len(samples),
            scores=[_means(column, samples) for column in run.columns],
        ),
        stats=_stats(run),
        samples=samples,
    )


def _spec(run: ExportedRun, samples: list[EvalSample]) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import ModelConfig

    result = run.results[0]
    agents = [row.agent for row in result.agents]
    ids = list(dict.fromkeys(sample.id for sample in samples))
    return EvalSpec(
        eval_id=stable_id("inspect", run.id),
        run_id=run.id,
        created=run.started,
        task=result.benchmark,
        task_id=stable_id("task", result.benchmark),
        task_display_name=result.title,
        task_args={"protocol": [each.protocol for each in run.results], "seed": run.seed},
        dataset=EvalDataset(name=result.benchmark, samples=len(ids), sample_ids=ids),
        model=", ".join(agents) or "none",
        model_roles={"grader": [ModelConfig(model=judge) for judge in result.judges]},
        config=EvalConfig(epochs=max((sample.epoch for sample in samples), default=1)),
        packages={"ideagora": run.version} if run.version else {},
        metadata={
            "source": result.source,
            "agents": agents,
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
        id=f"{cell.sample}/{cell.agent}",
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


def _means(column: Column, samples: list[EvalSample]) -> EvalScore:
    """The means of a measure by agent, as in the table."""
    from inspect_ai.log import EvalMetric, EvalScore

    metrics = {}
    for row in column.result.agents:
        figure = column.result.figure(row.agent, column.measure.name)
        if figure.mean is not None:
            interval = {"low": figure.low, "high": figure.high, "n": figure.n, "unscored": figure.unscored}
            metrics[row.agent] = EvalMetric(
                name=row.agent, group="mean", value=figure.mean, metadata=interval
            )
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


def _stats(run: ExportedRun) -> EvalStats:
    from inspect_ai.log import EvalStats
    from inspect_ai.model import ModelUsage

    totals: defaultdict[str, Usage] = defaultdict(Usage)
    for verdict in run.log:
        totals[verdict.judge] += verdict.usage
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
