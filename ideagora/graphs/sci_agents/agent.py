"""The agent ``sci-agents`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea, NoveltyCheck, Paper


class SciAgentsOptions(AgentOptions):
    """Options of the agent, with modest defaults."""

    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each from a path of its own."""
    papers: int = Field(default=12, ge=2, le=1000)
    """Maximum number of papers that the graph is built from (paper: about 1,000)."""
    expansions: int = Field(default=3, ge=0, le=7)
    """Aspects of a proposal that are expanded, one call each (paper: all seven)."""


def agent() -> Agent:
    """An idea from a path between two concepts."""
    return Agent(
        name="sci-agents",
        about="Builds a graph of concepts from papers, samples a path between two of them, and has an "
        "ontologist, two scientists and a critic turn it into an idea.",
        source="SciAgents, Ghafarollahi and Buehler, arXiv 2409.05556",
        options=SciAgentsOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=lambda state: list(state.get("notes", [])),
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
        subgraphs={"develop_path": _build_path},
    )


def _build() -> Any:
    from ideagora.graphs.sci_agents.graph import build_graph

    return build_graph()


def _build_path() -> Any:
    from ideagora.graphs.sci_agents.path import build_path

    return build_path()


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    assert isinstance(options, SciAgentsOptions)
    ideas = options.ideas
    return {"main": ideas * (4 + options.expansions), "reader": options.papers, "judge": 1 + 2 * ideas}


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    topic = state["topic"]["text"]

    def make(draft: Mapping[str, Any], plan: Mapping[str, Any] | None, own: Origin) -> Idea:
        return one_idea(
            topic,
            draft,
            plan,
            own,
            [Paper.model_validate(paper) for paper in draft["papers"]],
            novelty_check=NoveltyCheck.model_validate(draft["novelty_check"]),
            extra={"path": draft["path"], "critique": draft["critique"]},
        )

    return numbered_ideas(state, origin, make)
