"""The agent ``direct`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from ideagora.graphs.agent import Agent, Origin
from ideagora.graphs.single_idea import ideas_so_far, one_idea
from ideagora.schema import Idea


class DirectOptions(BaseModel):
    """The agent has no options."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
        failures=lambda state: [],
        expected_calls=lambda options: {"main": 2},
        steps=("write_idea", "design_experiment"),
    )


def _build() -> Any:
    from ideagora.graphs.direct.graph import build_graph

    return build_graph()


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    return ideas_so_far(state, lambda plan: one_idea(state["topic"]["text"], state["draft"], plan, origin))
