"""Runs a benchmark from start to end: generate ideas, ask the judges, write the results.

Besides the files of every run folder, the folder contains ``runs/`` (runs of the agents), ``ideas.jsonl``
(with sample and epoch), ``verdicts.jsonl`` and ``results.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Benchmark, Plan
from ideagora.benchmarks.evaluation import BenchmarkEvaluation
from ideagora.benchmarks.idea_log import IDEAS_FILE, IdeaLog, label_idea, write_ideas
from ideagora.benchmarks.results import (
    RESULTS_FILE,
    AgentSummary,
    BenchmarkResult,
    Status,
    read_results,
    write_results,
)
from ideagora.benchmarks.scoring import of_protocol, score_log
from ideagora.benchmarks.summary import build_result, count_verdicts
from ideagora.config import Settings
from ideagora.errors import BudgetExhausted, RunError
from ideagora.evaluators.arena.contestants import ResolvedContestants
from ideagora.evaluators.arena.lineup import ContestantIdeas, topic_key
from ideagora.evaluators.generation import (
    AgentRun,
    RunResult,
    agent_run,
    literature_notes,
    outage_lines,
    run_agents,
)
from ideagora.evaluators.judging.run import JudgingResources, JudgingTask, run_judging
from ideagora.evaluators.judging.verdict_files import VERDICTS_FILE
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.generate import load_budget
from ideagora.graphs.plain_model.refusals import refusal_notes
from ideagora.graphs.run_folder import RunFolder, now
from ideagora.graphs.run_record import identity_parts
from ideagora.graphs.task import Task
from ideagora.importing.records import Problem
from ideagora.models.budget import Budget
from ideagora.models.cache.answers import ResponseCache
from ideagora.models.cache.retry_failed import RETRIED, keys_to_retry
from ideagora.models.client import LLMClient
from ideagora.models.usage import UsageTracker
from ideagora.schema import Idea, Topic, Usage, Verdict, stable_id

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.evaluators.generation import OpenLibrary
    from ideagora.graphs.events import Listener
    from ideagora.models.embeddings.embedder import Embedder

MOST_PROBLEMS = 5
"""Maximum number of rows of a data set that are reported one by one."""
MAX_QUESTIONS = 100_000_000
"""Upper bound of the number of questions."""


@dataclass(frozen=True)
class BenchmarkRun:
    """A benchmark, the samples, the contestants and the settings."""

    benchmark: Benchmark[Any]
    data_set: Mapping[str, Any]
    """All samples of the data set, among which questions may look for other papers."""
    samples: Mapping[str, Any]
    """The chosen ones, which the agents get."""
    contestants: ResolvedContestants
    plans: tuple[Plan, ...]
    """One for each protocol; the first one is the main one."""
    ideas: int
    """Maximum number of ideas per agent, sample and epoch that are judged."""
    epochs: int
    settings: Settings
    judged: bool = True
    """Whether the judges are asked; ``False``: the ideas are only generated."""
    notes: tuple[str, ...] = ()
    """Such as rows of the data set that are no samples."""
    data: Path | None = None
    """The data set; ``None``: the shipped one."""
    before: str | None = None
    excluded: tuple[str, ...] = ()
    """Cut-off and exclusions in addition to those of the samples."""
    with_sources: bool = False
    """Whether the agents may read the sources of the settings besides the inspirations."""
    spec: str = ""
    """How the user named the benchmark, if it is from outside."""
    benchmark_options: tuple[str, ...] = ()
    """The benchmark's own options, as ``NAME=VALUE``."""
    generated_by: str = ""
    """The identity of the command that generated the ideas which are judged again."""
    generated: str | None = None
    """Digest of existing ideas that are judged; in the identity in place of the contestants."""

    def topic(self, sample: str) -> Topic:
        """What the agents get for a sample: its topic, with the cut-off and exclusions of the command."""
        topic = self.benchmark.topic(self.samples[sample])
        before = min(filter(None, (topic.before, self.before)), default=None)
        return topic.model_copy(update={"before": before, "excluded": (*topic.excluded, *self.excluded)})

    @property
    def identity(self) -> str:
        """Identifies the folder: the same for the same command."""
        plans = [f"{plan.protocol} {plan.judges} {sorted(plan.only)} {plan.seed}" for plan in self.plans]
        return stable_id(
            "benchmark", *self._members, *plans, str(self.judged), *identity_parts(self.settings, self.models)
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The models that judge."""
        return tuple(dict.fromkeys(judge for plan in self.plans for judge in plan.judges))

    @property
    def _members(self) -> Iterator[str]:
        yield from (self.benchmark.name, str(self.ideas), str(self.epochs), str(self.before), *self.excluded)
        yield str(self.with_sources)
        yield from sorted(self.benchmark_options)
        if self.generated is not None:
            yield self.generated
        yield stable_id(*self.samples)
        yield stable_id(*(f"{name} {sample!r}" for name, sample in self.data_set.items()))
        yield from sorted(
            f"{one.name} {one.agent.name} {one.agent.fingerprint}" for one in self.contestants.agents
        )
        for one in self.contestants.idea_sets:
            yield f"{one.name} {stable_id(*(idea.model_dump_json() for idea in one.ideas))}"


@dataclass(frozen=True)
class PlannedRun:
    """A run of an agent on a sample."""

    run: AgentRun
    sample: str
    epoch: int


@dataclass(frozen=True)
class BenchmarkResources:
    """What the run uses of the command; ``fresh`` judges again."""

    library: OpenLibrary
    embedder: Callable[[], Embedder]
    listener: Listener
    chats: Mapping[str, BaseChatModel] | None = None
    fresh: bool = False


@dataclass
class _Generated:
    """What became of the agents' runs: numbers and reasons, not texts."""

    results: dict[int, RunResult] = field(default_factory=dict)

    def add(self, position: int, result: RunResult) -> None:
        """Keep the reasons of a run that has no ideas."""
        self.results[position] = RunResult((), result.missing, result.down)


async def run_benchmark(
    run: BenchmarkRun, path: Path, resources: BenchmarkResources
) -> tuple[BenchmarkResult, ...]:
    """Run the benchmark and return one result per protocol, which are also written to the folder.

    Without judges (``run.judged``), there are no results. Their status is ``incomplete`` if a provider or
    source was down; the same command resumes.

    Raises:
        BudgetExhausted: the budget is spent; the folder contains the results so far.
        IdeagoraError: a fatal error. Progress is saved; the same command resumes.
    """
    record = RunFolder(path, "").read() or {}
    scored = str(record.get("id")) if record.get("generated_by") == run.identity else run.identity
    with RunFolder(path, run.identity, replaces=scored) as folder:
        if scored != run.identity:  # judged again since, by ``ideagora bench score``
            if not run.judged:
                return ()
            keep_earlier(folder, scored)
        if resources.fresh:
            reset(folder, run.settings)
        elif (finished := load_finished(folder)) is not None:
            return finished
        planned, unread = await _plan_runs(run, path, resources)
        runs = [one.run for one in planned]
        budget = load_budget(run.settings, [path, *(one.folder for one in runs)])
        await _check_judges(run, resources, budget)
        generated = _Generated()
        await run_agents(runs, resources.library, resources.listener, generated.add, resources.chats, budget)
        results = [generated.results[position] for position in range(len(runs))]
        write_ideas(path, _all_ideas(run, planned, results))
        log = IdeaLog(path)
        down = outage_lines(runs, results)
        summaries = _summaries(run, planned, results, log)
        refused = refusal_notes((one.name, one.folder) for one in runs if one.task.agent.model is not None)
        notes = (*run.notes, *unread, *run.contestants.notes, *literature_notes(runs), *refused)
        if not run.judged:
            _record_ideas(run, folder, summaries, notes, down)
            return ()
        return await judge_ideas(run, folder, log, summaries, notes, resources, budget, down)


async def _check_judges(run: BenchmarkRun, resources: BenchmarkResources, budget: Budget) -> None:
    """Raise the error of a judge without a key, a name or a price before anything is paid for ideas."""
    if not run.judged:
        return
    client = LLMClient(
        run.settings,
        cache=ResponseCache.for_home(run.settings.home),
        tracker=UsageTracker(),
        chats=resources.chats,
        embedder=resources.embedder,
        run_id=run.identity,
        budget=budget,
    )
    try:
        await client.check(run.models)
    finally:
        await client.aclose()


async def _plan_runs(
    run: BenchmarkRun, path: Path, resources: BenchmarkResources
) -> tuple[list[PlannedRun], tuple[str, ...]]:
    """The agents' runs by sample, and notes on inspirations that could not be read.

    Every agent gets the same literature: the inspirations of the sample, or these and the sources that the
    user has chosen.
    """
    planned: list[PlannedRun] = []
    problems: list[Problem] = []
    for name, sample in run.samples.items() if run.contestants.agents else ():
        papers, unread = await run.benchmark.papers(sample, lambda: resources.library()[0], run.settings.home)
        problems += unread
        topic, given = run.topic(name), None if papers is None else tuple(papers)
        if given is not None:  # the data set need not state their ids
            topic = topic.model_copy(update={"inspirations": tuple(paper.id for paper in given)})
        for one in run.contestants.agents:
            agent = run.benchmark.agent(one.agent, run.ideas, run.plans[0])
            for epoch in range(1, run.epochs + 1):
                settings = run.settings.model_copy(update={"seed": run.settings.seed + epoch - 1})
                task = Task(topic, agent, agent.options, settings, given, run.with_sources)
                planned.append(PlannedRun(agent_run(one.name, task, path), name, epoch))
    return planned, tuple(problem_notes(problems, "inspiration not read"))


def problem_notes(problems: Sequence[Problem], what: str) -> Iterator[str]:
    """The first problems as notes, and the number of the others."""
    yield from (f"{what}: {problem}" for problem in problems[:MOST_PROBLEMS])
    if len(problems) > MOST_PROBLEMS:
        yield f"{what}: {len(problems) - MOST_PROBLEMS} more"


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
    _reset_if_changed(folder, ideas)
    prepared = run.benchmark.prepare(run.data_set, resources.embedder, run.plans[0])
    evaluation = BenchmarkEvaluation(run.benchmark, run.samples, ideas, run.plans, prepared)
    resources.listener({"event": "arena", "stage": "comparisons", "total": evaluation.count(),
                        "judges": list(run.models)})  # fmt: skip
    results: list[BenchmarkResult] = []

    def score(status: Status, tracker: UsageTracker | None, down: Sequence[str]) -> None:
        results[:] = [
            _result(run, folder.path, plan, agents, (*down, *notes), status, tracker) for plan in run.plans
        ]
        write_results(folder.path, results)

    def finish(state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]) -> dict[str, Any]:
        score("incomplete" if down else "complete", tracker, down)
        return {"verdicts": len(VerdictLog(folder.path)), "offline": run.models == ("offline",)}

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
        record=_record(run, agents, notes, ideas.digest, down),
        questions=MAX_QUESTIONS,
        down=down,
    )
    means = JudgingResources(resources.embedder, resources.listener, resources.chats, budget, library)
    try:
        await run_judging(task, evaluation, folder, finish, means, on_verdict)
    except BudgetExhausted:
        score("budget", None, ())
        raise
    return tuple(results)


def _all_ideas(
    run: BenchmarkRun, planned: Sequence[PlannedRun], results: Sequence[RunResult]
) -> Iterator[Idea]:
    """The ideas by sample, epoch and contestant, read from the folders of the runs one by one."""
    of_sample: dict[str, list[PlannedRun]] = {}
    for one, result in zip(planned, results, strict=True):
        if result.missing is None:
            of_sample.setdefault(one.sample, []).append(one)
    imported = [(one.name, _by_sample(one, run)) for one in run.contestants.idea_sets]
    for sample in run.samples:
        for one in of_sample.get(sample, ()):
            made = RunFolder(one.run.folder, "").finished_ideas() or []
            for idea in made[: run.ideas]:
                yield label_idea(idea, one.run.name, sample, one.epoch)
        for name, ideas in imported:
            for idea in ideas.get(sample, ())[: run.ideas]:
                yield label_idea(idea, name, sample, 1)


def _by_sample(idea_set: ContestantIdeas, run: BenchmarkRun) -> dict[str, list[Idea]]:
    """Existing ideas by sample: by the sample that an idea names, or else all samples with its topic."""
    by_topic: dict[str, list[str]] = {}
    for name in run.samples:
        by_topic.setdefault(topic_key(run.topic(name).text), []).append(name)
    found: dict[str, list[Idea]] = {}
    for idea in idea_set.ideas:
        named = str(idea.extra.get("sample", idea.extra.get("imported", {}).get("sample", "")))
        names = [named] if named in run.samples else by_topic.get(topic_key(idea.topic), ())
        for name in names:
            found.setdefault(name, []).append(idea)
    return found


def _summaries(
    run: BenchmarkRun, planned: Sequence[PlannedRun], results: Sequence[RunResult], log: IdeaLog
) -> list[AgentSummary]:
    """What every contestant is judged on, with reasons for what is missing."""
    missing: dict[str, Counter[str]] = {name: Counter() for name in run.contestants.names}
    for one, result in zip(planned, results, strict=True):
        if result.missing is not None:
            missing[one.run.name][result.missing] += 1
    samples: dict[str, set[str]] = {name: set() for name in run.contestants.names}
    ideas: Counter[str] = Counter()
    for (sample, agent, _), number in log.counts.items():
        samples[agent].add(sample)
        ideas[agent] += number
    sources = {one.name: one.agent.source for one in run.contestants.agents}
    for idea_set in run.contestants.idea_sets:
        sources[idea_set.name] = idea_set.source
        if without := len(run.samples) - len(samples[idea_set.name]):
            missing[idea_set.name]["no idea has this sample's id or topic"] += without
    return [
        AgentSummary(
            agent=name,
            source=sources[name],
            samples=len(samples[name]),
            ideas=ideas[name],
            missing=dict(missing[name]),
        )
        for name in run.contestants.names
    ]


def _result(
    run: BenchmarkRun,
    path: Path,
    plan: Plan,
    agents: Sequence[AgentSummary],
    notes: Sequence[str],
    status: Status,
    tracker: UsageTracker | None,
) -> BenchmarkResult:
    benchmark, log = run.benchmark, VerdictLog(path)
    return build_result(
        score_log(benchmark, log, plan),
        [one for one in benchmark.measures_of(plan.protocol) if plan.includes(one.group)],
        benchmark=benchmark.name,
        title=benchmark.title,
        source=benchmark.source,
        protocol=plan.protocol,
        n_samples=len(run.samples),
        agents=agents,
        judges=plan.judges,
        coverage=count_verdicts(of_protocol(log, plan)),
        usage=None if tracker is None else _total(tracker),
        notes=(*notes, *benchmark.notes(of_protocol(log, plan), plan)),
        status=status,
    )


def _total(tracker: UsageTracker) -> Usage:
    return sum((one.usage for _, one in sorted(tracker.answers_by_label.items())), Usage())


def _record(
    run: BenchmarkRun, agents: Sequence[AgentSummary], notes: Sequence[str], digest: str, down: Sequence[str]
) -> dict[str, Any]:
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
        "idea_notes": list(notes),
        "idea_outages": list(down),
        "notes": list(notes),
    }


def _record_ideas(
    run: BenchmarkRun,
    folder: RunFolder,
    agents: Sequence[AgentSummary],
    notes: Sequence[str],
    down: tuple[str, ...],
) -> None:
    """Record a folder whose ideas are not judged yet."""
    previous = folder.read() or {}
    folder.write(
        {
            "id": run.identity,
            "created": previous.get("created", now()),
            **_record(run, agents, notes, IdeaLog(folder.path).digest, down),
            "seed": run.settings.seed,
            "status": "incomplete" if down else "generated",
            "outages": list(down),
            "finished": now(),
        }
    )


def load_finished(folder: RunFolder) -> tuple[BenchmarkResult, ...] | None:
    """The results of a finished benchmark; ``None`` if it is not finished, or a file has changed since."""
    record = folder.read() or {}
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
        folder.log({"event": RETRIED, "keys": keys})
    (folder.path / IDEAS_FILE).unlink(missing_ok=True)
    delete_judging(folder)


def delete_judging(folder: RunFolder) -> None:
    """Delete verdicts and results, and where the judging stopped."""
    folder.delete_checkpoints()
    for name in (RESULTS_FILE, VERDICTS_FILE):
        (folder.path / name).unlink(missing_ok=True)


def _reset_if_changed(folder: RunFolder, ideas: IdeaLog) -> None:
    """Delete checkpoints and verdicts if the ideas have changed since the last attempt."""
    if (folder.read() or {}).get("entries") != ideas.digest:
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
