"""Novelty check: retrieve papers by the idea and by each facet, and have a judge compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ideagora.agents.novelty import NOVELTY_JUDGE, PaperComparison, PaperComparisons
from ideagora.agents.text.quotes import verify_quote
from ideagora.agents.views import paper_brief
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.schema import ClosestPaper, DroppedDraft, NoveltyCheck, Paper, ScoredPaper, Topic

FACETS = ("purpose", "mechanism", "evaluation")
BY_IDEA, BY_FACET = 8, 5
"""Papers retrieved by the whole idea, and by each facet."""
COMPARED = 12
"""Papers that the judge is shown, unless more are known in advance."""
REPORTED = 5
"""Papers in the report, unless more are too close."""


async def check_novelty(
    context: Services,
    topic: Topic,
    draft: dict[str, Any],
    known: Sequence[Paper],
    dropped: tuple[DroppedDraft, ...],
) -> NoveltyCheck:
    """Compare a draft with known papers and with what the library finds for it.

    Args:
        known: papers that are always compared.
        dropped: the drafts before this one.

    Returns:
        The check; ``unchecked`` if there is no paper to compare with or the answer is unreadable.
    """
    found = await _retrieve(context, draft, known)
    common: dict[str, Any] = {
        "rounds": len(dropped),
        "compared": len(found),
        "dropped": dropped,
        "library": context.library.size(),
        "judge": context.client.settings.model_of("judge"),
    }
    if not found:
        return NoveltyCheck(status="unchecked", reason="the library has no paper to compare with", **common)
    try:
        answer = await NOVELTY_JUDGE(
            context.client,
            topic=topic.text,
            papers=tuple(paper_brief(scored.paper) for scored in found),
            **{name: draft[name] for name in ("title", "summary", "novelty", "method", *FACETS)},
        )
    except UnreadableAnswer as error:
        return NoveltyCheck(status="unchecked", reason=str(error), **common)
    return _summarize(found, answer).model_copy(update=common)


async def _retrieve(context: Services, draft: dict[str, Any], known: Sequence[Paper]) -> list[ScoredPaper]:
    """The known papers, then the best of every list alternately (idea, facets), ranked by the idea."""
    whole = f"{draft['title']}. {draft['summary']}"
    lists = [await context.library.search(whole, BY_IDEA)]
    lists += [await context.library.search(draft[facet], BY_FACET) for facet in FACETS]
    papers = {paper.id: paper for paper in known}
    for place in range(BY_IDEA):
        for ranked in lists:
            if place < len(ranked):
                papers.setdefault(ranked[place].paper.id, ranked[place].paper)
    return await context.library.similar(list(papers.values())[: max(COMPARED, len(known))], whole)


def _summarize(found: list[ScoredPaper], answer: PaperComparisons) -> NoveltyCheck:
    ordered = sorted(answer.comparisons, key=lambda c: (not c.too_close, -found[c.paper].similarity, c.paper))
    too_close = sum(comparison.too_close for comparison in ordered)
    first = max(REPORTED, too_close)
    shown = [
        *ordered[:first],
        *(comparison for comparison in ordered[first:] if comparison.mechanism == "same"),
    ]
    return NoveltyCheck(
        status="too_close" if too_close else "novel",
        closest=tuple(_closest_paper(found[comparison.paper], comparison) for comparison in shown),
        reported=len(ordered),
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
