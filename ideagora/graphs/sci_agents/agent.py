"""The agent ``sci-agents`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


class SciAgentsOptions(AgentOptions):
    """Options of the agent, with modest defaults."""

    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each from a path of its own."""
    papers: int = Field(default=12, ge=2, le=1000)
    """Maximum number of papers that the graph is built from (paper: about 1,000)."""
    expansions: int = Field(default=3, ge=0, le=7)
    """Aspects of a proposal that are expanded, one call each (paper: all seven)."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """An idea from a path between two concepts."""
    return Agent(
        name="sci-agents",
        about="Builds a graph of concepts from papers, samples a path between two of them, and has an "
        "ontologist, two scientists and a critic turn it into an idea.",
        source="SciAgents, Ghafarollahi and Buehler, arXiv 2409.05556",
        options=SciAgentsOptions(),
        build=imported("ideagora.graphs.sci_agents.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas"),
        steps=(
            "find_papers",
            "extract_triples",
            "sample_paths",
            "develop_path",
            "gather",
            "design_experiment",
        ),
        subgraphs={"develop_path": imported("ideagora.graphs.sci_agents.path:build_path")},
    )


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    assert isinstance(options, SciAgentsOptions)
    ideas = options.ideas
    return {"main": ideas * (4 + options.expansions), "reader": options.papers, "judge": 1 + 2 * ideas}
