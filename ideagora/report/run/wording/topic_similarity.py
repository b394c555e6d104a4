"""Describes how similar a chain is to the topic."""

from __future__ import annotations

from ideagora.schema import FAR_FROM_TOPIC, Chain


def similarity_sentence(chain: Chain) -> str | None:
    """Return the mean similarity to the topic, with a warning if it is low; ``None`` if not measured."""
    if chain.topic_similarity is None:
        return None
    measured = f"Mean similarity of these papers to the topic: {chain.topic_similarity:.2f}"
    if not chain.is_far_from_topic:
        return f"{measured}."
    return f"{measured}, below {FAR_FROM_TOPIC:.2f}: this idea may be off topic."
