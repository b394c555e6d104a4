"""The agent ``portfolio`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, field_validator

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, imported
from ideagora.graphs.portfolio.members import alive, known_ideas, named, outcome, own_origin
from ideagora.graphs.portfolio.results import results
from ideagora.schema import (
    Experiment,
    Idea,
    IdeaParent,
    Lineage,
    NoveltyCheck,
    Rating,
    Usage,
    stable_id,
)

NAME = "portfolio"


class PortfolioOptions(AgentOptions):
    """Options of the agent, with modest defaults."""

    ideas: int = Field(default=8, ge=1, le=20)
    """Number of ideas at the end."""
    drafters: tuple[str, ...] = Field(
        default=("ai-researcher", "ai-scientist", "gpt-researcher", "research-agent", "sci-agents"),
        min_length=1,
    )
    """Agents that draft, each at a small setting; with commas between them."""
    drafts: int = Field(default=2, ge=1, le=20)
    """Ideas that each of them drafts."""
    rounds: int = Field(default=1, ge=0, le=6)
    """Rounds of variation without a budget, up to 2 more if ideas are missing; a budget decides itself (at
    most 6)."""
    children: int = Field(default=3, ge=1, le=12)
    """Ideas made from others in each round: combined, simplified and inverted ones in turn."""
    comparisons: int = Field(default=24, ge=0, le=400)
    """Maximum comparisons that rank the ideas."""

    @field_validator("drafters", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return (
            [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value
        )

    @field_validator("drafters")
    @classmethod
    def _others(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if NAME in value:
            raise ValueError("a portfolio cannot draft for a portfolio")
        return tuple(dict.fromkeys(value))


def agent() -> Agent:
    """Different ideas from several agents, varied and ranked."""
    return Agent(
        name=NAME,
        about="Lets several agents draft, merges twins, makes new ideas from the drafts in rounds, and ends "
        "with ideas that are far from one another, ranked, with their lineage.",
        source="ours",
        options=PortfolioOptions(),
        build=imported("ideagora.graphs.portfolio.graph:build_graph"),
        ideas=_ideas,
        notes=_notes,
        expected_calls=_expected_calls,
        set_ideas=_set_ideas,
        steps=(
            "prepare",
            "draft",
            "merge_twins",
            "plan_round",
            "vary",
            "gather_children",
            "compare_with_parent",
            "select_children",
            "choose_ideas",
            "check_novelty",
            "draw_comparisons",
            "judge_pair",
            "rank_ideas",
            "design_experiment",
            "write_overview",
        ),
        most_steps=1_000,
        results=results,
    )


def _set_ideas(options: BaseModel, number: int) -> PortfolioOptions:
    """Half as many drafts again as ideas, so that there is a choice, and three comparisons for each idea."""
    assert isinstance(options, PortfolioOptions)
    drafts = -(-3 * number // (2 * len(options.drafters)))
    chosen = {"ideas": number, "drafts": max(1, drafts), "comparisons": 3 * number}
    return PortfolioOptions(**{**options.model_dump(), **chosen})


def _expected_calls(options: BaseModel) -> dict[Group, int] | None:
    """Calls without a budget if nothing is dropped on the way; ``None`` if that of a drafter is unknown."""
    from ideagora.graphs.portfolio.budget import calls_of_end, calls_of_round, total_calls
    from ideagora.graphs.portfolio.drafters import small_agent

    assert isinstance(options, PortfolioOptions)
    drafters = [small_agent(name, options.drafts) for name in options.drafters]
    drafting = [drafter.expected_calls(drafter.options) for drafter in drafters]
    known = [calls for calls in drafting if calls is not None]
    if len(known) < len(drafting):
        return None
    twins: dict[Group, int] = {"judge": 1}
    return total_calls([*known, twins, *[calls_of_round(options)] * options.rounds, calls_of_end(options)])


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    """The chosen ideas, best first; of a run that ended early, those that are in the portfolio so far."""
    chosen = state.get("chosen", alive(state))
    return [_idea(state, origin, position, place) for place, position in enumerate(chosen, 1)]


def _idea(state: Mapping[str, Any], origin: Origin, position: int, place: int) -> Idea:
    member, members = state["members"][position], state["members"]
    idea, topic = Idea.model_validate(member["idea"]), state["topic"]["text"]
    plan = next((plan["plan"] for plan in state.get("plans", []) if plan["number"] == place), None)
    own = own_origin(origin, member, None if plan is None else place)
    check = next((one["check"] for one in state.get("checks", []) if one["position"] == position), None)
    ratings = state.get("ratings", [])
    rating = ratings[place - 1] if place <= len(ratings) else None
    parents = tuple(
        IdeaParent(id=_id(origin, topic, members[parent]["idea"]), title=members[parent]["idea"]["title"])
        for parent in member["parents"]
    )
    return idea.model_copy(
        update={
            "id": _id(origin, topic, member["idea"]),
            "agent": origin.agent,
            "kind": "idea",
            "experiment": Experiment.model_validate(plan) if plan else idea.experiment,
            "novelty_check": NoveltyCheck.model_validate(check) if check else idea.novelty_check,
            "wins": _wins(state.get("games", []), position),
            "lineage": Lineage(
                operation=member["operation"],
                agent=member["agent"],
                parents=parents,
                round=member["round"],
                change=member["change"],
            ),
            "rating": Rating.model_validate(rating) if rating else None,
            "branch": None,
            "comparisons": (),
            "model": origin.model,
            "usage": sum((own.usage[name] for name in sorted(own.usage)), Usage()),
            "created": max(own.answered.values(), default=None),
        }
    )


def _id(origin: Origin, topic: str, idea: Mapping[str, Any]) -> str:
    return stable_id(origin.agent, topic, idea["title"], idea["method"])


def _wins(games: list[dict[str, Any]], position: int) -> str | None:
    gains = outcome(games, position)
    played = [game for game in games if position in game["positions"]]
    if not played:
        return None
    missing = len(played) - len(gains)
    told = f"{gains.count(1)} won, {gains.count(0)} tied, {gains.count(-1)} lost of {len(gains)}"
    return f"{told}, {missing} without a verdict" if missing else told


def _notes(state: Mapping[str, Any]) -> list[str]:
    """What the drafters report, which ideas were left out and why, and how many were chosen."""
    members, known = state.get("members", []), known_ideas(state)
    left_out = [
        f"Left out: {named(members[one['position']])} {one['why']}." for one in state.get("removed", [])
    ]
    few = [
        f"“{members[position]['idea']['title']}” is too close to a paper, but too few other ideas are left."
        for position in state.get("chosen", [])
        if position in known
    ]
    count = len(state.get("chosen", []))
    total = f"{count} of {len(members)} ideas were chosen, after {_rounds(state)} of variation."
    return [*state.get("notes", []), *left_out, *few, *[total] * ("map" in state)]


def _rounds(state: Mapping[str, Any]) -> str:
    rounds = state.get("rounds", 0)
    return "1 round" if rounds == 1 else f"{rounds} rounds"
