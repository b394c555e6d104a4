"""The RAG baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): retrieved papers in one prompt.

One search for the topic; the model is shown the papers found, without an order of development, and asked
for an idea, then for its experiment. The paper only says that the model is given retrieved literature; the
number of papers is our choice. Several ideas are written one after the other, each different from the earlier
ones.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.plain_ideators import RAG_IDEATOR, proposed_ideas
from ideagora.agents.views import PaperBrief, idea_view, paper_brief
from ideagora.errors import TopicNotCovered, UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import needs_idea, no_further_idea, plan_tasks, usage_name
from ideagora.graphs.sources import quoted_source
from ideagora.models.usage import usage_label
from ideagora.schema import Paper


class RagState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    papers: list[dict[str, Any]]
    drafts: Annotated[list[dict[str, Any]], operator.add]
    plans: Annotated[list[dict[str, Any]], operator.add]
    """Plans with the numbers of their ideas, from 1."""
    failures: Annotated[list[dict[str, Any]], operator.add]


class PlanTask(TypedDict):
    """Payload of ``design_experiment``."""

    topic: dict[str, Any]
    papers: list[dict[str, Any]]
    draft: dict[str, Any]
    number: int


Context = Runtime[Services]


async def retrieve_papers(state: RagState, runtime: Context) -> RagState:
    """The papers closest to the topic, best first; their relevance is not judged."""
    found = await runtime.context.library.search(state["topic"]["text"], runtime.context.options.papers)
    if not found:
        raise TopicNotCovered(
            "The library has no paper that may be used for this topic. Use a later --before, or exclude "
            "fewer papers."
        )
    best, last = found[0].similarity, found[-1].similarity
    runtime.context.say(f"{len(found)} papers, similarity {best:.2f} to {last:.2f}")
    return {"papers": [scored.paper.model_dump(mode="json") for scored in found]}


async def write_idea(state: RagState, runtime: Context) -> RagState:
    """One more idea from the topic and all papers at once; each part names its source papers."""
    drafts = state.get("drafts", [])
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            answer = await RAG_IDEATOR(
                runtime.context.client,
                topic=state["topic"]["text"],
                papers=_briefs(state["papers"]),
                proposed=proposed_ideas(drafts),
            )
        except UnreadableAnswer as error:
            return cast(RagState, no_further_idea(drafts, error))
    draft = answer.model_dump(mode="json")
    return {"drafts": [{**draft, "sources": [_source(state, source) for source in draft["sources"]]}]}


def after_idea(state: RagState, runtime: Context) -> list[Hashable | Send]:
    """Write another idea, or design the experiments of all, in parallel."""
    if needs_idea(state, runtime.context.options.ideas):
        return ["write_idea"]
    return [Send("design_experiment", task) for task in plan_tasks(state)]


async def design_experiment(state: PlanTask, runtime: Context) -> RagState:
    """A plan for an idea, with the same papers."""
    with usage_label(usage_name("experiment", state["number"])):
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=state["topic"]["text"],
            idea=idea_view(state["draft"]),
            evaluation=state["draft"]["evaluation"],
            past=(),
            related=_briefs(state["papers"]),
            entities=(),
        )
    return {"plans": [{"number": state["number"], "plan": plan.model_dump(mode="json")}]}


def _briefs(papers: Sequence[Mapping[str, Any]]) -> tuple[PaperBrief, ...]:
    return tuple(paper_brief(Paper.model_validate(paper)) for paper in papers)


def _source(state: RagState, source: dict[str, Any]) -> dict[str, Any]:
    """A source with its paper's id in place of the number, and whether its quote occurs in the paper."""
    paper = Paper.model_validate(state["papers"][source["paper"]])
    text = f"{paper.title} {paper.abstract or ''}"
    return quoted_source(source["part"], paper.id, source["quote"], text).model_dump(mode="json")


def build_graph() -> StateGraph[RagState, Services, RagState, RagState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(RagState, context_schema=Services)
    graph.add_node("retrieve_papers", retrieve_papers)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "retrieve_papers")
    graph.add_edge("retrieve_papers", "write_idea")
    graph.add_conditional_edges("write_idea", after_idea, ["write_idea", "design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
