"""Terminal view of the plan of an arena."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ideagora.evaluators.arena.planning import AGENT_SPREAD, DIFFERENCES, ArenaPlan, Detectable
from ideagora.evaluators.statistics.ratings.separation import CONFIDENCE, POWER
from ideagora.report.console import cell
from ideagora.report.figure_table import FigureTable

MISSING = "–"


def show_plan(console: Console, plan: ArenaPlan) -> None:
    """Print the size, the cost and the detectable differences."""
    runs = f", {plan.runs} runs of each agent" if plan.runs > 1 else ""
    head = (
        f"{len(plan.contestants)} contestants on {_count(plan.topics, 'topic')}{runs}, schedule "
        f"{plan.schedule}, at most {_count(plan.verdicts, 'verdict')} by {', '.join(map(cell, plan.judges))}"
    )
    console.print(Text(head, style="bold"))
    console.print(_costs(plan) if plan.calls else Text("The offline model judges, which costs nothing."))
    if plan.without_estimate:
        console.print(Text(f"Not included: calls of {cell(', '.join(plan.without_estimate))}."))
    console.print(_differences(plan))
    notes = (
        "Differences are in rating points (100 points: an expected score of 64 %). Each is detected with a "
        f"confidence of {CONFIDENCE:.0%} in {POWER:.0%} of such arenas.",
        "How much an agent's ideas vary from topic to topic is unknown before there are verdicts, so three "
        f"spreads are assumed; strengths vary by {AGENT_SPREAD} logits. The simulated judge says which idea "
        "is better, with independent noise in each verdict."
        + (" Half of the variance of ideas is assumed to be between runs." if plan.runs > 1 else ""),
        "Answers that are cached cost nothing, so the cost is an upper limit.",
    )
    for note in notes:
        console.print(Text(f"• {note}", style="dim"))
    if plan.topics < 2:
        console.print(Text("• A single topic says nothing about others, so no difference can be detected."))


def _costs(plan: ArenaPlan) -> FigureTable:
    rows = [
        [cell(model), f"{calls:,}", "price unknown" if cost is None else f"${cost:.2f}"]
        for model, calls, cost in plan.calls
    ]
    return FigureTable(["model", "calls", "cost"], rows)


def _differences(plan: ArenaPlan) -> FigureTable:
    topics = _count(plan.topics, "topic")
    titles = ["ideas vary by (logits)", f"detectable on {topics}"]
    titles += [f"topics for {points} points" for points in DIFFERENCES]
    return FigureTable(titles, [_row(one) for one in plan.detectable])


def _row(one: Detectable) -> list[str]:
    difference = MISSING if one.difference is None else f"{one.difference:.0f} points"
    needed = [MISSING if count is None else f"{count:,}" for count in one.topics.values()]
    return [f"{one.idea_spread}", difference, *needed]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
