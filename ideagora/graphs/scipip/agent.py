"""The agent ``scipip`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea, NoveltyCheck, Paper


class ScipipOptions(AgentOptions):
    """Options of the agent, with modest defaults."""

    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, the best merged ones."""
    papers: int = Field(default=10, ge=1, le=50)
    """Maximum number of papers found in each way: by meaning, by entity, by co-citation."""
    clusters: int = Field(default=6, ge=1, le=30)
    """Clusters of the papers found, each of which gives one paper."""
    sketches: int = Field(default=4, ge=1, le=40)
    """Short ideas on each path, and merged ones."""


def agent() -> Agent:
    """Ideas from literature and from brainstorming, merged."""
    return Agent(
        name="scipip",
        about="Finds papers by meaning, entity and co-citation, writes ideas from them and without them side "
        "by side, merges the two, and refines the best.",
        source="SciPIP, Wang et al., arXiv 2410.23166",
        options=ScipipOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=lambda state: list(state.get("notes", [])),
        expected_calls=_expected_calls,
        set_ideas=_set_ideas,
        steps=(
            "extract_entities",
            "find_papers",
            "write_from_literature",
            "brainstorm",
            "merge_paths",
            "filter_ideas",
            "refine_idea",
            "gather",
            "design_experiment",
        ),
    )


def _build() -> Any:
    from ideagora.graphs.scipip.graph import build_graph

    return build_graph()


def _set_ideas(options: BaseModel, number: int) -> BaseModel:
    """At least one short idea more than ideas are wanted, so that there is a choice."""
    chosen = set_option("ideas")(options, number)
    assert isinstance(chosen, ScipipOptions)
    return chosen.model_copy(update={"sketches": max(chosen.sketches, number + 1)})


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    assert isinstance(options, ScipipOptions)
    return {"main": 3 + 2 * options.ideas, "reader": 1, "judge": 2 + options.ideas}


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
            extra={"merged_from": draft["merged_from"], "scores": draft["scores"]},
        )

    return numbered_ideas(state, origin, make)
