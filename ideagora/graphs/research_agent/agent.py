"""The agent ``research-agent`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas

CRITERIA_PER_PART = 5
PARTS = 3


class ResearchAgentOptions(AgentOptions):
    """Options of the agent. The paper reviews and refines each part in up to three rounds."""

    rounds: int = Field(default=1, ge=0, le=5)
    """Rounds of review and refinement of each part (problem, method, experiment)."""
    papers: int = Field(default=10, ge=1, le=50)
    """Maximum number of references of the core paper that are shown, those closest to the topic."""
    entities: int = Field(default=10, ge=0, le=50)
    """Maximum number of entities from beyond the references; 0 switches the entity store off."""
    store_papers: int = Field(default=200, ge=10, le=1000)
    """Papers of the library, those closest to the core paper, that the entity store is built over."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of core papers; each yields one idea."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """ResearchAgent."""
    return Agent(
        name="research-agent",
        about="Starts from a core paper, its references and entities that occur with theirs elsewhere; "
        "writes problem, method and experiment, each reviewed on five criteria and refined.",
        source="ResearchAgent, arXiv 2404.07738",
        options=ResearchAgentOptions(),
        build=imported("ideagora.graphs.research_agent.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas"),
        steps=("find_core_papers", "develop_idea", "gather"),
        subgraphs={"develop_idea": imported("ideagora.graphs.research_agent.development:build_development")},
    )


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if every reviewer suggests something in every round."""
    assert isinstance(options, ResearchAgentOptions)
    writing = options.ideas * PARTS * (1 + options.rounds)
    reviews = options.ideas * PARTS * options.rounds * CRITERIA_PER_PART
    return {"main": writing, "judge": 1 + reviews}
