"""The RAG baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): retrieved papers in one prompt.

One search for the topic; the model is shown the papers found, without an order of development, and asked
for an idea, then for its experiment. The paper only says that the model is given retrieved literature; the
number of papers is our choice.
"""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.plain_ideators import RAG_IDEATOR
from ideagora.agents.views import PaperBrief, idea_view, paper_brief
from ideagora.errors import TopicNotCovered
from ideagora.graphs.services import Services
from ideagora.graphs.sources import quoted_source
from ideagora.models.usage import usage_label
from ideagora.schema import Paper


class RagState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    papers: list[dict[str, Any]]
    draft: dict[str, Any]
    plan: dict[str, Any]


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
    """One idea from the topic and all papers at once; each part names its source papers."""
    with usage_label("idea"):
        answer = await RAG_IDEATOR(
            runtime.context.client, topic=state["topic"]["text"], papers=tuple(_briefs(state))
        )
    draft = answer.model_dump(mode="json")
    return {"draft": {**draft, "sources": [_source(state, source) for source in draft["sources"]]}}


async def design_experiment(state: RagState, runtime: Context) -> RagState:
    """A plan for the idea, with the same papers."""
    with usage_label("experiment"):
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=state["topic"]["text"],
            idea=idea_view(state["draft"]),
            evaluation=state["draft"]["evaluation"],
            past=(),
            related=tuple(_briefs(state)),
            entities=(),
        )
    return {"plan": plan.model_dump(mode="json")}


def _briefs(state: RagState) -> list[PaperBrief]:
    return [paper_brief(Paper.model_validate(paper)) for paper in state["papers"]]


def _source(state: RagState, source: dict[str, Any]) -> dict[str, Any]:
    """A source with its paper's id in place of the number, and whether its quote occurs in the paper."""
    paper = Paper.model_validate(state["papers"][source["paper"]])
    text = f"{paper.title} {paper.abstract or ''}"
    return quoted_source(source["part"], paper.id, source["quote"], text).model_dump(mode="json")


def build_graph() -> StateGraph[RagState, Services, RagState, RagState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(RagState, context_schema=Services)
    for node in (retrieve_papers, write_idea, design_experiment):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "retrieve_papers")
    graph.add_edge("retrieve_papers", "write_idea")
    graph.add_edge("write_idea", "design_experiment")
    graph.add_edge("design_experiment", END)
    return graph
