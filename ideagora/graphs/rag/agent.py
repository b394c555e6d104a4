"""The agent ``rag`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.graphs.steps.relevance import unjudged_notes
from ideagora.schema import Idea, Paper


class RagOptions(AgentOptions):
    """Options of the agent."""

    papers: int = Field(default=10, ge=1, le=50)
    """Maximum number of papers shown."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each written with the earlier ones in view."""
    allow_thin: bool = False
    """Continue if the relevance judge finds nothing on the topic."""


def agent() -> Agent:
    """The RAG baseline: retrieved papers in one prompt."""
    return Agent(
        name="rag",
        about="Shows the model papers on the topic, in no chain, and asks for an idea and its experiment.",
        source="RAG baseline of Chain of Ideas, arXiv 2410.13185",
        options=RagOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=unjudged_notes,
        expected_calls=lambda options: {"main": 1 + 2 * getattr(options, "ideas", 1), "judge": 1},
        set_ideas=set_option("ideas"),
        is_steerable=True,
        steps=("plan_queries", "retrieve_papers", "write_idea", "design_experiment"),
    )


def _build() -> Any:
    from ideagora.graphs.rag.graph import build_graph

    return build_graph()


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    papers = [Paper.model_validate(paper) for paper in state.get("papers", [])]
    topic = state["topic"]["text"]
    return numbered_ideas(state, origin, lambda draft, plan, own: one_idea(topic, draft, plan, own, papers))
