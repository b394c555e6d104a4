"""The ideas of a run in the order of its samples, and what every contestant is judged on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ideagora.benchmarks.results.records import AgentSummary
from ideagora.benchmarks.running.idea_log import BENCHMARK, SAMPLE, IdeaLog, label_idea
from ideagora.benchmarks.running.records import BenchmarkRun, PlannedRun
from ideagora.errors import UsageError
from ideagora.evaluators.arena.entries.contestants import without_topic_in_common
from ideagora.evaluators.arena.entries.lineup import ContestantIdeas, topic_key
from ideagora.evaluators.generation import RunResult
from ideagora.graphs.run_folder import RunFolder
from ideagora.schema import Idea


def all_ideas(
    run: BenchmarkRun, planned: Sequence[PlannedRun], results: Sequence[RunResult]
) -> Iterator[Idea]:
    """The ideas by sample, epoch and contestant, read from the folders of the runs one by one."""
    of_sample: dict[str, list[PlannedRun]] = {}
    for one, result in zip(planned, results, strict=True):
        if result.missing is None:
            of_sample.setdefault(one.sample, []).append(one)
    imported = existing_ideas(run)
    for sample in run.samples:
        for one in of_sample.get(sample, ()):
            made = RunFolder(one.run.folder, "").finished_ideas() or []
            for idea in made[: run.ideas]:
                yield label_idea(idea, one.run.name, run.benchmark.name, sample, one.epoch)
        for name, ideas in imported:
            for idea in ideas.get(sample, ()):
                yield label_idea(idea, name, run.benchmark.name, sample, 1)


def require_ideas_on_samples(run: BenchmarkRun) -> None:
    """Raise an error if all ideas of a source are on other topics, before anything is asked.

    Raises:
        UsageError: no idea of a file or folder belongs to a chosen sample.
    """
    topics = [run.topic(name).text for name in run.samples]
    error = without_topic_in_common(run.contestants.idea_sets, lambda one: bool(_by_sample(one, run)), topics)
    if error is not None:
        raise UsageError(f"{error} Choose samples with --limit or --sample-id, or give others with --data.")


def existing_ideas(run: BenchmarkRun) -> list[tuple[str, dict[str, list[Idea]]]]:
    """(contestant, its ideas by sample) of those that do not generate their ideas; at most ``run.ideas``."""
    return [
        (one.name, {sample: ideas[: run.ideas] for sample, ideas in _by_sample(one, run).items()})
        for one in run.contestants.idea_sets
    ]


def _by_sample(idea_set: ContestantIdeas, run: BenchmarkRun) -> dict[str, list[Idea]]:
    """Existing ideas by sample: by the sample that an idea names, or else all samples with its topic.

    The sample that an idea of another benchmark names is not meant, though it may have the same id.
    """
    by_topic: dict[str, list[str]] = {}
    for name in run.samples:
        by_topic.setdefault(topic_key(run.topic(name).text), []).append(name)
    found: dict[str, list[Idea]] = {}
    for idea in idea_set.ideas:
        named = str(idea.extra.get(SAMPLE, idea.extra.get("imported", {}).get(SAMPLE, "")))
        is_of_other = idea.extra.get(BENCHMARK, run.benchmark.name) != run.benchmark.name
        is_named = named in run.samples and not is_of_other
        names = [named] if is_named else by_topic.get(topic_key(idea.topic), ())
        for name in names:
            found.setdefault(name, []).append(idea)
    return found


def summarize_agents(
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
    sources |= {one.run.name: one.run.task.agent.source for one in planned}  # as the benchmark runs it
    for idea_set in run.contestants.idea_sets:
        sources[idea_set.name] = idea_set.source
        if without := len(run.samples) - len(samples[idea_set.name]):
            missing[idea_set.name][run.benchmark.no_idea] += without
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
