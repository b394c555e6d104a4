"""Evidence on the novelty of ideas."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ideagora.schema.base import Record


class ClosestPaper(Record):
    """A paper close to the idea, as found by the novelty check."""

    paper_id: str
    title: str
    similarity: float = Field(allow_inf_nan=False)
    """Cosine between idea and paper, -1 to 1."""
    overlap: str | None
    """Words of the paper that overlap with the idea; ``None`` if none do."""
    facets: dict[str, str] = Field(default_factory=dict)
    """``same``, ``related`` or ``different``, by ``purpose``, ``mechanism`` and ``evaluation``."""
    difference: str | None = None
    """How the idea differs from the paper, in the judge's words."""
    too_close: bool = False


class RememberedWork(Record):
    """A published work that a judge named from memory; nobody has verified that it exists."""

    title: str
    year: int | None = None
    why: str
    """What it has in common with the idea, in the judge's words."""


class DroppedDraft(Record):
    """A draft that was rewritten, with the papers that it was too close to."""

    title: str
    summary: str
    too_close: tuple[ClosestPaper, ...]
    same_as: str | None = None
    """Title of the idea of another branch that it repeated."""


class NoveltyCheck(Record):
    """Evidence on novelty. ``unchecked`` means that there is no answer; it is not a verdict."""

    status: Literal["novel", "too_close", "unchecked"]
    closest: tuple[ClosestPaper, ...] = ()
    rounds: int = 0
    """Number of rewrites because a paper was too close."""
    compared: int = 0
    """Number of papers that the judge got."""
    retrieved: int = 0
    """Number of papers that were compared with the idea by similarity; the judge got the closest."""
    reported: int = 0
    """Number of papers that the judge reported on."""
    verdict: Literal["novel", "obvious combination", "published"] | None = None
    """The judge's verdict on the idea as a whole; ``None`` if unchecked or not recorded."""
    verdict_reason: str | None = None
    combination: tuple[str, ...] = ()
    """Ids of the two papers that together make the idea obvious."""
    plain_purpose: str | None = None
    plain_mechanism: str | None = None
    """Purpose and mechanism as the judge restated them."""
    from_memory: tuple[RememberedWork, ...] = ()
    """Further works that the judge remembers; they do not decide the verdict."""
    queries: tuple[str, ...] = ()
    """Searches besides those for the idea and its facets."""
    library: int | None = None
    """Number of papers in the library that are not hidden; ``None`` if unknown."""
    judge: str | None = None
    """The judge's model; ``offline`` compares sentences by similarity. ``None`` if not recorded."""
    dropped: tuple[DroppedDraft, ...] = ()
    """Earlier drafts, in order."""
    reason: str | None = None


class Recollection(Record):
    """A paper that the idea could not know and that is close to it (after the cut-off date, or excluded)."""

    paper_id: str
    title: str
    date: str | None = None
    why_hidden: str
    similarity: float = Field(allow_inf_nan=False)
    """Cosine between the idea and the paper, -1 to 1."""
