"""Chains of ideas: papers in order of development, and the direction they point to."""

from __future__ import annotations

from pydantic import Field

from ideagora.schema.base import Record
from ideagora.schema.literature import Paper, Reading


class Link(Record):
    """One paper in the chain."""

    paper: Paper
    position: int
    """0 for the anchor, negative for earlier papers, positive for later ones."""
    reason: str
    """Why the paper was added to the chain."""
    reading: Reading | None = None


class Transition(Record):
    """What changed between two consecutive papers of the chain (Table 12)."""

    earlier: str
    later: str
    """Ids of the two papers."""
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    text: str


class ConsideredLimitation(Record):
    """A limitation in the chain that the forecaster weighed."""

    paper: str
    """Id of the paper that has it."""
    limitation: str
    answered_by: str | None
    """Id of the paper that resolves it; ``None`` if it is open."""


class ConsideredPairing(Record):
    """A limitation and a mechanism that the forecaster weighed."""

    limitation_from: str
    mechanism: str
    mechanism_from: str | None
    """Ids of their papers; ``None``: the mechanism is from the model's memory."""
    way: str
    """``reflection``, ``analogy``, ``deep dive`` or ``other`` (Table 13)."""
    why: str


class Direction(Record):
    """The predicted future direction (Table 13)."""

    text: str
    limitation: str
    limitation_from: str
    mechanism: str
    mechanism_from: str | None
    """The limitation that it addresses and the mechanism that it uses, each with the id of its paper.

    ``None`` if the mechanism is not from a paper that was shown but stated from memory.
    """
    limitations: tuple[ConsideredLimitation, ...] = ()
    pairings: tuple[ConsideredPairing, ...] = ()
    searches: tuple[str, ...] = ()
    """The searches for mechanisms."""
    nothing_found: tuple[str, ...] = ()
    """Those of the searches that found nothing close."""
    mechanism_query: str | None = None
    """The search for a mechanism that was stated from memory."""
    mechanism_found: tuple[str, ...] = ()
    """Ids of the papers that this search found."""


FAR_FROM_TOPIC = 0.30
"""Mean cosine to the topic below which a chain counts as far from it (docs/offline.md)."""


class Chain(Record):
    """The chain of ideas around an anchor: papers in order of development."""

    query: str
    anchor: str
    links: tuple[Link, ...]
    transitions: tuple[Transition, ...] = ()
    direction: Direction | None = None
    stopped: dict[str, str] = Field(default_factory=dict)
    """Why the chain ended, by direction (``forward``, ``backward``)."""
    topic_similarity: float | None = Field(default=None, allow_inf_nan=False)
    """Mean cosine of its papers to the topic, -1 to 1; ``None`` in older runs, which did not measure it."""

    @property
    def is_far_from_topic(self) -> bool:
        """Whether ``topic_similarity`` is below ``FAR_FROM_TOPIC``."""
        return self.topic_similarity is not None and self.topic_similarity < FAR_FROM_TOPIC
