"""The agent ``portfolio`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported
from ideagora.graphs.portfolio.ideas import chosen_ideas, notes
from ideagora.graphs.portfolio.results import results

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
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""

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
        about="Lets several agents draft, merges duplicates, makes new ideas from the drafts in rounds, and "
        "ends with ideas that are far from one another, ranked, with their lineage.",
        source="ours",
        options=PortfolioOptions(),
        build=imported("ideagora.graphs.portfolio.graph:build_graph"),
        ideas=chosen_ideas,
        notes=notes,
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
