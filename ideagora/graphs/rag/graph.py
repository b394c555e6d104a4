"""The RAG baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): retrieved papers in one prompt.

Planned queries, and a judge of relevance, as Chain-of-Ideas has them; the model is shown the accepted papers,
without an order of development, and asked for an idea, then for its experiment. The paper only says that the
model is given retrieved literature; how it is retrieved is our choice, so that the two agents differ in
the chain only. Several ideas are written one after the other, each different from the earlier ones.
"""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.plain_ideators import RAG_IDEATOR, proposed_ideas
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import DraftsState, needs_idea, no_further_idea, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import PlanTask, design_experiment, paper_briefs
from ideagora.graphs.steps.literature import literature_search
from ideagora.graphs.steps.literature.literature_search import CANDIDATES, search_literature
from ideagora.graphs.steps.literature.relevance import unjudged_notes
from ideagora.graphs.steps.steering import avoided_ideas
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Serialized, Topic, deserialize, serialize

QUERIES = 3


class RagState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    queries: list[str]
    papers: list[Serialized[Paper]]


Context = Runtime[Services]


async def plan_queries(state: RagState, runtime: Context) -> RagState:
    """One query for the whole topic and others for its aspects, as many as Chain-of-Ideas has branches."""
    topic = deserialize(Topic, state["topic"])
    return {"queries": await literature_search.plan_queries(runtime.context, topic, QUERIES)}


async def retrieve_papers(state: RagState, runtime: Context) -> RagState:
    """The papers that the relevance judge accepts, best first."""
    topic, options = deserialize(Topic, state["topic"]), runtime.context.options
    literature = await search_literature(
        runtime.context,
        topic,
        state["queries"],
        per_query=max(CANDIDATES, options.papers // 2),
        allow_thin=options.allow_thin,
    )
    papers = [graded.paper for graded in literature.accepted or literature.papers][: options.papers]
    runtime.context.say(f"{len(papers)} papers shown, of {len(literature.papers)} judged")
    return {
        "papers": [serialize(paper) for paper in papers],
        "notes": unjudged_notes([paper.title for paper in literature.unjudged]),
    }


async def write_idea(state: RagState, runtime: Context) -> RagState:
    """One more idea from the topic and all papers at once; each part names its source papers."""
    drafts, topic = state.get("drafts", []), deserialize(Topic, state["topic"])
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            answer = await RAG_IDEATOR(
                runtime.context.client,
                topic=topic.text,
                papers=paper_briefs(state["papers"]),
                proposed=(*await avoided_ideas(runtime.context, topic), *proposed_ideas(drafts)),
                focus=topic.focus,
            )
        except UnreadableAnswer as error:
            return {"failures": no_further_idea(drafts, error)}
    draft = sourced_draft(answer, state["papers"])
    return {"drafts": [{**draft, "number": len(drafts) + 1, "papers": state["papers"]}]}


def after_idea(state: RagState, runtime: Context) -> list[Hashable | Send]:
    """Write another idea, or design the experiments of all, in parallel, with all papers in view."""
    if needs_idea(state, runtime.context.options.ideas):
        return ["write_idea"]
    return [
        Send(
            "design_experiment",
            PlanTask(topic=state["topic"], draft=draft, number=draft["number"], papers=state["papers"]),
        )
        for draft in state["drafts"]
    ]


def build_graph() -> StateGraph[RagState, Services, RagState, RagState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(RagState, context_schema=Services)
    graph.add_node("plan_queries", plan_queries)
    graph.add_node("retrieve_papers", retrieve_papers)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "plan_queries")
    graph.add_edge("plan_queries", "retrieve_papers")
    graph.add_edge("retrieve_papers", "write_idea")
    graph.add_conditional_edges("write_idea", after_idea, ["write_idea", "design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
