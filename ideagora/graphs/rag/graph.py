"""The RAG baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): retrieved papers in one prompt.

Planned queries, and a judge of relevance, as Chain-of-Ideas has them; the model is shown the accepted papers,
without an order of development, and asked for an idea, then for its experiment. The paper only says that the
model is given retrieved literature; how it is retrieved is our choice, so that the two agents differ in
the chain only. Several ideas are written one after the other, each different from the earlier ones.
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
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import needs_idea, no_further_idea, plan_tasks, usage_name
from ideagora.graphs.sources import quoted_source
from ideagora.graphs.steps import literature_search
from ideagora.graphs.steps.literature_search import CANDIDATES, search_literature
from ideagora.graphs.steps.steering import avoided_ideas
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Topic

QUERIES = 3


class RagState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    queries: list[str]
    papers: list[dict[str, Any]]
    unjudged: list[str]
    """Titles of search results that the relevance judge left out, even when asked again."""
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


async def plan_queries(state: RagState, runtime: Context) -> RagState:
    """One query for the whole topic and others for its aspects, as many as Chain-of-Ideas has branches."""
    topic = Topic.model_validate(state["topic"])
    return {"queries": await literature_search.plan_queries(runtime.context, topic, QUERIES)}


async def retrieve_papers(state: RagState, runtime: Context) -> RagState:
    """The papers that the relevance judge accepts, best first."""
    topic, options = Topic.model_validate(state["topic"]), runtime.context.options
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
        "papers": [paper.model_dump(mode="json") for paper in papers],
        "unjudged": [paper.title for paper in literature.unjudged],
    }


async def write_idea(state: RagState, runtime: Context) -> RagState:
    """One more idea from the topic and all papers at once; each part names its source papers."""
    drafts, topic = state.get("drafts", []), Topic.model_validate(state["topic"])
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            answer = await RAG_IDEATOR(
                runtime.context.client,
                topic=topic.text,
                papers=_briefs(state["papers"]),
                proposed=(*await avoided_ideas(runtime.context, topic), *proposed_ideas(drafts)),
                focus=topic.focus,
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
