"""Novelty check: retrieve papers by the idea, its facets and its own queries; a judge compares the closest.

A web service makes every search wait, so it is asked little and with long lists (``novelty_requests``);
facets and idea then select by similarity.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ideagora.agents.novelty import NOVELTY_JUDGE, NoveltyVerdict, PaperComparison
from ideagora.agents.text.quotes import verify_quote
from ideagora.agents.views import paper_brief
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import FACETS, Draft, Facet
from ideagora.graphs.services import Services
from ideagora.graphs.steps.novelty_requests import QUERIES, alternately, search_sparingly
from ideagora.graphs.steps.steering import nearest_records
from ideagora.models.offline.text import names
from ideagora.retrieval.library import Library
from ideagora.schema import (
    OWN_SOURCE,
    ClosestPaper,
    DroppedDraft,
    NoveltyCheck,
    Paper,
    RememberedWork,
    ScoredPaper,
    Topic,
)

DECISIVE: tuple[Facet, ...] = ("purpose", "mechanism")
"""Facets by which papers are ordered: a paper that shares both is too close."""
BY_IDEA, BY_FACET, BY_QUERY, BY_NAME = 30, 10, 10, 3
"""Papers retrieved by the whole idea, by each facet, by each query, and by each name in the idea."""
NAMES = 6
"""Maximum number of names in the idea that are searched for."""
AVOIDED = 3
"""Ideas that must not come again which the judge is shown, the closest ones."""
COMPARED = 12
"""Papers that the judge is shown, unless more are known in advance."""
REPORTED = 5
"""Papers in the report, unless more are too close."""
LEVELS = {"same": 2, "related": 1, "different": 0}


async def check_novelty(
    context: Services,
    topic: Topic,
    draft: Draft,
    known: Sequence[Paper] = (),
    also: Sequence[str] = (),
    *,
    pool: Sequence[str],
    requests: int,
) -> NoveltyCheck:
    """Compare a draft with known papers and with what the library finds for it.

    Args:
        draft: title, summary, novelty, method and facets; optionally ``queries``.
        topic: ideas of the user that must not come again are compared too; the user's own notes are no
            publications, so they are not.
        known: papers that are always compared.
        also: further texts to search for, such as a mechanism that a model stated from memory.
        pool: ids of papers near the idea that the run has already; only used with a web service.
        requests: maximum number of queries that a web service is asked (``requests_left``).

    Returns:
        The check; ``unchecked`` if there is no paper to compare with or the answer is unreadable.
    """
    queries = tuple(dict.fromkeys(filter(None, (*draft.get("queries", ())[:QUERIES], *also))))
    named: list[Paper] = []
    if context.library.size() is None:
        wanted = queries or (_whole(draft), draft["mechanism"])
        found = alternately(await search_sparingly(context.library, wanted, pool, requests))
    else:
        found, named = await _retrieve(context.library, topic, draft, queries)
    avoided = await nearest_records(context, topic.avoided, _whole(draft), AVOIDED)
    fixed = {paper.id: paper for paper in (*known, *named, *avoided) if paper.source != OWN_SOURCE}
    others = {paper_id: paper for paper_id, paper in found.items() if paper.source != OWN_SOURCE}
    shown = await _closest(context.library, draft, list((fixed | others).values()), list(fixed))
    common: dict[str, Any] = {
        "compared": len(shown) - len(avoided),
        "retrieved": len(fixed | others) - len(avoided),
        "queries": queries,
        "library": _size(context.library, topic),
        "judge": context.client.settings.model_of("judge"),
    }
    check = await _judge(context, topic, draft, shown)
    return check.model_copy(update=common)


async def _judge(context: Services, topic: Topic, draft: Draft, shown: Sequence[ScoredPaper]) -> NoveltyCheck:
    """The judge's comparison with these papers, without the figures of the search."""
    if not shown:
        return NoveltyCheck(status="unchecked", reason="the library has no paper to compare with")
    try:
        answer = await NOVELTY_JUDGE(
            context.client,
            topic=topic.text,
            papers=tuple(paper_brief(scored.paper) for scored in shown),
            title=draft["title"],
            summary=draft["summary"],
            novelty=draft["novelty"],
            method=draft["method"],
            purpose=draft["purpose"],
            mechanism=draft["mechanism"],
            evaluation=draft["evaluation"],
        )
    except UnreadableAnswer as error:
        return NoveltyCheck(status="unchecked", reason=str(error))
    return _summarize(shown, answer)


def with_dropped(check: NoveltyCheck, dropped: Sequence[DroppedDraft]) -> NoveltyCheck:
    """The check of a draft that was written after others."""
    rounds = sum(bool(draft.too_close) for draft in dropped)
    return check.model_copy(update={"rounds": rounds, "dropped": tuple(dropped)})


def _size(library: Library, topic: Topic) -> int | None:
    """The number of papers in the library besides the user's own notes."""
    size = library.size()
    return None if size is None else size - len(topic.own)


def _whole(draft: Draft) -> str:
    return f"{draft['title']}. {draft['summary']}"


def facet_query(topic: str, facet: str, text: str) -> str:
    """The text that papers are searched with for one facet of an idea."""
    return f"{text} ({topic})" if facet == "purpose" else text


async def _retrieve(
    library: Library, topic: Topic, draft: Draft, queries: Sequence[str]
) -> tuple[Mapping[str, Paper], list[Paper]]:
    """The papers found, by id, the best of every list alternately, and those that the idea names.

    A purpose is searched for with the topic, without which it may fit any subject; mechanism and evaluation
    in their own words, because they may be known from another topic (``python -m bench idea_similarity``).
    """
    texts = [facet_query(topic.text, facet, draft[facet]) for facet in FACETS]
    searches = [(_whole(draft), BY_IDEA), *((text, BY_FACET) for text in texts)]
    searches += [(query, BY_QUERY) for query in queries]
    mentioned = [name.name for name in names(f"{draft['novelty']} {draft['method']}")][:NAMES]
    texts = [*(text for text, _ in searches), *mentioned]
    await asyncio.to_thread(library.embedder.encode, texts)  # in one batch, not search by search
    found = alternately([await library.search(text, count) for text, count in searches])
    named = {
        scored.paper.id: scored.paper
        for name in mentioned
        for scored in await library.search(name, BY_NAME)
        if name.lower() in scored.paper.title.lower()
    }
    return found, list(named.values())


async def _closest(
    library: Library, draft: Draft, papers: Sequence[Paper], fixed: Sequence[str]
) -> list[ScoredPaper]:
    """The fixed papers and the closest others, ordered by the similarity of their facets.

    The similarity that they carry is that to the whole idea.
    """
    by_facet = {paper.id: 0.0 for paper in papers}
    for facet in DECISIVE:
        for scored in await library.similar(papers, draft[facet]):
            by_facet[scored.paper.id] += scored.similarity
    ranked = sorted(
        await library.similar(papers, _whole(draft)),
        key=lambda scored: (-round(by_facet[scored.paper.id], 4), scored.paper.id),
    )
    places = max(0, COMPARED - len(fixed))
    others = {scored.paper.id for scored in [one for one in ranked if one.paper.id not in fixed][:places]}
    return [scored for scored in ranked if scored.paper.id in others or scored.paper.id in fixed]


def _summarize(shown: Sequence[ScoredPaper], answer: NoveltyVerdict) -> NoveltyCheck:
    """The judge's answer as a record, the closest papers first, by facets and then by similarity."""

    def closeness(comparison: PaperComparison) -> tuple[int, float, int]:
        shared = sum(LEVELS[getattr(comparison, facet)] for facet in DECISIVE)
        return -shared, -shown[comparison.paper].similarity, comparison.paper

    ordered = sorted(answer.comparisons, key=closeness)
    too_close = sum(comparison.too_close for comparison in ordered)
    first = max(REPORTED, too_close)
    reported = [
        *ordered[:first],
        *(comparison for comparison in ordered[first:] if comparison.mechanism == "same"),
    ]
    return NoveltyCheck(
        status="too_close" if too_close else "novel",
        closest=tuple(_closest_paper(shown[comparison.paper], comparison) for comparison in reported),
        reported=len(ordered),
        verdict=answer.verdict,
        verdict_reason=answer.reason,
        combination=tuple(shown[number].paper.id for number in dict.fromkeys(answer.combination)),
        plain_purpose=answer.plain_purpose,
        plain_mechanism=answer.plain_mechanism,
        from_memory=tuple(RememberedWork(**work.model_dump()) for work in answer.from_memory),
    )


def _closest_paper(scored: ScoredPaper, comparison: PaperComparison) -> ClosestPaper:
    text = f"{scored.paper.title} {scored.paper.abstract or ''}"
    return ClosestPaper(
        paper_id=scored.paper.id,
        title=scored.paper.title,
        similarity=scored.similarity,
        overlap=verify_quote(comparison.overlap, text) if comparison.overlap else None,
        facets={facet: getattr(comparison, facet) for facet in FACETS},
        difference=comparison.difference,
        too_close=comparison.too_close,
    )
