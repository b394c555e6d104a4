"""How near a chain is to the topic, in words: the same on the screen and in the reports."""

from __future__ import annotations

from ideagora.schema import FAR_FROM_TOPIC, Chain


def similarity_sentence(chain: Chain) -> str | None:
    """A sentence with the mean similarity to the topic, a warning when it is far; ``None``: not measured."""
    if chain.topic_similarity is None:
        return None
    measured = f"Nearness of these papers to the topic: {chain.topic_similarity:.2f}"
    if not chain.is_far_from_topic:
        return f"{measured}."
    return f"{measured}, under {FAR_FROM_TOPIC:.2f}: this idea may be about something else."
