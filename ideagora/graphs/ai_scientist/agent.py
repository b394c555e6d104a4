"""The agent ``ai-scientist`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea, NoveltyCheck, Paper


class AiScientistOptions(AgentOptions):
    """Options of the agent. The paper writes 50 ideas and searches up to ten times for each."""

    drafts: int = Field(default=3, ge=1, le=50)
    """Number of ideas in the archive, each written with the earlier ones in view."""
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
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=_notes,
        expected_calls=_expected_calls,
        set_ideas=_set_ideas,
        steps=(
            "find_papers",
            "write_idea",
            "reflect",
            "archive_idea",
            "check_novelty",
            "choose_ideas",
            "design_experiment",
        ),
        subgraphs={"check_novelty": _build_novelty_search},
        most_steps=1_000,
    )


def _build() -> Any:
    from ideagora.graphs.ai_scientist.graph import build_graph

    return build_graph()


def _build_novelty_search() -> Any:
    from ideagora.graphs.ai_scientist.novelty_search import build_novelty_search

    return build_novelty_search()


def _set_ideas(options: BaseModel, number: int) -> AiScientistOptions:
    """An archive of at least as many ideas as are wanted."""
    assert isinstance(options, AiScientistOptions)
    chosen = {"drafts": max(options.drafts, number), "ideas": number}
    return AiScientistOptions(**{**options.model_dump(), **chosen})


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if every reflection and every search is used."""
    assert isinstance(options, AiScientistOptions)
    writing = options.drafts * (1 + options.reflections)
    experiments = min(options.ideas, options.drafts)
    return {"main": writing + experiments, "judge": 1 + options.drafts * (options.searches + 1)}


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    """The chosen ideas, best first; those of the archive, in order, if none was chosen yet."""
    papers = [Paper.model_validate(paper) for paper in state.get("papers", [])]
    checks = {check["number"]: check for check in state.get("checks", [])}

    def make(draft: Mapping[str, Any], plan: Mapping[str, Any] | None, own: Origin) -> Idea:
        check = checks.get(draft["number"])
        found = [Paper.model_validate(paper) for paper in check["papers"]] if check else []
        shown = {paper.id: paper for paper in (*papers, *found)}
        return one_idea(
            state["topic"]["text"],
            draft,
            plan,
            own,
            tuple(shown.values()),
            novelty_check=NoveltyCheck.model_validate(check["check"]) if check else None,
            extra={
                "considerations": draft["considerations"],
                "reflections": draft["reflections"],
                "searched": check["queries"] if check else [],
            },
        )

    archive = numbered_ideas(state, origin, make)
    chosen = state.get("ranking", range(1, len(archive) + 1))
    return [archive[number - 1] for number in chosen]


def _notes(state: Mapping[str, Any]) -> list[str]:
    """What could not be revised, and ideas that are returned although they are not new."""
    titles = {draft["number"]: draft["title"] for draft in state.get("drafts", [])}
    known = {check["number"] for check in state.get("checks", []) if check["check"]["status"] == "too_close"}
    kept = [number for number in state.get("ranking", []) if number in known]
    return [
        *state.get("unrevised", []),
        *(f"“{titles[number]}” is not new, but too few ideas of the archive are." for number in kept),
    ]
