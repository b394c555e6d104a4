"""Research ideas and their provenance."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ideagora.schema.base import Record
from ideagora.schema.chain import Chain
from ideagora.schema.experiment import Experiment
from ideagora.schema.literature import Paper
from ideagora.schema.novelty import NoveltyCheck, Recollection
from ideagora.schema.usage import Usage


class Source(Record):
    """The paper that a part of an idea is based on, with a quote."""

    part: str
    paper_id: str
    quote: str
    """The words that the part is based on. If they are not in the paper, the text says so."""
    verbatim: bool = True
    """Whether the quote occurs in the text that the model read."""


class Candidate(Record):
    """One of the ideas that were weighed before one was developed."""

    text: str
    status: Literal["developed", "too obvious", "not developed"]


class Comparison(Record):
    """One verdict on this idea and that of another branch, in one order."""

    other: str
    """Id of the other idea."""
    shown_first: bool
    criteria: dict[str, Literal["won", "lost", "tied"]] | None
    """``None``: there is no readable verdict; ``reason`` says why."""
    overall: Literal["won", "lost", "tied"] | None = None
    reason: str
    judge: str


class IdeaParent(Record):
    """An idea that another one was made from."""

    id: str
    title: str


class Lineage(Record):
    """How an idea of a portfolio came about."""

    operation: Literal["drafted", "combined", "simplified", "inverted"]
    agent: str | None = None
    """The agent that drafted it; ``None`` if it was made from other ideas."""
    parents: tuple[IdeaParent, ...] = ()
    round: int = 0
    """The round in which it was made, from 1; 0 if it was drafted."""
    change: str | None = None
    """What was done to the parents, in the author's words."""


class Rating(Record):
    """The rating of an idea among those of its run, by pairwise comparisons, in logits (mean 0)."""

    rating: float = Field(allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    """Bounds of the 95% interval."""
    matches: int
    unscored: int = 0
    """Comparisons without a readable verdict."""
    best_place: int | None = None
    worst_place: int | None = None
    """Places, from 1, that the 95% intervals of the differences to the others leave open."""


class Idea(Record):
    """A research idea with its provenance."""

    id: str
    topic: str
    agent: str
    kind: Literal["idea", "lead"] = "idea"
    """The offline model produces leads: a limitation paired with a mechanism, not a plan."""
    title: str
    motivation: str | None = None
    novelty: str | None = None
    """``None`` for an imported idea without one."""
    method: str
    summary: str | None = None
    experiment: Experiment | None = None
    references: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    neighbours: tuple[Paper, ...] = ()
    """Papers outside the chain that were used for the idea."""
    chain: Chain | None = None
    novelty_check: NoveltyCheck | None = None
    facets: dict[str, str] = Field(default_factory=dict)
    """Texts by ``purpose``, ``mechanism`` and ``evaluation``."""
    candidates: tuple[Candidate, ...] = ()
    """The ideas that were weighed before this one was developed."""
    claim: str | None = None
    """The central claim, as a sentence that a test can refute."""
    might_fail: str | None = None
    """Why it might fail, in its author's words."""
    amendments: tuple[str, ...] = ()
    """Defects of the method that the experiment's reviewer found and that were fixed."""
    first_method: str | None = None
    """The method before the amendments; ``None`` if there are none."""
    first_claim: str | None = None
    """The claim before the experiment's review amended it; ``None`` if it stayed."""
    comparisons: tuple[Comparison, ...] = ()
    """The verdicts of the choice among branches in which this idea took part."""
    recollections: tuple[Recollection, ...] = ()
    """Hidden papers that the idea may be a recollection of, closest first."""
    wins: str | None = None
    """Result of the pairwise comparisons among the branches, e.g. ``3 won, 1 tied of 4``."""
    lineage: Lineage | None = None
    """How it came about; ``None`` outside of portfolios."""
    rating: Rating | None = None
    """Its rating among the ideas of its run; ``None`` without one."""
    branch: int | None = None
    model: str = "unknown"
    usage: Usage = Usage()
    created: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
