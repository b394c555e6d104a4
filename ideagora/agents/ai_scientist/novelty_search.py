"""The role that searches the literature for an idea until it can decide whether the idea is new.

Source: The AI Scientist (arXiv 2408.06292), section 3: a loop of queries and a decision, of bounded length.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ideagora.agents.ai_scientist.ideas import PROMPTS, DraftView
from ideagora.agents.novelty import NOVELTY_JUDGE, NoveltyInputs
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline.text import clip


class NoveltySearchInputs(Inputs):
    """An idea, the queries so far with the papers that they found, and the searches that are left."""

    topic: str
    idea: DraftView
    queries: tuple[str, ...]
    papers: tuple[PaperBrief, ...]
    remaining: int


class FoundPaper(Answer):
    """A paper that was found close to the idea."""

    paper: int = Field(description="number of the paper")
    overlap: str | None = Field(
        description="the passage of the paper closest to the idea, copied verbatim; null if nothing is close"
    )
    difference: str | None = Field(
        description="one sentence: how the idea differs from this paper; null if it does not"
    )
    already_there: bool = Field(description="whether the paper already contains the idea")


class NoveltyStep(Answer):
    """The next query, or the decision."""

    considerations: str = Field(
        description="what the papers found so far say about the idea; 2 to 4 sentences"
    )
    decision: Literal["search", "novel", "not novel"]
    query: str | None = Field(description="the next search query; null unless the decision is to search")
    closest: tuple[FoundPaper, ...] = Field(
        description="up to 5 papers closest to the idea, the closest first; [] if the decision is to search"
    )


OFFLINE_QUERIES = ("purpose", "mechanism")
"""Parts of the idea that the offline model searches for, one after the other."""


def _search_or_decide(engine: ExtractiveModel, inputs: NoveltySearchInputs) -> NoveltyStep:
    """Search for purpose and mechanism, then compare as the novelty judge does."""
    if inputs.remaining and len(inputs.queries) < len(OFFLINE_QUERIES):
        part = OFFLINE_QUERIES[len(inputs.queries)]
        query = clip(getattr(inputs.idea, part), 30)
        thought = f"The {part} of the idea has not been searched for yet."
        return NoveltyStep(considerations=thought, decision="search", query=query, closest=())
    if not inputs.papers:
        nothing = "The searches found no paper to compare with."
        return NoveltyStep(considerations=nothing, decision="novel", query=None, closest=())
    fields = inputs.idea.model_dump(exclude={"motivation"})
    judged = NOVELTY_JUDGE.offline(engine, NoveltyInputs(topic=inputs.topic, papers=inputs.papers, **fields))
    found = [
        FoundPaper(
            paper=compared.paper,
            overlap=compared.overlap,
            difference=compared.difference,
            already_there=compared.purpose == compared.mechanism == "same",
        )
        for compared in judged.comparisons
    ]
    closest = sorted(found, key=lambda paper: not paper.already_there)[:5]
    known = any(paper.already_there for paper in closest)
    return NoveltyStep(
        considerations=f"{len(inputs.papers)} papers compared sentence by sentence.",
        decision="not novel" if known else "novel",
        query=None,
        closest=tuple(closest),
    )


def _check_step(inputs: NoveltySearchInputs, answer: NoveltyStep) -> str | None:
    numbers = [found.paper for found in answer.closest]
    if complaint := check_paper_numbers("closest.paper", numbers, [paper.title for paper in inputs.papers]):
        return complaint
    if (answer.decision == "search") != (answer.query is not None):
        return "query is given if and only if the decision is to search"
    if answer.decision == "search" and not inputs.remaining:
        return "no search is left: decide whether the idea is novel"
    if answer.decision != "search" and inputs.remaining and not inputs.queries:
        return "nothing was searched for yet: search before you decide"
    known = any(found.already_there for found in answer.closest)
    if (answer.decision == "not novel") != known:
        return 'the decision is "not novel" if and only if a paper of closest already contains the idea'
    return None


NOVELTY_SEARCHER = Role(
    name="novelty_searcher",
    group="judge",
    inputs=NoveltySearchInputs,
    answer=NoveltyStep,
    offline=_search_or_decide,
    temperature=0.0,
    check=_check_step,
    prompts=PROMPTS,
)
