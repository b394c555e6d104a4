"""Search literature for a topic: planned queries, candidates, graded relevance, accepted papers in order.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Tables 8 and 9. Embeddings only select the
candidates; the relevance judge grades and orders them. A query that finds little is reworded once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import zip_longest

from pydantic import Field

from ideagora.agents.literature import QUERY_PLANNER, QUERY_REWORDER
from ideagora.errors import TopicNotCovered, UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.relevance import GradedPapers, grade_papers
from ideagora.schema import Paper, ScoredPaper, Topic

CANDIDATES = 4
"""Papers of each query that the relevance judge sees."""

TOPIC_WORDS = 30
"""Words of a long topic that are used as a library query."""

MIN_TOPIC_SIMILARITY = 0.30
"""Cosine to the topic that a candidate needs if only a query for one aspect of the topic found it."""

NEAREST = 5
"""Papers that are listed if the library has nothing on the topic."""

FEW_HITS = 3
"""A query with fewer close hits than this is reworded."""


class SearchedLiterature(GradedPapers):
    """What the searches for a topic found."""

    queries: tuple[str, ...]
    """The queries in the order given, each as it was finally used."""
    reworded: dict[str, str] = Field(default_factory=dict)
    """New queries, by those that found little."""


async def plan_queries(context: Services, topic: Topic, count: int) -> list[str]:
    """One query for the whole topic and others for its aspects (Table 8)."""
    answer = await QUERY_PLANNER(context.client, topic=topic.text, count=count, focus=topic.focus)
    return list(answer.queries[:count])


async def search_literature(
    context: Services,
    topic: Topic,
    queries: Sequence[str],
    *,
    per_query: int = CANDIDATES,
    reword: bool = True,
    allow_thin: bool = False,
    follow: bool = False,
) -> SearchedLiterature:
    """Search for the topic and each query, and grade what they find.

    Rewording runs beside the first judgement; what the new queries find is judged afterwards. A web service
    searches for words and makes every request wait, so it is asked for the topic itself only if fewer papers
    than queries, the first of which is for the whole topic, are accepted.

    Args:
        context: the run's services.
        topic: papers that a benchmark supplies for it are used even if the judge accepts none.
        queries: planned queries.
        per_query: candidates of each query.
        reword: reword queries that find little, once.
        allow_thin: return the candidates, none of them accepted, instead of raising.
        follow: whether references and citations of accepted papers will be asked for; those of the candidates
            are fetched while they are judged.

    Raises:
        TopicNotCovered: the library has nothing on the topic.
    """
    search = _Searches(context, topic, per_query)
    is_service = context.library.size() is None
    await search.run(queries if queries and is_service else [topic_query(topic), *queries])
    if is_service and not any(search.hits.values()):
        await search.run([topic_query(topic)])
    if not any(search.hits.values()):
        raise TopicNotCovered(
            "The library has no paper that may be used for this topic. Use a later --before, or exclude "
            "fewer papers."
        )
    if follow:
        context.library.prefetch(neighbors_of=search.by_rank())
    weak = [query for query in queries if reword and search.found_little(query)]
    graded, reworded = await asyncio.gather(
        grade_papers(context, topic, search.new_candidates()), _reword(context, topic, weak, search)
    )
    found_few = is_service and len(graded.accepted) < len(queries)
    await search.run([*reworded.values(), *([topic_query(topic)] if found_few else [])])
    graded = graded.merge(await grade_papers(context, topic, search.new_candidates()))
    if not graded.accepted and not allow_thin and not topic.inspirations:  # those cover their topic
        raise await not_covered(context, topic)
    return SearchedLiterature(
        papers=tuple(g.model_copy(update={"queries": search.queries_of(g.paper.id)}) for g in graded.papers),
        unjudged=graded.unjudged,
        queries=tuple(reworded.get(query, query) for query in queries),
        reworded=reworded,
    )


class _Searches:
    """The searches for one topic and the candidates that they found."""

    def __init__(self, context: Services, topic: Topic, per_query: int) -> None:
        self._context, self._topic, self._per_query = context, topic, per_query
        self.hits: dict[str, list[ScoredPaper]] = {}
        """Hits close enough to the topic, by query."""
        self._judged: set[str] = set()
        self._candidates: dict[str, Paper] = {}

    async def run(self, queries: Sequence[str]) -> None:
        """Add what the queries find, apart from papers far from the topic."""
        library = self._context.library
        new = [query for query in dict.fromkeys(queries) if query not in self.hits]
        lists = await asyncio.gather(*(library.search(query, self._per_query) for query in new))
        papers = [scored.paper for found in lists for scored in found]
        ranked = await library.similar(papers, self._topic.text)
        similarity = {scored.paper.id: scored.similarity for scored in ranked}
        whole = topic_query(self._topic)
        for query, found in zip(new, lists, strict=True):
            near = [
                scored
                for scored in found
                if query == whole or similarity[scored.paper.id] >= MIN_TOPIC_SIMILARITY
            ]
            self.hits[query] = near
            self._candidates |= {scored.paper.id: scored.paper for scored in near}

    def found_little(self, query: str) -> bool:
        """Whether a query has too few hits close to the topic."""
        return len(self.hits[query]) < min(FEW_HITS, self._per_query)

    def new_candidates(self) -> list[Paper]:
        """Candidates that were not returned before, by query and similarity."""
        new = [paper for paper_id, paper in self._candidates.items() if paper_id not in self._judged]
        self._judged |= set(self._candidates)
        return new

    def by_rank(self) -> list[Paper]:
        """The candidates, the best of each query in turn."""
        rows = zip_longest(*self.hits.values())
        return list({s.paper.id: s.paper for row in rows for s in row if s is not None}.values())

    def queries_of(self, paper_id: str) -> tuple[str, ...]:
        """The queries that found a paper, the closest first."""
        found = {
            query: scored.similarity
            for query, hits in self.hits.items()
            for scored in hits
            if scored.paper.id == paper_id
        }
        return tuple(sorted(found, key=lambda query: -found[query]))


def topic_query(topic: Topic) -> str:
    """The topic's own words as a query."""
    return " ".join(topic.text.split()[:TOPIC_WORDS])


async def _reword(
    context: Services, topic: Topic, queries: Sequence[str], search: _Searches
) -> dict[str, str]:
    """A new query for each that found little, by the old one; an unreadable answer keeps the old one."""

    async def reword(query: str) -> str:
        found = tuple(scored.paper.title for scored in search.hits[query])
        try:
            answer = await QUERY_REWORDER(context.client, topic=topic.text, query=query, found=found)
        except UnreadableAnswer as error:
            context.say(f"“{query}” found little and keeps its words ({error})")
            return query
        return answer.query

    new = await asyncio.gather(*(reword(query) for query in queries))
    reworded = {old: query for old, query in zip(queries, new, strict=True) if query != old}
    for old, query in reworded.items():
        context.say(f"“{old}” found little; searching for “{query}”")
    return reworded


async def not_covered(context: Services, topic: Topic) -> TopicNotCovered:
    """The error that names the nearest papers of a library without papers on the topic."""
    nearest = await context.library.search(topic_query(topic), NEAREST)
    titles = [f"{s.paper.title} ({s.paper.year}), similarity {s.similarity:.2f}" for s in nearest]
    spelling = await context.library.nearest_spelling(topic.text)
    advice = f"Did you mean “{spelling[:80]}”? If not, reword" if spelling else "Reword"
    return TopicNotCovered(
        f"The library has nothing on the topic “{topic.text[:80]}”. {advice} it in English, search a "
        "literature service (--source openalex), add papers of your own (ideagora library add), or continue "
        "with --allow-off-topic (the ideas will be based on the nearest papers listed below).",
        titles,
    )
