"""What a user adds to a topic, as the steps of an agent use it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ideagora.agents.idea_inputs import ProposedIdea
from ideagora.graphs.services import Services
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.schema import Paper, Topic

MAX_AVOIDED_SHOWN = 20
"""Avoided ideas that a prompt shows; of more, those closest to what it is about."""


async def nearest_records(context: Services, papers: Sequence[Paper], about: str, most: int) -> list[Paper]:
    """The records closest to a text; without a library, the first ones."""
    if len(papers) <= most and len(papers) < 2:
        return list(papers)
    if context.optional_library is None:
        return list(papers[:most])
    ranked = await asyncio.to_thread(rank_by_similarity, context.library.embedder, papers, about)
    return [scored.paper for scored in ranked[:most]]


async def avoided_ideas(context: Services, topic: Topic, about: str = "") -> tuple[ProposedIdea, ...]:
    """The ideas that must not be proposed again, as prompts show them, those closest to a text first."""
    papers = await nearest_records(context, topic.avoided, f"{topic.text}. {about}", MAX_AVOIDED_SHOWN)
    return tuple(ProposedIdea(title=paper.title, summary=paper.abstract or "") for paper in papers)
