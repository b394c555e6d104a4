"""The agent ``scipip`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


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
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """Ideas from literature and from brainstorming, merged."""
    return Agent(
        name="scipip",
        about="Finds papers by meaning, entity and co-citation, writes ideas from them and without them side "
        "by side, merges the two, and refines the best.",
        source="SciPIP, Wang et al., arXiv 2410.23166",
        options=ScipipOptions(),
        build=imported("ideagora.graphs.scipip.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas", sketches=lambda ideas: ideas + 1),
        steps=(
            "extract_entities",
            "find_by_meaning",
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


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    assert isinstance(options, ScipipOptions)
    return {"main": 3 + 2 * options.ideas, "reader": 1, "judge": 2 + options.ideas}
