"""The last thing that happens to what an agent from outside gave: fields and references are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ideagora.graphs.external.validation import as_ideas, validate_ideas
from ideagora.schema import Idea, Topic

if TYPE_CHECKING:
    from ideagora.graphs.agent import Origin
    from ideagora.graphs.external.context import AgentContext


class ExternalState(TypedDict, total=False):
    """Plain values only."""

    topic: dict[str, Any]
    ideas: list[dict[str, Any]]
    failures: list[dict[str, Any]]


async def resolve_references(values: list[Any], tools: AgentContext, name: str) -> ExternalState:
    """The ideas that can be used, with the references that the library knows, and what cannot be used."""
    kept, problems = validate_ideas(values, name)
    for idea in kept:
        await _look_up_references(idea, tools)
    for problem in problems:
        tools.say(f"left out: {problem}")
    return {"ideas": kept, "failures": [{"branch": None, "query": None, "error": why} for why in problems]}


async def _look_up_references(idea: dict[str, Any], tools: AgentContext) -> None:
    """Keep the references that the library knows, with their records; list the others."""
    asked = list(dict.fromkeys(idea["references"]))
    found = {paper_id: await tools.library.paper(paper_id) for paper_id in asked if paper_id.strip()}
    known = {paper_id: paper for paper_id, paper in found.items() if paper is not None}
    unknown = [paper_id for paper_id in asked if paper_id not in known]
    idea["references"] = list(dict.fromkeys(paper.id for paper in known.values()))
    held = {paper["id"] for paper in idea["neighbours"]}
    idea["neighbours"] += [p.model_dump(mode="json") for p in known.values() if p.id not in held]
    if unknown:
        idea["extra"]["unknown_references"] = unknown
        tools.say(f"{len(unknown)} references that the library does not know: {', '.join(unknown[:3])}")


def ideas_of(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    """Records of a finished run."""
    return as_ideas(state.get("ideas", []), Topic.model_validate(state["topic"]), origin)


def failures_of(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was given and cannot be used."""
    return list(state.get("failures", []))
