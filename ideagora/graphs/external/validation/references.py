"""Check the ideas of an external agent and look up their references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ideagora.graphs.drafts import failure
from ideagora.graphs.external.validation.ideas import ValidIdea, validate_ideas
from ideagora.schema import serialize

if TYPE_CHECKING:
    from ideagora.graphs.external.context import AgentContext
    from ideagora.graphs.external.state import ExternalState


async def resolve_references(values: list[Any], context: AgentContext, name: str) -> ExternalState:
    """The valid ideas with the references that the library knows, and a failure for each invalid one."""
    ideas, problems = validate_ideas(values, name)
    for idea in ideas:
        await _look_up_references(idea, context)
    for problem in problems:
        context.say(f"left out: {problem}")
    return {"ideas": ideas, "failures": [failure(why) for why in problems]}


async def _look_up_references(idea: ValidIdea, context: AgentContext) -> None:
    """Keep the references that the library knows, add their records, and list the others."""
    references = list(dict.fromkeys(idea["references"]))
    papers = {paper_id: await context.library.paper(paper_id) for paper_id in references if paper_id.strip()}
    known = {paper_id: paper for paper_id, paper in papers.items() if paper is not None}
    unknown = [paper_id for paper_id in references if paper_id not in known]
    idea["references"] = list(dict.fromkeys(paper.id for paper in known.values()))
    present = {paper["id"] for paper in idea["neighbours"]}
    idea["neighbours"] += [serialize(p) for p in known.values() if p.id not in present]
    if unknown:
        idea["extra"]["unknown_references"] = unknown
        context.say(f"{len(unknown)} references are not in the library: {', '.join(unknown[:3])}")
