"""The search-and-decide loop of The AI Scientist (arXiv 2408.06292) for the novelty of an idea."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.ai_scientist.ideas import DraftView
from ideagora.agents.ai_scientist.novelty_search import NOVELTY_SEARCHER, FoundPaper, NoveltyStep
from ideagora.agents.text.quotes import verify_quote
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import paper_briefs
from ideagora.schema import ClosestPaper, NoveltyCheck, Paper, ScoredPaper

RESULTS_PER_QUERY = 6


class NoveltyState(TypedDict, total=False):
    """State of the loop: the idea, then what the searches found. Plain JSON values only."""

    topic: dict[str, Any]
    draft: dict[str, Any]
    queries: list[str]
    papers: list[dict[str, Any]]
    query: str | None
    check: dict[str, Any]


Context = Runtime[Services]


async def decide(state: NoveltyState, runtime: Context) -> NoveltyState:
    """Name the next query, or decide; an unreadable answer leaves the idea unchecked."""
    context, papers, queries = runtime.context, state.get("papers", []), state.get("queries", [])
    judge = context.client.settings.model_of("judge")
    common: dict[str, Any] = {
        "queries": tuple(queries),
        "compared": len(papers),
        "library": context.library.size(),
        "judge": judge,
    }
    try:
        step = await NOVELTY_SEARCHER(
            context.client,
            topic=state["topic"]["text"],
            idea=DraftView(**{name: state["draft"][name] for name in DraftView.model_fields}),
            queries=tuple(queries),
            papers=paper_briefs(papers),
            remaining=context.options.searches - len(queries),
        )
    except UnreadableAnswer as error:
        unchecked = NoveltyCheck(status="unchecked", reason=str(error), **common)
        return {"query": None, "check": unchecked.model_dump(mode="json")}
    if step.decision == "search":
        return {"query": step.query}
    whole = f"{state['draft']['title']}. {state['draft']['summary']}"
    scored = await context.library.similar([Paper.model_validate(paper) for paper in papers], whole)
    check = _summarize(step, papers, scored).model_copy(update=common)
    return {"query": None, "check": check.model_dump(mode="json")}


def _summarize(
    step: NoveltyStep, papers: Sequence[dict[str, Any]], scored: Sequence[ScoredPaper]
) -> NoveltyCheck:
    if not papers:
        return NoveltyCheck(status="unchecked", reason="the searches found no paper to compare with")
    similarity = {one.paper.id: one.similarity for one in scored}
    return NoveltyCheck(
        status="too_close" if step.decision == "not novel" else "novel",
        closest=tuple(_closest(found, papers[found.paper], similarity) for found in step.closest),
        reported=len(step.closest),
        verdict="published" if step.decision == "not novel" else "novel",
        verdict_reason=step.considerations,
    )


def _closest(found: FoundPaper, record: dict[str, Any], similarity: dict[str, float]) -> ClosestPaper:
    paper = Paper.model_validate(record)
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
    query = state["query"]
    assert query is not None
    papers = {paper["id"]: paper for paper in state.get("papers", [])}
    for scored in await runtime.context.library.search(query, RESULTS_PER_QUERY):
        papers.setdefault(scored.paper.id, scored.paper.model_dump(mode="json"))
    return {"queries": [*state.get("queries", []), query], "papers": list(papers.values())}


def build_novelty_search() -> StateGraph[NoveltyState, Services, NoveltyState, NoveltyState]:
    """The graph of the loop, not compiled."""
    graph = StateGraph(NoveltyState, context_schema=Services)
    graph.add_node("decide", decide)
    graph.add_node("search", search)
    graph.add_edge(START, "decide")
    graph.add_conditional_edges("decide", after_decision, ["search", END])
    graph.add_edge("search", "decide")
    return graph
