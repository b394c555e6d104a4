"""Queries and anchors: where the branches start (section 3.2, Tables 8 and 9)."""

from __future__ import annotations

from ideagora.agents.literature import QUERY_PLANNER, RELEVANCE_JUDGE
from ideagora.agents.views import paper_brief
from ideagora.errors import TopicNotCovered
from ideagora.graphs.chain_of_ideas.options import CANDIDATES
from ideagora.graphs.chain_of_ideas.state import Anchor, Context, IdeationState, load_topic
from ideagora.graphs.services import Services
from ideagora.graphs.steps.topic_similarity import topic_similarity
from ideagora.schema import Paper, ScoredPaper, Topic

TOPIC_WORDS = 30
"""Words of a long topic that are used as a library query."""

MIN_TOPIC_SIMILARITY = 0.30
"""Cosine to the topic that a paper needs if only a query for one aspect of the topic found it."""

Hits = dict[str, list[ScoredPaper]]
"""Search results by query."""


async def plan_queries(state: IdeationState, runtime: Context) -> IdeationState:
    """One query for the whole topic and others for its aspects (Table 8)."""
    count = runtime.context.options.branches
    answer = await QUERY_PLANNER(runtime.context.client, topic=load_topic(state).text, count=count)
    return {"queries": list(answer.queries[:count])}


async def find_anchors(state: IdeationState, runtime: Context) -> IdeationState:
    """A different anchor for each query: the best hit that the relevance judge accepts (Table 9).

    A hit of a query for an aspect must also be close to the topic, whatever the judge says. Papers that a
    benchmark supplies for the topic are used even if the judge accepts none.
    """
    topic, library, options = load_topic(state), runtime.context.library, runtime.context.options
    whole = " ".join(topic.text.split()[:TOPIC_WORDS])
    queries = dict.fromkeys([whole, *state["queries"]])
    hits = {query: await library.search(query, CANDIDATES) for query in queries}
    candidates = {scored.paper.id: scored for found in hits.values() for scored in found}
    if not candidates:
        raise TopicNotCovered(
            "The library has no paper that may be used for this topic. Use a later --before, or exclude "
            "fewer papers."
        )
    papers = [scored.paper for scored in candidates.values()]
    similarity = await topic_similarity(library, topic, papers)
    accepted = await _judge_relevance(runtime.context, topic, papers)
    topic_hits = {scored.paper.id for scored in hits[whole]}
    relevant = {
        paper_id: reason
        for paper_id, reason in accepted.items()
        if paper_id in topic_hits or similarity[paper_id] >= MIN_TOPIC_SIMILARITY
    }
    if not relevant and not options.allow_thin and not topic.inspirations:  # those cover their topic
        raise _not_covered(topic, papers, similarity, await library.nearest_spelling(topic.text))
    allowed = {key: scored for key, scored in candidates.items() if key in relevant or not relevant}
    anchors = await _assign_anchors(runtime.context, state["queries"], hits, allowed, relevant)
    if len(anchors) < options.branches:
        runtime.context.say(f"{len(anchors)} of {options.branches} branches: no further paper on the topic")
    return {"anchors": anchors}


async def _judge_relevance(context: Services, topic: Topic, papers: list[Paper]) -> dict[str, str]:
    """Reasons of the relevance judge for the papers it accepts, by paper id."""
    answer = await RELEVANCE_JUDGE(
        context.client, topic=topic.text, papers=tuple(paper_brief(paper) for paper in papers)
    )
    return {papers[found.paper].id: found.reason for found in answer.judgements if found.relevant}


def _not_covered(
    topic: Topic, papers: list[Paper], similarity: dict[str, float], spelling: str | None
) -> TopicNotCovered:
    nearest = sorted(papers, key=lambda paper: (-similarity[paper.id], paper.id))[:5]
    titles = [f"{paper.title} ({paper.year}), similarity {similarity[paper.id]:.2f}" for paper in nearest]
    advice = f"Did you mean “{spelling[:80]}”? If not, reword" if spelling else "Reword"
    return TopicNotCovered(
        f"The library has nothing on the topic “{topic.text[:80]}”. {advice} it in English, or continue with "
        "--allow-off-topic (the ideas will be based on the nearest papers listed below).",
        titles,
    )


async def _assign_anchors(
    context: Services,
    queries: list[str],
    hits: Hits,
    allowed: dict[str, ScoredPaper],
    reasons: dict[str, str],
) -> list[Anchor]:
    """Assign each query, in order, its best unused hit, or else any other unused paper.

    A paper that cites an anchor or is cited by one would lead to the same chain, so it comes last. Each
    anchor records the query that found it.
    """
    used: set[str] = set()
    linked: set[str] = set()
    anchors: list[Anchor] = []
    ranked = sorted(allowed.values(), key=lambda scored: (-scored.similarity, scored.paper.id))
    for query in queries:
        own = [scored for scored in hits[query] if scored.paper.id in allowed]
        unused = [scored.paper for scored in [*own, *ranked] if scored.paper.id not in used]
        unlinked = [paper for paper in unused if paper.id not in linked]
        for paper in (unlinked or unused)[:1]:
            used.add(paper.id)
            neighbours = [
                *await context.library.references(paper),
                *await context.library.citations(paper),
            ]
            linked |= {neighbour.id for neighbour in neighbours}
            anchors.append(
                {
                    "branch": len(anchors) + 1,
                    "query": _query_that_found(paper, query, hits),
                    "paper": paper.model_dump(mode="json"),
                    "reason": reasons.get(paper.id, "nearest to the query, but judged off topic"),
                }
            )
    return anchors


def _query_that_found(paper: Paper, query: str, hits: Hits) -> str:
    """This query if it found the paper, otherwise the one with the highest similarity."""
    similarity = {
        other: scored.similarity
        for other, found in hits.items()
        for scored in found
        if scored.paper.id == paper.id
    }
    return query if query in similarity else max(similarity, key=lambda other: similarity[other])
