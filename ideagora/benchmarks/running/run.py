"""Runs a benchmark from start to end: generate ideas, ask the judges, write the results.

Besides the files of every run folder, the folder contains ``runs/`` (runs of the agents), ``ideas.jsonl``
(with sample and epoch), ``verdicts.jsonl`` and ``results.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ideagora.benchmarks.results.records import BenchmarkResult
from ideagora.benchmarks.running.folder import (
    keep_earlier,
    load_finished,
    read_record,
    record_ideas,
    reset,
)
from ideagora.benchmarks.running.generated import all_ideas, summarize_agents
from ideagora.benchmarks.running.idea_log import IdeaLog, write_ideas
from ideagora.benchmarks.running.judge import FolderIdeas, judge_ideas
from ideagora.benchmarks.running.records import BenchmarkResources, BenchmarkRun, PlannedRun
from ideagora.evaluators.generation import (
    RunResult,
    agent_run,
    literature_notes,
    outage_lines,
    run_agents,
)
from ideagora.graphs.generate import load_budget
from ideagora.graphs.plain_model.agent import ModelOptions
from ideagora.graphs.plain_model.refusals import refusal_notes
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.task import Task
from ideagora.importing.records import Problem
from ideagora.models.budget import Budget
from ideagora.models.model_registry import ModelRegistry

MOST_PROBLEMS = 5
"""Maximum number of rows of a data set that are reported one by one."""


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
    record = read_record(RunFolder(path, ""))
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
        budget = load_budget(run.settings, [path, *(one.run.folder for one in planned)])
        await _check_judges(run, resources)
        ideas = await _generate(run, planned, path, resources, budget)
        ideas = replace(ideas, notes=(*run.notes, *unread, *ideas.notes))
        if not run.judged:
            record_ideas(run, folder, ideas.agents, ideas.notes, ideas.down)
            return ()
        return await judge_ideas(run, folder, ideas, resources, budget)


async def _generate(
    run: BenchmarkRun,
    planned: Sequence[PlannedRun],
    path: Path,
    resources: BenchmarkResources,
    budget: Budget,
) -> FolderIdeas:
    """Run the agents and write all ideas to the folder."""
    runs, generated = [one.run for one in planned], _Generated()
    await run_agents(runs, resources.library, resources.listener, generated.add, resources.chats, budget)
    results = [generated.results[position] for position in range(len(runs))]
    write_ideas(path, all_ideas(run, planned, results))
    log = IdeaLog(path)
    plain = (one for one in runs if isinstance(one.task.options, ModelOptions))
    refused = refusal_notes((one.name, one.folder) for one in plain)
    return FolderIdeas(
        log=log,
        agents=summarize_agents(run, planned, results, log),
        notes=(*run.contestants.notes, *literature_notes(runs), *refused),
        down=outage_lines(runs, results),
    )


async def _check_judges(run: BenchmarkRun, resources: BenchmarkResources) -> None:
    """Raise the error of a judge without a key, a name or a price before anything is paid for ideas."""
    if not run.judged:
        return
    models = ModelRegistry(run.settings, resources.embedder, resources.chats)
    try:
        await models.check(run.models)
    finally:
        await models.aclose()


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
        topic = run.topic(name)
        if papers is not None:  # the data set need not state their ids
            topic = topic.model_copy(update={"inspirations": tuple(paper.id for paper in papers.papers)})
        for one in run.contestants.agents:
            agent = run.benchmark.agent(one.agent, run.ideas, run.plans[0])
            for epoch in range(1, run.epochs + 1):
                settings = run.settings.model_copy(update={"seed": run.settings.seed + epoch - 1})
                task = Task(topic, agent, agent.options, settings, papers, run.with_sources)
                planned.append(PlannedRun(agent_run(one.name, task, path), name, epoch))
    return planned, tuple(problem_notes(problems, "inspiration not read"))


def problem_notes(problems: Sequence[Problem], what: str) -> Iterator[str]:
    """The first problems as notes, and the number of the others."""
    yield from (f"{what}: {problem}" for problem in problems[:MOST_PROBLEMS])
    if len(problems) > MOST_PROBLEMS:
        yield f"{what}: {len(problems) - MOST_PROBLEMS} more"
