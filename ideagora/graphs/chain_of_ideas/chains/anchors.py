"""Queries and anchors: where the branches start (section 3.2, Tables 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence

from ideagora.graphs.chain_of_ideas.loading import load_topic
from ideagora.graphs.chain_of_ideas.records import Anchor
from ideagora.graphs.chain_of_ideas.state import Context, IdeationState
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature import literature_search
from ideagora.graphs.steps.literature.literature_search import (
    SearchedLiterature,
    search_literature,
    topic_query,
)
from ideagora.graphs.steps.literature.relevance import GradedPaper
from ideagora.schema import serialize


async def plan_queries(state: IdeationState, runtime: Context) -> IdeationState:
    """One query for the whole topic and others for its aspects (Table 8)."""
    context = runtime.context
    return {
        "queries": await literature_search.plan_queries(context, load_topic(state), context.options.branches)
    }


async def find_anchors(state: IdeationState, runtime: Context) -> IdeationState:
    """A different anchor for each query: the best of its papers that the judge accepts (Table 9)."""
    context, topic = runtime.context, load_topic(state)
    options = context.options
    literature = await search_literature(
        context,
        topic,
        state["queries"],
        reword=options.reword,
        allow_thin=options.allow_thin,
        follow=True,
    )
    anchors = await _assign_anchors(context, literature, topic_query(topic))
    if len(anchors) < options.branches:
        context.say(f"{len(anchors)} of {options.branches} branches: no further paper on the topic")
    unjudged = [paper.title for paper in literature.unjudged]
    return {"anchors": anchors, "unjudged": unjudged, "grades": literature.grades()}


async def _assign_anchors(context: Services, literature: SearchedLiterature, whole: str) -> list[Anchor]:
    """Assign each query, in order, the best unused paper that it found, or else any other unused paper.

    The first query is for the whole topic, so what the topic's own words (``whole``) found counts as its. A
    paper that cites an anchor or is cited by one would lead to the same chain, so it comes last. Each anchor
    records the query that found it.
    """
    linked: set[str] = set()
    anchors: list[Anchor] = []
    unused = list(literature.accepted or literature.papers)
    for place, query in enumerate(literature.queries):
        best = _first(unused, {query, whole} if place == 0 else {query}, linked)
        if best is None:
            break
        unused.remove(best)
        paper = best.paper
        for neighbours in (await context.library.references(paper), await context.library.citations(paper)):
            linked |= {neighbour.id for neighbour in neighbours}
        anchors.append(
            {
                "branch": len(anchors) + 1,
                "query": query if query in best.queries else best.queries[0],
                "paper": serialize(paper),
                "reason": best.reason
                if literature.accepted
                else "nearest to the topic, but judged off topic",
            }
        )
    return anchors


def _first(unused: Sequence[GradedPaper], queries: set[str], linked: set[str]) -> GradedPaper | None:
    """The first paper that is not linked to an anchor, if possible one that the queries found."""
    return min(
        unused,
        key=lambda graded: (graded.paper.id in linked, queries.isdisjoint(graded.queries)),
        default=None,
    )
