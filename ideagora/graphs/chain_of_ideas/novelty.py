"""Novelty evidence: retrieve by the idea and by each facet, rank facet by facet, have it judged."""

from __future__ import annotations

from typing import Any

from ideagora.agents.novelty import NOVELTY_JUDGE, Comparison, Comparisons
from ideagora.agents.quotes import honest_quote
from ideagora.agents.views import brief
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.schema import Close, NoveltyCheck, Paper, Scored, Topic

FACETS = ("purpose", "mechanism", "evaluation")
BY_IDEA, BY_FACET, COMPARED = 8, 5, 12
REPORTED = 5


async def check_novelty(
    context: Services, topic: Topic, draft: dict[str, Any], rounds: int
) -> tuple[NoveltyCheck, list[dict[str, str]]]:
    """The check, and for each paper that is too close its title and the overlap."""
    found = await _retrieve(context, draft)
    if not found:
        return NoveltyCheck(
            status="unchecked", rounds=rounds, reason="the library has no paper to compare with"
        ), []
    try:
        answer = await NOVELTY_JUDGE(
            context.door,
            topic=topic.text,
            papers=tuple(brief(scored.paper) for scored in found),
            **{name: draft[name] for name in ("title", "summary", *FACETS)},
        )
    except UnreadableAnswer as error:
        return NoveltyCheck(status="unchecked", rounds=rounds, compared=len(found), reason=str(error)), []
    return _weigh(found, answer, rounds)


async def _retrieve(context: Services, draft: dict[str, Any]) -> list[Scored]:
    """The best of every list in turn (idea, purpose, mechanism, evaluation), then ranked by the idea."""
    whole = f"{draft['title']}. {draft['summary']}"
    lists = [await context.library.search(whole, BY_IDEA)]
    lists += [await context.library.search(draft[facet], BY_FACET) for facet in FACETS]
    papers: dict[str, Paper] = {}
    for place in range(BY_IDEA):
        for ranked in lists:
            if place < len(ranked):
                papers.setdefault(ranked[place].paper.id, ranked[place].paper)
    return await context.library.similar(list(papers.values())[:COMPARED], whole)


def _weigh(
    found: list[Scored], answer: Comparisons, rounds: int
) -> tuple[NoveltyCheck, list[dict[str, str]]]:
    ordered = sorted(answer.comparisons, key=lambda c: (not c.too_close, -found[c.paper].similarity, c.paper))
    closest = tuple(_close(found[comparison.paper], comparison) for comparison in ordered[:REPORTED])
    too_close = [c for c in ordered if c.too_close]
    check = NoveltyCheck(
        status="too_close" if too_close else "novel", closest=closest, rounds=rounds, compared=len(found)
    )
    return check, [{"title": found[c.paper].paper.title, "overlap": c.overlap} for c in too_close]


def _close(scored: Scored, comparison: Comparison) -> Close:
    return Close(
        paper_id=scored.paper.id,
        title=scored.paper.title,
        similarity=scored.similarity,
        overlap=honest_quote(comparison.overlap, f"{scored.paper.title} {scored.paper.abstract or ''}"),
        facets={facet: getattr(comparison, facet) for facet in FACETS},
    )
