"""The agent ``direct`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea


class DirectOptions(AgentOptions):
    """Options of the agent."""

    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each written with the earlier ones in view."""


def agent() -> Agent:
    """The baseline without literature."""
    return Agent(
        name="direct",
        about="Asks the model for an idea and its experiment; it reads no literature.",
        source="plain baseline, without literature",
        options=DirectOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        expected_calls=lambda options: {"main": 2 * getattr(options, "ideas", 1)},
        set_ideas=set_option("ideas"),
        is_steerable=True,
        steps=("write_idea", "design_experiment"),
    )


def _build() -> Any:
    from ideagora.graphs.direct.graph import build_graph

    return build_graph()


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    topic = state["topic"]["text"]
    return numbered_ideas(state, origin, lambda draft, plan, own: one_idea(topic, draft, plan, own))
