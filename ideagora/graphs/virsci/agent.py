"""The agent ``virsci`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea, NoveltyCheck, Paper


class VirsciOptions(AgentOptions):
    """Options of the agent, with modest defaults."""

    ideas: int = Field(default=1, ge=1, le=10)
    """Number of ideas, those with the most votes."""
    papers: int = Field(default=20, ge=1, le=200)
    """Maximum number of papers on the topic, whose authors are the pool of scientists."""
    team: int = Field(default=3, ge=1, le=10)
    """Size of the team (paper: 4 to 8)."""
    turns: int = Field(default=1, ge=1, le=10)
    """Turns of the discussion of the topic (paper: 5)."""
    rounds: int = Field(default=2, ge=1, le=5)
    """Maximum number of rounds of ideas, a further one only if the vote rejects all."""
    revisions: int = Field(default=1, ge=0, le=3)
    """Maximum number of revisions of an abstract that is too close to a paper."""


def agent() -> Agent:
    """A team of virtual scientists."""
    return Agent(
        name="virsci",
        about="Draws a team of virtual scientists from the authors of papers on the topic, who discuss, "
        "propose ideas side by side and vote on their novelty.",
        source="VirSci, Su et al., arXiv 2410.09403",
        options=VirsciOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=lambda state: list(state.get("notes", [])),
        expected_calls=_expected_calls,
        set_ideas=_set_ideas,
        steps=(
            "find_scientists",
            "invite",
            "form_team",
            "speak",
            "gather_turn",
            "conclude",
            "propose_idea",
            "select_ideas",
            "vote",
            "count_votes",
            "write_abstract",
            "gather",
            "design_experiment",
        ),
    )


def _build() -> Any:
    from ideagora.graphs.virsci.graph import build_graph

    return build_graph()


def _set_ideas(options: BaseModel, number: int) -> BaseModel:
    """A team of at least as many members as ideas are wanted, since each proposes one."""
    chosen = set_option("ideas")(options, number)
    assert isinstance(chosen, VirsciOptions)
    return chosen.model_copy(update={"team": max(chosen.team, number)})


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if the team is complete, and neither vote nor review rejects an idea."""
    assert isinstance(options, VirsciOptions)
    team, ideas = options.team, min(options.ideas, options.team)
    talking = team * options.turns + 1
    return {"main": talking + team + 2 * ideas, "reader": team - 1, "judge": 1 + team + ideas}


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    topic = state["topic"]["text"]
    team = [
        {"scientist": one["number"], "papers_of": one["author"], "papers": [p["id"] for p in one["papers"]]}
        for one in state.get("team", [])
    ]

    def make(draft: Mapping[str, Any], plan: Mapping[str, Any] | None, own: Origin) -> Idea:
        return one_idea(
            topic,
            draft,
            plan,
            own,
            [Paper.model_validate(paper) for paper in draft["papers"]],
            novelty_check=NoveltyCheck.model_validate(draft["novelty_check"]),
            extra={"team": team, "question": state["question"], "votes": draft["votes"]},
        )

    return numbered_ideas(state, origin, make)
