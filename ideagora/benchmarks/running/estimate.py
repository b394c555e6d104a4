"""What a benchmark will cost: calls of the agents, and one or more for every question."""

from __future__ import annotations

from collections import Counter

from ideagora.benchmarks.running.benchmark_run import BenchmarkRun
from ideagora.benchmarks.running.evaluation import questions_about
from ideagora.models.budget import expected_cost
from ideagora.schema import Experiment, Idea

COUNTED = 64
"""Samples whose questions are counted; the number is extrapolated to the rest."""


def expected_bill(run: BenchmarkRun) -> list[tuple[str, int, float | None]]:
    """(model, calls, cost in USD or ``None``) if nothing is done yet and every agent returns its ideas."""
    settings, calls = run.settings, Counter[str]()
    for one in run.contestants.agents:
        agent = run.benchmark.agent(one.agent, run.ideas, run.plans[0])
        for group, number in (agent.expected_calls(agent.options) or {}).items():
            calls[agent.model or settings.model_of(group)] += number * len(run.samples) * run.epochs
    if run.judged:
        calls.update(expected_judge_calls(run))
    return [
        (model, number, expected_cost({"main": number}, settings.model_copy(update={"model": model})))
        for model, number in sorted(calls.items())
        if number and model != "offline"
    ]


def expected_judge_calls(run: BenchmarkRun) -> Counter[str]:
    """Expected calls by judge, if every contestant has all its ideas on every sample."""
    counted = list(run.samples.values())[:COUNTED]
    ideas = {
        epoch: {
            name: [_stand_in(name, number) for number in range(run.ideas)] for name in run.contestants.names
        }
        for epoch in range(1, run.epochs + 1)
    }
    calls: Counter[str] = Counter()
    for sample in counted:
        for plan in run.plans:
            for question in questions_about(run.benchmark, sample, ideas, plan, None):
                if question.judge in plan.judges:
                    calls[question.judge] += question.calls
    scale = len(run.samples) / max(1, len(counted))
    return Counter({judge: round(number * scale) for judge, number in calls.items()})


def agents_without_estimate(run: BenchmarkRun) -> list[str]:
    """Names of the agents that do not estimate their calls."""
    agents = run.contestants.agents
    return [one.name for one in agents if one.agent.expected_calls(one.agent.options) is None]


def _stand_in(agent: str, number: int) -> Idea:
    plan = Experiment(steps=("expected",))
    return Idea(
        id=f"{agent} {number}",
        topic="expected",
        agent=agent,
        title="expected",
        motivation="expected",
        novelty="expected",
        method="expected",
        experiment=plan,
    )
