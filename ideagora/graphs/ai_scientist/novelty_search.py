"""The search-and-decide loop of The AI Scientist (arXiv 2408.06292) for the novelty of an idea."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.ai_scientist.ideas import DraftView
from ideagora.agents.ai_scientist.novelty_search import NOVELTY_SEARCHER, FoundPaper, NoveltyStep
from ideagora.agents.text.quotes import verify_quote
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Draft
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import paper_briefs
from ideagora.graphs.steps.novelty_requests import alternately, requests_left, search_sparingly
from ideagora.schema import (
    ClosestPaper,
    NoveltyCheck,
    Paper,
    ScoredPaper,
    Serialized,
    Topic,
    deserialize,
    serialize,
)

RESULTS_PER_QUERY = 6


class NoveltyState(TypedDict, total=False):
    """State of the loop: the idea, then what the searches found. Plain JSON values only."""

    topic: Serialized[Topic]
    draft: Draft
    pool: list[str]
    """Ids of the papers that the ideas start from."""
    queries: list[str]
    papers: list[Serialized[Paper]]
    query: str | None
    check: Serialized[NoveltyCheck]


Context = Runtime[Services]


async def decide(state: NoveltyState, runtime: Context) -> NoveltyState:
    """Name the next query, or decide; an unreadable answer leaves the idea unchecked."""
    context, papers, queries = runtime.context, state.get("papers", []), state.get("queries", [])
    unchecked = NoveltyCheck(
        status="unchecked",
        queries=tuple(queries),
        compared=len(papers),
        library=context.library.size(),
        judge=context.client.settings.model_of("judge"),
    )
    try:
        step = await NOVELTY_SEARCHER(
            context.client,
            topic=state["topic"]["text"],
            idea=draft_view(state["draft"]),
            queries=tuple(queries),
            papers=paper_briefs(papers),
            remaining=context.options.searches - len(queries),
        )
    except UnreadableAnswer as error:
        return {"query": None, "check": serialize(unchecked.model_copy(update={"reason": str(error)}))}
    if step.decision == "search":
        return {"query": step.query}
    whole = f"{state['draft']['title']}. {state['draft']['summary']}"
    scored = await context.library.similar([deserialize(Paper, paper) for paper in papers], whole)
    return {"query": None, "check": serialize(_checked(unchecked, step, papers, scored))}


def _checked(
    unchecked: NoveltyCheck,
    step: NoveltyStep,
    papers: Sequence[Serialized[Paper]],
    scored: Sequence[ScoredPaper],
) -> NoveltyCheck:
    """The check with the model's decision."""
    if not papers:
        return unchecked.model_copy(update={"reason": "the searches found no paper to compare with"})
    similarity = {one.paper.id: one.similarity for one in scored}
    return unchecked.model_copy(
        update={
            "status": "too_close" if step.decision == "not novel" else "novel",
            "closest": tuple(_closest(found, papers[found.paper], similarity) for found in step.closest),
            "reported": len(step.closest),
            "verdict": "published" if step.decision == "not novel" else "novel",
            "verdict_reason": step.considerations,
        }
    )


def draft_view(draft: Draft) -> DraftView:
    """A draft as the roles see it."""
    return DraftView(
        title=draft["title"],
        summary=draft["summary"],
        motivation=draft["motivation"],
        method=draft["method"],
        novelty=draft["novelty"],
        purpose=draft["purpose"],
        mechanism=draft["mechanism"],
        evaluation=draft["evaluation"],
    )


def _closest(found: FoundPaper, record: Serialized[Paper], similarity: dict[str, float]) -> ClosestPaper:
    paper = deserialize(Paper, record)
    text = f"{paper.title} {paper.abstract or ''}"
    return ClosestPaper(
        paper_id=paper.id,
        title=paper.title,
        similarity=similarity[paper.id],
        overlap=verify_quote(found.overlap, text) if found.overlap else None,
        difference=found.difference,
        too_close=found.already_there,
    )


def after_decision(state: NoveltyState) -> str:
    """Search while the model asks for it; its answer is refused when no search is left."""
    return "search" if state["query"] is not None else END


async def search(state: NoveltyState, runtime: Context) -> NoveltyState:
    """Run the query; papers keep their numbers from search to search."""
    query, queries = state["query"], state.get("queries", [])
    assert query is not None
    papers = {paper["id"]: paper for paper in state.get("papers", [])}
    for paper in (await _find(state, runtime.context, query))[:RESULTS_PER_QUERY]:
        papers.setdefault(paper.id, serialize(paper))
    return {"queries": [*queries, query], "papers": list(papers.values())}


async def _find(state: NoveltyState, context: Services, query: str) -> list[Paper]:
    """What the library finds; a web service is asked its share of the run's searches."""
    if context.library.size() is not None:
        return [scored.paper for scored in await context.library.search(query, RESULTS_PER_QUERY)]
    number, options = len(state.get("queries", [])), context.options
    search_number = number * options.drafts + state["draft"]["number"] - 1
    requests = requests_left(context, search_number, options.searches * options.drafts)
    pool = [*state["pool"], *(paper["id"] for paper in state.get("papers", []))]
    return list(alternately(await search_sparingly(context.library, [query], pool, requests)).values())


def build_novelty_search() -> StateGraph[NoveltyState, Services, NoveltyState, NoveltyState]:
    """The graph of the loop, not compiled."""
    graph = StateGraph(NoveltyState, context_schema=Services)
    graph.add_node("decide", decide)
    graph.add_node("search", search)
    graph.add_edge(START, "decide")
    graph.add_conditional_edges("decide", after_decision, ["search", END])
    graph.add_edge("search", "decide")
    return graph
