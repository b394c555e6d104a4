"""Judges the ideas in a benchmark's folder and writes the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ideagora.benchmarks.benchmark import Measure, Plan
from ideagora.benchmarks.results.coverage import Unasked, count_verdicts
from ideagora.benchmarks.results.lengths import idea_lengths
from ideagora.benchmarks.results.records import (
    AgentSummary,
    BenchmarkResult,
    Status,
    write_results,
)
from ideagora.benchmarks.results.scoring import complete_verdicts, of_protocol, score_log
from ideagora.benchmarks.results.summary import build_result
from ideagora.benchmarks.running.errors import errors_named
from ideagora.benchmarks.running.evaluation import BenchmarkEvaluation
from ideagora.benchmarks.running.folder import reset_if_changed, run_record
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.benchmarks.running.records import BenchmarkResources, BenchmarkRun
from ideagora.errors import BudgetExhausted
from ideagora.evaluators.judging.run import JudgingResources, JudgingTask, run_judging
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.run_folder import RunFolder
from ideagora.models.budget import Budget
from ideagora.models.usage import UsageTracker
from ideagora.schema import Usage, Verdict


async def judge_ideas(
    run: BenchmarkRun,
    folder: RunFolder,
    ideas: IdeaLog,
    agents: Sequence[AgentSummary],
    notes: Sequence[str],
    resources: BenchmarkResources,
    budget: Budget,
    down: tuple[str, ...] = (),
) -> tuple[BenchmarkResult, ...]:
    """Judge the ideas in an open folder; ``down`` lists outages while they were generated."""
    reset_if_changed(folder, ideas)
    with errors_named(run.benchmark, "prepare"):
        prepared = run.benchmark.prepare(run.data_set, resources.embedder, run.plans[0])
    evaluation = BenchmarkEvaluation(run.benchmark, run.samples, ideas, run.plans, prepared)
    resources.listener({"event": "arena", "stage": "comparisons", "total": evaluation.count(),
                        "judges": list(run.judges)})  # fmt: skip
    results: list[BenchmarkResult] = []

    def score(status: Status, tracker: UsageTracker | None, down: Sequence[str]) -> None:
        log = VerdictLog(folder.path)
        results[:] = [
            _result(
                run,
                log,
                plan,
                agents,
                (*down, *notes),
                status,
                tracker,
                unasked={} if status == "complete" else evaluation.unasked(log, plan.protocol),
            )
            for plan in run.plans
        ]
        write_results(folder.path, results)

    def finish(state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]) -> dict[str, Any]:
        score("incomplete" if down else "complete", tracker, down)
        return {"verdicts": len(VerdictLog(folder.path)), "offline": run.judges == ("offline",)}

    def on_verdict(verdict: Verdict) -> None:
        resources.listener({"event": "verdict", "judge": verdict.judge, "status": verdict.status,
                            "reason": verdict.reason, "kind": verdict.kind, "standing": []})  # fmt: skip

    library = None
    if any(plan.includes(group) for plan in run.plans for group in run.benchmark.literature):
        library = resources.library()[0]
    task = JudgingTask(
        name=run.benchmark.name,
        identity=run.identity,
        settings=run.settings,
        models=run.models,
        record=run_record(run, agents, notes, ideas.digest, down),
        questions=None,
        down=down,
    )
    means = JudgingResources(resources.embedder, resources.listener, resources.chats, budget, library)
    try:
        await run_judging(task, evaluation, folder, finish, means, on_verdict)
    except BudgetExhausted:
        score("budget", None, ())
        raise
    return tuple(results)


def _result(
    run: BenchmarkRun,
    log: VerdictLog,
    plan: Plan,
    agents: Sequence[AgentSummary],
    notes: Sequence[str],
    status: Status,
    tracker: UsageTracker | None,
    unasked: Unasked,
) -> BenchmarkResult:
    benchmark = run.benchmark
    with errors_named(benchmark, "scores"):
        scores = score_log(benchmark, log, plan, unasked)
    return build_result(
        scores,
        _measures(run, plan),
        benchmark=benchmark.name,
        title=benchmark.title,
        source=benchmark.source,
        protocol=plan.protocol,
        n_samples=len(run.samples),
        agents=agents,
        judges=plan.judges,
        coverage=count_verdicts(of_protocol(log, plan), unasked),
        usage=None if tracker is None else _total(tracker),
        notes=(*notes, *benchmark.notes(complete_verdicts(log, plan, unasked), plan)),
        status=status,
        categories=_categories(run),
        lengths=idea_lengths(complete_verdicts(log, plan, unasked)),
    )


def _categories(run: BenchmarkRun) -> dict[str, str]:
    named = {name: run.benchmark.category(sample) for name, sample in run.samples.items()}
    return {name: category for name, category in named.items() if category is not None}


def _measures(run: BenchmarkRun, plan: Plan) -> list[Measure]:
    """The measures that are computed: those of the plan, with one idea those that need no more."""
    return [
        one
        for one in run.benchmark.measures_of(plan.protocol)
        if plan.includes(one.group) and (run.ideas > 1 or not one.several_ideas)
    ]


def _total(tracker: UsageTracker) -> Usage:
    return sum((one.usage for _, one in sorted(tracker.answers_by_label.items())), Usage())
