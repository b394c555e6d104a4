"""Judges the ideas in a benchmark's folder and writes the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Measure, Plan
from ideagora.benchmarks.results.coverage import count_verdicts
from ideagora.benchmarks.results.records import (
    AgentSummary,
    BenchmarkResult,
    Status,
    write_results,
)
from ideagora.benchmarks.results.scoring import complete_verdicts, of_protocol, score_log
from ideagora.benchmarks.running.errors import errors_named
from ideagora.benchmarks.running.evaluation import BenchmarkEvaluation
from ideagora.benchmarks.running.folder import BenchmarkFields, reset_if_changed, run_record
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.benchmarks.running.records import BenchmarkResources, BenchmarkRun
from ideagora.errors import BudgetExhausted
from ideagora.evaluators.judging.run import JudgingResources, JudgingTask, run_judging
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.run_folder import RunFolder
from ideagora.models.budget import Budget
from ideagora.models.usage import UsageTracker
from ideagora.schema import Usage, Verdict

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library
    from ideagora.schema.events import Listener


@dataclass(frozen=True)
class FolderIdeas:
    """The ideas in a folder, and what is known about them."""

    log: IdeaLog
    agents: Sequence[AgentSummary]
    notes: Sequence[str]
    down: tuple[str, ...] = ()
    """Outages while they were generated."""


async def judge_ideas(
    run: BenchmarkRun, folder: RunFolder, ideas: FolderIdeas, resources: BenchmarkResources, budget: Budget
) -> tuple[BenchmarkResult, ...]:
    """Judge the ideas in an open folder and return one result per protocol, which are also written.

    Raises:
        BudgetExhausted: the budget is spent; the results so far are written.
        IdeagoraError: a fatal error. Progress is saved; the same command resumes.
    """
    reset_if_changed(folder, ideas.log)
    with errors_named(run.benchmark, "prepare"):
        prepared = run.benchmark.prepare(run.data_set, resources.embedder, run.plans[0])
    evaluation = BenchmarkEvaluation(run.benchmark, run.samples, ideas.log, run.plans, prepared)
    resources.listener({"event": "arena", "stage": "comparisons", "total": evaluation.count(),
                        "judges": list(run.judges)})  # fmt: skip
    scoring = _Scoring(run, folder, ideas, evaluation)
    means = JudgingResources(
        resources.embedder,
        resources.listener,
        resources.chats,
        budget,
        library=_literature(run, resources),
    )
    try:
        await run_judging(
            _task(run, ideas),
            evaluation,
            folder,
            scoring.finish,
            means,
            _verdict_listener(resources.listener),
        )
    except BudgetExhausted:
        scoring.write("budget", None, ())
        raise
    return tuple(scoring.results)


def _task(run: BenchmarkRun, ideas: FolderIdeas) -> JudgingTask:
    return JudgingTask(
        name=run.benchmark.name,
        identity=run.identity,
        settings=run.settings,
        models=run.models,
        record=run_record(run, ideas.agents, ideas.notes, ideas.log.digest, ideas.down),
        questions=None,
        down=ideas.down,
    )


def _literature(run: BenchmarkRun, resources: BenchmarkResources) -> Library | None:
    """The library, if a question uses it."""
    groups = run.benchmark.literature
    is_used = any(plan.includes(group) for plan in run.plans for group in groups)
    return resources.library()[0] if is_used else None


def _verdict_listener(listener: Listener) -> Callable[[Verdict], None]:
    def on_verdict(verdict: Verdict) -> None:
        listener({"event": "verdict", "judge": verdict.judge, "status": verdict.status,
                  "reason": verdict.reason, "kind": verdict.kind, "standing": []})  # fmt: skip

    return on_verdict


@dataclass
class _Scoring:
    """Computes the results from the verdicts in a folder, and writes them."""

    run: BenchmarkRun
    folder: RunFolder
    ideas: FolderIdeas
    evaluation: BenchmarkEvaluation
    results: list[BenchmarkResult] = field(default_factory=list)

    def finish(
        self, state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]
    ) -> BenchmarkFields:
        """Write the results at the end of the judging; returns what ``run.json`` records of it."""
        self.write("incomplete" if down else "complete", tracker, down)
        verdicts = len(VerdictLog(self.folder.path))
        return {"verdicts": verdicts, "offline": self.run.judges == ("offline",)}

    def write(self, status: Status, tracker: UsageTracker | None, down: Sequence[str]) -> None:
        """Write one result per protocol; ``down`` lists outages."""
        log = VerdictLog(self.folder.path)
        self.results = [self._result(log, plan, status, tracker, down) for plan in self.run.plans]
        write_results(self.folder.path, self.results)

    def _result(
        self, log: VerdictLog, plan: Plan, status: Status, tracker: UsageTracker | None, down: Sequence[str]
    ) -> BenchmarkResult:
        from ideagora.benchmarks.results.lengths import idea_lengths  # numpy, which no call needs
        from ideagora.benchmarks.results.summary import build_result

        run, benchmark = self.run, self.run.benchmark
        unasked = {} if status == "complete" else self.evaluation.unasked(log, plan.protocol)
        with errors_named(benchmark, "scores"):
            scores = score_log(benchmark, log, plan, unasked)
        known = BenchmarkResult(
            benchmark=benchmark.name,
            title=benchmark.title,
            source=benchmark.source,
            protocol=plan.protocol,
            status=status,
            n_samples=len(run.samples),
            judges=plan.judges,
            agents=tuple(self.ideas.agents),
            measures=tuple(_measures(run, plan)),
            wording=benchmark.wording,
            lengths=idea_lengths(complete_verdicts(log, plan, unasked)),
            coverage=count_verdicts(of_protocol(log, plan), unasked),
            usage=None if tracker is None else _total(tracker),
            notes=(
                *down, *self.ideas.notes, *benchmark.notes(complete_verdicts(log, plan, unasked), plan)
            ),
        )  # fmt: skip
        return build_result(known, scores, _categories(run))


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
