"""What a benchmark will cost: calls of the agents, and one or more for every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ideagora.benchmarks.running.errors import errors_named
from ideagora.benchmarks.running.evaluation import questions_about
from ideagora.benchmarks.running.generated import existing_ideas
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.benchmarks.running.records import BenchmarkRun
from ideagora.config import Settings
from ideagora.evaluators.arena.entries.contestants import AgentContestant
from ideagora.models.budget import expected_cost
from ideagora.schema import Experiment, Idea

COUNTED = 64
"""Samples whose questions are counted; the number is extrapolated to the rest."""


IdeasOfSample = Callable[[str], Mapping[int, Mapping[str, Sequence[Idea]]]]
"""The ideas on a sample by epoch and agent."""


def expected_bill(run: BenchmarkRun, generated: IdeaLog | None = None) -> list[tuple[str, int, float | None]]:
    """(model, calls, cost in USD or ``None``) if nothing is done yet and every agent returns its ideas.

    Args:
        run: the run.
        generated: the ideas of a folder that are judged again; ``None``: they are still to be made.
    """
    settings, calls = run.settings, Counter[str]()
    for one in run.contestants.agents:
        agent = run.benchmark.agent(one.agent, run.ideas, run.plans[0])
        for group, number in (agent.expected_calls(agent.options) or {}).items():
            calls[agent.model or settings.model_of(group)] += number * len(run.samples) * run.epochs
    if run.judged:
        ideas = _expected_ideas(run) if generated is None else generated.ideas
        calls.update(expected_judge_calls(run, ideas))
        number_of_ideas = _number_of_ideas(run) if generated is None else sum(generated.counts.values())
        calls.update(run.benchmark.other_calls(settings, number_of_ideas))
    return [
        (model, number, expected_cost({"main": number}, settings.model_copy(update={"model": model})))
        for model, number in sorted(calls.items())
        if number and model != "offline"
    ]


def _expected_ideas(run: BenchmarkRun) -> IdeasOfSample:
    """Stand-ins for the ideas of agents, and the existing ideas."""
    expected = {
        one.name: [_stand_in(one, number, run.settings) for number in range(run.ideas)]
        for one in run.contestants.agents
    }
    existing = existing_ideas(run)

    def ideas(sample: str) -> Mapping[int, Mapping[str, Sequence[Idea]]]:
        of_agents = {**expected, **{agent: ideas[sample] for agent, ideas in existing if sample in ideas}}
        return {1: of_agents, **dict.fromkeys(range(2, run.epochs + 1), expected)}

    return ideas


def expected_judge_calls(run: BenchmarkRun, ideas: IdeasOfSample) -> Counter[str]:
    """Expected calls by judge."""
    counted = dict(list(run.samples.items())[:COUNTED])
    calls: Counter[str] = Counter()
    for name, sample in counted.items():
        for plan in run.plans:
            with errors_named(run.benchmark, "questions", f"the sample {name!r}"):
                questions = list(questions_about(run.benchmark, sample, ideas(name), plan, None))
            for question in questions:
                if question.judge in plan.judges:
                    calls[question.judge] += question.calls
    scale = len(run.samples) / max(1, len(counted))
    return Counter({judge: round(number * scale) for judge, number in calls.items()})


def agents_without_estimate(run: BenchmarkRun) -> list[str]:
    """Names of the agents that do not estimate their calls."""
    agents = run.contestants.agents
    return [one.name for one in agents if one.agent.expected_calls(one.agent.options) is None]


def _number_of_ideas(run: BenchmarkRun) -> int:
    existing = sum(len(ideas) for _, by_sample in existing_ideas(run) for ideas in by_sample.values())
    return existing + len(run.contestants.agents) * len(run.samples) * run.ideas * run.epochs


def _stand_in(contestant: AgentContestant, number: int, settings: Settings) -> Idea:
    plan = Experiment(steps=("expected",))
    return Idea(
        id=f"{contestant.name} {number}",
        topic="expected",
        agent=contestant.name,
        model=contestant.agent.model or settings.model_of("main"),
        title="expected",
        motivation="expected",
        novelty="expected",
        method="expected",
        experiment=plan,
    )
