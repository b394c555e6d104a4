"""Similarity of papers to the topic, independent of the search or citation that found them."""

from __future__ import annotations

from collections.abc import Sequence

from ideagora.retrieval.library import Library
from ideagora.schema import Paper, Topic

RELATED_TO_TOPIC = 0.20
"""Minimum cosine to the topic of a paper outside the chain, to leave out unrelated fields."""


async def topic_similarity(library: Library, topic: Topic, papers: Sequence[Paper]) -> dict[str, float]:
    """Cosine to the topic (-1 to 1) of each paper, by its id."""
    return {scored.paper.id: scored.similarity for scored in await library.similar(list(papers), topic.text)}


async def related_to_topic(library: Library, topic: Topic, papers: Sequence[Paper]) -> list[Paper]:
    """The papers with at least ``RELATED_TO_TOPIC`` similarity to the topic, in their order."""
    similarity = await topic_similarity(library, topic, papers)
    return [paper for paper in papers if similarity[paper.id] >= RELATED_TO_TOPIC]
