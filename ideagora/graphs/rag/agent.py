"""The agent ``rag`` for the registry."""

from __future__ import annotations

from pydantic import Field

from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


class RagOptions(AgentOptions):
    """Options of the agent."""

    papers: int = Field(default=10, ge=1, le=50)
    """Maximum number of papers shown."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each written with the earlier ones shown."""
    allow_thin: bool = False
    """Continue if the relevance judge finds nothing on the topic."""


def agent() -> Agent:
    """The RAG baseline: retrieved papers in one prompt."""
    return Agent(
        name="rag",
        about="Shows the model papers on the topic, in no chain, and asks for an idea and its experiment.",
        source="RAG baseline of Chain of Ideas, arXiv 2410.13185",
        options=RagOptions(),
        build=imported("ideagora.graphs.rag.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=lambda options: {"main": 1 + 2 * getattr(options, "ideas", 1), "judge": 1},
        set_ideas=set_option("ideas"),
        is_steerable=True,
        steps=("plan_queries", "retrieve_papers", "write_idea", "design_experiment"),
    )
