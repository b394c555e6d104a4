"""A benchmark's folder as a log of Inspect (inspect_ai), written by its own writer.

One log sample per sample and agent; one score per measure. What is unscored has Inspect's unscored value
(nan) and the reason. Each score lists its verdicts. The log's metrics are the means by agent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Benchmark
from ideagora.evaluators.judging.asking import REFUSED, UNREADABLE
from ideagora.graphs.run_folder import folder_error
from ideagora.report.export.record import (
    NOT_JUDGED,
    BenchmarkRun,
    Cell,
    ScoreColumn,
    concerns,
    load_benchmark_run,
    missing_extra,
)
from ideagora.schema import Idea, Usage, Verdict, stable_id

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalScore, EvalSpec, EvalStats
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
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        raise missing_extra("inspect", "inspect") from None
    run = load_benchmark_run(folder, benchmark)
    file = out if out.suffix in SUFFIXES else out / f"{run.name}.eval"
    temporary = file.with_name(f".{file.stem}.new{file.suffix}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_eval_log(inspect_log(run), temporary)
        temporary.replace(file)
    except OSError as error:
        raise folder_error(file, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    return file


def inspect_log(run: BenchmarkRun) -> EvalLog:
    """The log of a benchmark's run."""
    from inspect_ai.log import EvalLog

    verdicts: dict[Cell, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts():
        for agent in dict.fromkeys(verdict.agents):
            verdicts[verdict.sample or "", agent].append(verdict)
    return EvalLog(
        status="success" if run.results[0].status == "complete" else "cancelled",
        eval=_spec(run),
        results=_results(run),
        stats=_stats(run),
        samples=[_sample(run, cell, verdicts.get(cell, [])) for cell in run.cells],
    )


def _spec(run: BenchmarkRun) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import ModelConfig

    result = run.results[0]
    agents = [row.agent for row in result.agents]
    return EvalSpec(
        eval_id=stable_id("inspect", run.id),
        run_id=run.id,
        created=run.started,
        task=run.name,
        task_id=stable_id("task", run.name),
        task_display_name=result.title,
        task_args={"protocol": [one.protocol for one in run.results], "seed": run.seed},
        dataset=EvalDataset(
            name=run.name, samples=len(run.cells), sample_ids=[_sample_id(cell) for cell in run.cells]
        ),
        model=", ".join(agents) or "none",
        model_roles={"grader": [ModelConfig(model=judge) for judge in result.judges]},
        config=EvalConfig(),
        packages={"ideagora": run.version} if run.version else {},
        metadata={
            "source": result.source,
            "agents": agents,
            "judges": list(result.judges),
            "status": result.status,
            "notes": list(result.notes),
        },
    )


def _sample_id(cell: Cell) -> str:
    return "/".join(cell)


def _sample(run: BenchmarkRun, cell: Cell, verdicts: Sequence[Verdict]) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput

    sample, agent = cell
    ideas = run.ideas_of(cell)
    topic, answer = run.topics.get(sample, ""), "\n\n".join(map(_idea_text, ideas))
    return EvalSample(
        id=_sample_id(cell),
        epoch=1,
        input=topic,
        target="",
        messages=[
            ChatMessageUser(id=stable_id("user", *cell), content=topic),
            ChatMessageAssistant(id=stable_id("assistant", *cell), content=answer),
        ],
        output=ModelOutput(model=ideas[0].model if ideas else "unknown", completion=answer),
        scores=dict(_scores(run.columns, cell, verdicts)),
        metadata={"sample": sample, "agent": agent, "ideas": list(run.cells[cell])},
        uuid=stable_id("sample", run.id, *cell),
    )


def _idea_text(idea: Idea) -> str:
    parts = [("Motivation", idea.motivation), ("Novelty", idea.novelty), ("Method", idea.method)]
    if idea.experiment is not None:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(idea.experiment.steps, 1))
        parts.append(("Experiment", steps))
    return "\n\n".join([f"# {idea.title}", *(f"## {name}\n{text}" for name, text in parts if text)])


def _scores(
    columns: Iterable[ScoreColumn], cell: Cell, verdicts: Sequence[Verdict]
) -> Iterator[tuple[str, Score]]:
    from inspect_ai.scorer import Score

    sample, agent = cell
    for column in columns:
        row = column.scores.get(agent, {})
        if sample not in row:
            continue
        about = [verdict for verdict in verdicts if concerns(verdict, column.measure)]
        value, metadata = row[sample], {"verdicts": [_verdict_record(verdict) for verdict in about]}
        if value is not None:
            reasons = "\n\n".join(f"{one.judge}: {one.rationale}" for one in about if one.rationale)
            yield column.name, Score(value=value, explanation=reasons or None, metadata=metadata)
        else:
            why = list(dict.fromkeys(one.reason for one in about if one.reason)) or [NOT_JUDGED]
            yield (
                column.name,
                Score.unscored(reason=_reason(why[0]), explanation="; ".join(why), metadata=metadata),
            )


def _reason(why: str) -> str:
    """Inspect's own word for the most frequent reasons."""
    words = {UNREADABLE: "invalid_response_format", REFUSED: "refusal"}
    return words.get(why.partition(":")[0], why)


def _verdict_record(verdict: Verdict) -> dict[str, Any]:
    fields = {"id", "judge", "subject", "criteria", "status", "reason", "order", "variant", "details"}
    return verdict.model_dump(mode="json", include=fields)


def _results(run: BenchmarkRun) -> EvalResults:
    from inspect_ai.log import EvalResults

    return EvalResults(
        total_samples=len(run.cells),
        completed_samples=len(run.cells),
        scores=[_mean_scores(run, column) for column in run.columns],
    )


def _mean_scores(run: BenchmarkRun, column: ScoreColumn) -> EvalScore:
    """The means of a measure by agent, as in the table."""
    from inspect_ai.log import EvalMetric, EvalScore

    result = next(one for one in run.results if one.protocol == column.protocol)
    metrics = {}
    for row in result.agents:
        figure = result.figure(row.agent, column.measure.name)
        if figure.mean is not None:
            interval = {"low": figure.low, "high": figure.high, "n": figure.n, "unscored": figure.unscored}
            metrics[row.agent] = EvalMetric(
                name=row.agent, group="mean", value=figure.mean, metadata=interval
            )
    values = [value for row in column.scores.values() for value in row.values()]
    return EvalScore(
        name=column.name,
        scorer=column.name,
        scored_samples=sum(value is not None for value in values),
        unscored_samples=sum(value is None for value in values),
        metrics=metrics,
        metadata={"title": column.measure.title, "unit": column.measure.unit, "protocol": column.protocol},
    )


def _stats(run: BenchmarkRun) -> EvalStats:
    from inspect_ai.log import EvalStats
    from inspect_ai.model import ModelUsage

    totals: defaultdict[str, Usage] = defaultdict(Usage)
    for verdict in run.log:
        totals[verdict.judge] += verdict.usage
    return EvalStats(
        started_at=run.started,
        completed_at=run.finished or "",
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
