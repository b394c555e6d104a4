"""The agent ``direct`` for the registry."""

from __future__ import annotations

from pydantic import Field

from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


class DirectOptions(AgentOptions):
    """Options of the agent."""

    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each written with the earlier ones shown."""


def agent() -> Agent:
    """The baseline without literature."""
    return Agent(
        name="direct",
        about="Asks the model for an idea and its experiment; it reads no literature.",
        source="plain baseline, without literature",
        options=DirectOptions(),
        build=imported("ideagora.graphs.direct.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=lambda options: {"main": 2 * getattr(options, "ideas", 1)},
        set_ideas=set_option("ideas"),
        is_steerable=True,
        steps=("write_idea", "design_experiment"),
    )
