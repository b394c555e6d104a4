"""Records that cross rooms: frozen pydantic models, plain enough to live in a graph's state.

Nothing in here computes a judgement. A missing value is ``None`` (or an empty list where the
source really said "none"), never a default that could be mistaken for a measurement.
"""

from __future__ import annotations

import calendar
import hashlib
import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

_PARTIAL_DATE = re.compile(r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?\Z", re.ASCII)


class Record(BaseModel):
    """A frozen record; unknown fields are refused so that a typo never passes silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def last_day(date: str) -> str:
    """The last day that a partial ISO date (YYYY, YYYY-MM or YYYY-MM-DD) can mean, as YYYY-MM-DD.

    A cut-off has to be safe: a paper known only by its year may have appeared on 31 December.
    """
    year, month, day = [*date.split("-"), None, None][:3]
    assert year is not None
    if month is None:
        return f"{year}-12-31"
    if day is None:
        return f"{year}-{month}-{calendar.monthrange(int(year), int(month))[1]:02d}"
    return date


def stable_id(*parts: str) -> str:
    """A short identifier (12 hex digits) that depends on the parts only."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


class Topic(Record):
    """What ideas are wanted for."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    text: str = Field(min_length=1)
    before: str | None = None
    """Cut-off date: no paper dated on or after it may be seen (ISO, may be partial)."""
    inspirations: tuple[str, ...] = ()
    """Paper ids that the ideas should start from (benchmarks use it)."""
    excluded: tuple[str, ...] = Field(default=(), alias="banned")
    """Titles or ids that must never be shown to an agent (the target paper of a benchmark).

    Files say ``banned``, as they always have; both names are read.
    """

    @field_validator("before")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return _checked_date(value)


def _checked_date(value: str | None) -> str | None:
    if value is not None and not _PARTIAL_DATE.match(value):
        raise ValueError(f"{value!r} is not a date: write YYYY, YYYY-MM or YYYY-MM-DD")
    return value


class Paper(Record):
    """One record of the literature."""

    id: str
    """``arxiv:<id>``, ``doi:<doi>`` or a source's own ``<source>:<id>``."""
    title: str
    abstract: str | None = None
    """Abstract, or (starter corpus) a summary in our own words; ``None`` when the source has none."""
    authors: tuple[str, ...] = ()
    date: str | None = None
    """ISO date, possibly partial (YYYY or YYYY-MM)."""
    venue: str | None = None
    arxiv_id: str | None = None
    doi: str | None = None
    pdf_url: str | None = None
    """Link to a PDF that anybody may read, as a source told it; nothing has been fetched from there."""
    other_ids: tuple[str, ...] = ()
    """Further ids, as sources have them (``s2:…``, ``openalex:…``)."""
    citation_count: int | None = None
    citations_as_of: str | None = None
    references: tuple[str, ...] | None = None
    """Ids of the papers that this one cites, as far as the library knows them; ``None``: not asked."""
    source: str = "unknown"
    thread: str | None = None
    """Name of the starter corpus's thread, where the paper comes from it."""

    @field_validator("date")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return _checked_date(value)

    @property
    def year(self) -> str:
        """Year for display; ``n.d.`` when the date is unknown."""
        return self.date[:4] if self.date else "n.d."

    @property
    def url(self) -> str | None:
        """Where a reader finds the paper, when an identifier tells."""
        if self.arxiv_id:
            return f"https://arxiv.org/abs/{self.arxiv_id}"
        return f"https://doi.org/{self.doi}" if self.doi else None


class ScoredPaper(Record):
    """A paper with the cosine similarity (-1 to 1) that found it."""

    paper: Paper
    similarity: float = Field(allow_inf_nan=False)


class Entity(Record):
    """A named thing of a paper (model, data set, metric, technique) with what the paper says of it."""

    name: str
    description: str
    kind: Literal["model", "dataset", "metric", "technique", "other"] = "other"


class Reading(Record):
    """What the reader took from one paper (Chain of Ideas, Tables 10 and 11)."""

    method: str
    problem: str | None = None
    finding: str | None = None
    limitation: str | None = None
    experiment: str | None = None
    entities: tuple[Entity, ...] = ()
    read_from: Literal["full text", "abstract", "title"] = "abstract"


class Link(Record):
    """One paper in the chain."""

    paper: Paper
    position: int
    """0 is the anchor, negative is backward in time, positive forward."""
    reason: str
    """Why the paper was taken into the chain."""
    reading: Reading | None = None


class Transition(Record):
    """What changed between two neighbours of the chain (Table 12)."""

    earlier: str
    later: str
    """Ids of the two papers."""
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    text: str


class Source(Record):
    """Which paper a part of an idea came from, with the words it rests on."""

    part: str
    paper_id: str
    quote: str
    """Words that the part rests on; said so in the text when they do not stand in the paper."""
    verbatim: bool = True
    """Whether the words stand in the text that was shown."""


class Direction(Record):
    """The predicted future direction (Table 13)."""

    text: str
    limitation: str
    limitation_from: str
    mechanism: str
    mechanism_from: str
    """The limitation it takes up and the mechanism it brings, each with the id of its paper."""


FAR_FROM_TOPIC = 0.30
"""Mean cosine to the topic below which a chain is called far from it (docs/offline.md)."""


class Chain(Record):
    """The chain of ideas around an anchor: papers in order of development."""

    query: str
    anchor: str
    links: tuple[Link, ...]
    transitions: tuple[Transition, ...] = ()
    direction: Direction | None = None
    stopped: dict[str, str] = Field(default_factory=dict)
    """Why growth ended, by side (``forward``, ``backward``)."""
    topic_similarity: float | None = Field(default=None, allow_inf_nan=False)
    """Mean cosine of its papers to the topic, -1 to 1; ``None``: not measured (older runs)."""

    @property
    def is_far_from_topic(self) -> bool:
        """Whether its papers are on average further from the topic than papers on it are."""
        return self.topic_similarity is not None and self.topic_similarity < FAR_FROM_TOPIC


class Experiment(Record):
    """An experiment plan (Tables 17 to 20)."""

    steps: tuple[str, ...]
    datasets: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    ablations: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    refuted_if: str | None = None
    """The outcome that would refute the idea."""
    suggestions: tuple[str, ...] = ()
    """What the reviewer asked for."""
    declined: tuple[str, ...] = ()
    """Suggestions that the refiner did not follow, each with its reason."""
    searched: tuple[str, ...] = ()
    """Queries that were searched for the refinement."""
    found: tuple[Paper, ...] = ()
    """Papers that the searches found and the refiner was shown."""
    rounds: int = 0
    """Refinements done."""


class ClosestPaper(Record):
    """One paper that the novelty check found near the idea."""

    paper_id: str
    title: str
    similarity: float = Field(allow_inf_nan=False)
    """Cosine between idea and paper, -1 to 1."""
    overlap: str | None
    """Words of the paper that the idea comes close to; ``None`` when nothing comes near."""
    facets: dict[str, str] = Field(default_factory=dict)
    """For purpose, mechanism, evaluation: ``same``, ``related`` or ``different``."""
    difference: str | None = None
    """What sets the idea apart from the paper, in the judge's words."""
    too_close: bool = False


class DroppedDraft(Record):
    """A draft that was rewritten, and the papers that it was too close to."""

    title: str
    summary: str
    too_close: tuple[ClosestPaper, ...]


class NoveltyCheck(Record):
    """Evidence on novelty. ``unchecked`` says that no answer could be had; it is not a verdict."""

    status: Literal["novel", "too_close", "unchecked"]
    closest: tuple[ClosestPaper, ...] = ()
    rounds: int = 0
    """Rewrites that were made because a paper was too close."""
    compared: int = 0
    """Papers that the judge was shown."""
    reported: int = 0
    """Papers on which the judge reported."""
    library: int | None = None
    """Papers that the library holds and may show; ``None``: not recorded, or a service without an end."""
    judge: str | None = None
    """The model that compared; ``offline`` compares sentences by similarity. ``None``: not recorded."""
    dropped: tuple[DroppedDraft, ...] = ()
    """The drafts before this one, in order."""
    reason: str | None = None


class Usage(Record):
    """What was asked of a provider. ``cost_usd`` is ``None`` when a price is not known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    estimated_usd: float = 0.0
    """The part of ``cost_usd`` that no provider reported: the most that such calls may have cost."""
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost_usd is None or other.cost_usd is None
        cost = None if unknown else round((self.cost_usd or 0.0) + (other.cost_usd or 0.0), 9)
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=cost,
            estimated_usd=round(self.estimated_usd + other.estimated_usd, 9),
            seconds=round(self.seconds + other.seconds, 3),
        )


class Idea(Record):
    """A research idea with where it came from."""

    id: str
    topic: str
    agent: str
    kind: Literal["idea", "lead"] = "idea"
    """A lead, which is what the offline model makes, pairs a limitation with a mechanism and is no plan."""
    title: str
    motivation: str | None = None
    novelty: str | None = None
    """``None``: an imported idea whose source says none."""
    method: str
    summary: str | None = None
    experiment: Experiment | None = None
    references: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    neighbours: tuple[Paper, ...] = ()
    """Papers beside the chain that the idea was made with."""
    chain: Chain | None = None
    novelty_check: NoveltyCheck | None = None
    facets: dict[str, str] = Field(default_factory=dict)
    """purpose, mechanism, evaluation."""
    wins: str | None = None
    """Result of the pairwise choice among the branches, e.g. ``3 won, 1 tied of 4``."""
    branch: int | None = None
    model: str = "unknown"
    usage: Usage = Usage()
    created: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class Verdict(Record):
    """One answer of one judge: scored with values, or unscored with a reason."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    id: str
    evaluator: str
    protocol: str
    topic: str
    subject: tuple[str, ...]
    criteria: dict[str, float] | None
    status: Literal["scored", "unscored"]
    reason: str | None = None
    judge: str
    order: int = 0
    """0: the order that was drawn; 1: the two swapped."""
    usage: Usage = Usage()
    kind: Literal["idea", "experiment"] = "idea"
    """What was judged of the subjects."""
    agents: tuple[str, ...] = ()
    """Who made the subjects, in the order shown. The judge never saw it."""
    words: tuple[int, ...] = ()
    """Words of each subject as it was shown."""
    rationale: str | None = Field(default=None, alias="told")
    """The judge's reasons in its own words. Files call it ``told``; both names are read."""
    flags: tuple[str, ...] = ()
    """What was suspicious about a subject, e.g. text that speaks to the judge."""
