"""The agent ``ai-scientist`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


class AiScientistOptions(AgentOptions):
    """Options of the agent. The paper writes 50 ideas and searches up to ten times for each."""

    drafts: int = Field(default=3, ge=1, le=50)
    """Number of ideas in the archive, each written with the earlier ones shown."""
    reflections: int = Field(default=2, ge=0, le=10)
    """Maximum rounds of reflection on each idea."""
    searches: int = Field(default=2, ge=1, le=10)
    """Maximum searches before the novelty of an idea is decided."""
    papers: int = Field(default=8, ge=1, le=50)
    """Maximum number of papers on the topic that the ideas start from."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas of the archive that get an experiment and are returned, best first."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """The AI Scientist, idea part."""
    return Agent(
        name="ai-scientist",
        about="Fills an archive with ideas one after the other, reflects on each, searches the literature "
        "until it can decide which are new, and designs an experiment for the best.",
        source="The AI Scientist, arXiv 2408.06292",
        options=AiScientistOptions(),
        build=imported("ideagora.graphs.ai_scientist.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas", drafts=lambda ideas: ideas),
        steps=(
            "find_papers",
            "write_idea",
            "reflect",
            "archive_idea",
            "check_novelty",
            "choose_ideas",
            "design_experiment",
        ),
        subgraphs={
            "check_novelty": imported("ideagora.graphs.ai_scientist.novelty_search:build_novelty_search")
        },
        most_steps=1_000,
    )


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if every reflection and every search is used."""
    assert isinstance(options, AiScientistOptions)
    writing = options.drafts * (1 + options.reflections)
    experiments = min(options.ideas, options.drafts)
    return {"main": writing + experiments, "judge": 1 + options.drafts * (options.searches + 1)}
