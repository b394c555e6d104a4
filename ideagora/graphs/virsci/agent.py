"""The agent ``virsci`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


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
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """A team of virtual scientists."""
    return Agent(
        name="virsci",
        about="Draws a team of virtual scientists from the authors of papers on the topic, who discuss, "
        "propose ideas in parallel and vote on their novelty.",
        source="VirSci, Su et al., arXiv 2410.09403",
        options=VirsciOptions(),
        build=imported("ideagora.graphs.virsci.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas", team=lambda ideas: ideas),
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


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if the team is complete, and neither vote nor review rejects an idea."""
    assert isinstance(options, VirsciOptions)
    team, ideas = options.team, min(options.ideas, options.team)
    talking = team * options.turns + 1
    return {"main": talking + team + 2 * ideas, "reader": team - 1, "judge": 1 + team + ideas}
