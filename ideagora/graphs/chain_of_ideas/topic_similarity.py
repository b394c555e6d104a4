"""How near papers are to the topic itself, whatever search or citation led to them."""

from __future__ import annotations

from collections.abc import Sequence

from ideagora.retrieval.library import Library
from ideagora.schema import Paper, Topic

RELATED_TO_TOPIC = 0.20
"""Cosine to the topic that a paper beside the chain needs: nothing is taken from an unrelated field."""


async def topic_similarity(library: Library, topic: Topic, papers: Sequence[Paper]) -> dict[str, float]:
    """Cosine to the topic (-1 to 1) of each paper, by its id."""
    return {scored.paper.id: scored.similarity for scored in await library.similar(list(papers), topic.text)}


async def related_to_topic(library: Library, topic: Topic, papers: Sequence[Paper]) -> list[Paper]:
    """The papers that are no further from the topic than ``RELATED_TO_TOPIC``, in their order."""
    near = await topic_similarity(library, topic, papers)
    return [paper for paper in papers if near[paper.id] >= RELATED_TO_TOPIC]
