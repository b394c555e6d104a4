"""The RAG baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): retrieved papers in one prompt.

One search for the topic; the papers it finds are put before the model as they are, without an order of
development, and an idea is asked for, then its experiment. The paper says no more on it than that the
model is fed with retrieved literature; the number of papers is ours.
"""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.plain_ideators import RAG_IDEATOR
from ideagora.agents.text.quotes import is_quoted, verify_quote
from ideagora.agents.views import PaperBrief, idea_view, paper_brief
from ideagora.errors import TopicNotCovered
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Source


class RagState(TypedDict, total=False):
    """Plain values only: this is what a checkpoint holds."""

    topic: dict[str, Any]
    papers: list[dict[str, Any]]
    draft: dict[str, Any]
    plan: dict[str, Any]


Context = Runtime[Services]


async def retrieve_papers(state: RagState, runtime: Context) -> RagState:
    """The papers nearest to the topic, best first. Nobody judges whether they are near enough."""
    found = await runtime.context.library.search(state["topic"]["text"], runtime.context.options.papers)
    if not found:
        raise TopicNotCovered(
            "The library holds no paper that may be shown for this topic. Widen --before or the bans."
        )
    best, last = found[0].similarity, found[-1].similarity
    runtime.context.say(f"{len(found)} papers, similarity {best:.2f} to {last:.2f}")
    return {"papers": [scored.paper.model_dump(mode="json") for scored in found]}


async def write_idea(state: RagState, runtime: Context) -> RagState:
    """One idea from the topic and all papers at once; each part names the papers it rests on."""
    with usage_label("idea"):
        answer = await RAG_IDEATOR(
            runtime.context.client, topic=state["topic"]["text"], papers=tuple(_briefs(state))
        )
    draft = answer.model_dump(mode="json")
    return {"draft": {**draft, "sources": [_source(state, source) for source in draft["sources"]]}}


async def design_experiment(state: RagState, runtime: Context) -> RagState:
    """A plan for the idea, with the same papers at hand."""
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
    """A source with its paper's id in place of the number, and whether its words stand in the paper."""
    paper = Paper.model_validate(state["papers"][source["paper"]])
    text, quote = f"{paper.title} {paper.abstract or ''}", source["quote"]
    told = Source(
        part=source["part"],
        paper_id=paper.id,
        quote=verify_quote(quote, text),
        verbatim=is_quoted(quote, text),
    )
    return told.model_dump(mode="json")


def build_graph() -> StateGraph[RagState, Services, RagState, RagState]:
    """The state machine of the agent."""
    graph = StateGraph(RagState, context_schema=Services)
    for node in (retrieve_papers, write_idea, design_experiment):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "retrieve_papers")
    graph.add_edge("retrieve_papers", "write_idea")
    graph.add_edge("write_idea", "design_experiment")
    graph.add_edge("design_experiment", END)
    return graph
