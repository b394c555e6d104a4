"""Records shared by all packages: frozen pydantic models that can be part of a graph's state.

A missing value is ``None``, or an empty list if the source explicitly has none; never a default that could
be mistaken for a measurement.
"""

from __future__ import annotations

import calendar
import hashlib
import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

_PARTIAL_DATE = re.compile(r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?\Z", re.ASCII)


class Record(BaseModel):
    """A frozen record; unknown fields are rejected, so that a typo is not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def last_day(date: str) -> str:
    """The last day that a partial ISO date (YYYY, YYYY-MM or YYYY-MM-DD) can mean, as YYYY-MM-DD.

    Cut-offs use it: a paper of which only the year is known may have appeared on 31 December.
    """
    year, month, day = [*date.split("-"), None, None][:3]
    assert year is not None
    if month is None:
        return f"{year}-12-31"
    if day is None:
        return f"{year}-{month}-{calendar.monthrange(int(year), int(month))[1]:02d}"
    return date


def stable_id(*parts: str) -> str:
    """A short identifier (12 hex digits) that depends only on the parts."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


def _checked_date(value: str | None) -> str | None:
    if value is not None and not _PARTIAL_DATE.match(value):
        raise ValueError("not a date; write YYYY, YYYY-MM or YYYY-MM-DD")
    return value


class Paper(Record):
    """One record of the literature."""

    id: str
    """``arxiv:<id>``, ``doi:<doi>`` or a source's own ``<source>:<id>``."""
    title: str
    abstract: str | None = None
    """Abstract, or in the starter corpus our own summary; ``None`` if the source has none."""
    authors: tuple[str, ...] = ()
    date: str | None = None
    """ISO date, possibly partial (YYYY or YYYY-MM)."""
    venue: str | None = None
    arxiv_id: str | None = None
    doi: str | None = None
    pdf_url: str | None = None
    """Link to an open-access PDF, as reported by a source; not verified."""
    other_ids: tuple[str, ...] = ()
    """Ids in other sources (``s2:…``, ``openalex:…``)."""
    citation_count: int | None = None
    citations_as_of: str | None = None
    references: tuple[str, ...] | None = None
    """Ids of the papers that this one cites, as far as known; ``None`` if they were not requested."""
    source: str = "unknown"
    thread: str | None = None
    """The paper's thread in the starter corpus, if it comes from there."""

    @field_validator("date")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return _checked_date(value)

    @property
    def year(self) -> str:
        """Year for display; ``n.d.`` if the date is unknown."""
        return self.date[:4] if self.date else "n.d."

    @property
    def url(self) -> str | None:
        """The paper's web page, if it has an arXiv id or a DOI."""
        if self.arxiv_id:
            return f"https://arxiv.org/abs/{self.arxiv_id}"
        return f"https://doi.org/{self.doi}" if self.doi else None


OWN_SOURCE, AVOIDED_SOURCE = "own", "avoided"
"""Sources of the records in a ``Steering``."""


class Steering(Record):
    """What a user adds to a topic."""

    focus: str | None = None
    """A wish for the ideas, in the user's words."""
    own: tuple[Paper, ...] = ()
    """Ideas and notes of the user, which are read as further papers (source ``own``)."""
    avoided: tuple[Paper, ...] = ()
    """Ideas that must not be proposed again, as records with the source ``avoided``."""


class Topic(Record):
    """What the ideas should be about."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    text: str = Field(min_length=1)
    before: str | None = None
    """Cut-off date: papers dated on or after it are hidden (ISO, may be partial)."""
    inspirations: tuple[str, ...] = ()
    """Ids of papers that the ideas should start from (used by benchmarks)."""
    excluded: tuple[str, ...] = Field(default=(), alias="banned")
    """Titles or ids of papers that are hidden from the agent, such as the target paper of a benchmark.

    Called ``banned`` in files; both names are accepted.
    """
    steering: Steering | None = Field(default=None, exclude_if=lambda value: value is None)
    """Left out of files, and so of the run's identity, if there is none."""

    @property
    def focus(self) -> str | None:
        """What the user prefers, in the user's words."""
        return self.steering.focus if self.steering else None

    @property
    def own(self) -> tuple[Paper, ...]:
        """The user's own ideas and notes."""
        return self.steering.own if self.steering else ()

    @property
    def avoided(self) -> tuple[Paper, ...]:
        """Ideas that must not be proposed again."""
        return self.steering.avoided if self.steering else ()

    @field_validator("before")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return _checked_date(value)


class ScoredPaper(Record):
    """A paper with its cosine similarity to the query, -1 to 1."""

    paper: Paper
    similarity: float = Field(allow_inf_nan=False)


class Entity(Record):
    """A model, data set, metric or technique, with its description in the paper."""

    name: str
    description: str
    kind: Literal["model", "dataset", "metric", "technique", "other"] = "other"


class Reading(Record):
    """What the reader extracted from one paper (Chain of Ideas, Tables 10 and 11)."""

    method: str
    problem: str | None = None
    why_it_works: str | None = None
    details: str | None = None
    """What is needed to rebuild it."""
    finding: str | None = None
    limitation: str | None = None
    experiment: str | None = None
    entities: tuple[Entity, ...] = ()
    read_from: Literal["full text", "abstract", "our summary", "title"] = "abstract"


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


class Source(Record):
    """The paper that a part of an idea is based on, with a quote."""

    part: str
    paper_id: str
    quote: str
    """The words that the part is based on. If they are not in the paper, the text says so."""
    verbatim: bool = True
    """Whether the quote occurs in the text that the model read."""


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
    cost: str | None = None
    """What it takes: computing, annotation, time."""
    first_steps: tuple[str, ...] = ()
    """The steps before the first review, which ``suggestions`` refer to; empty if there was none."""
    defects: tuple[str, ...] = ()
    """Defects of the idea that the reviewer found, each with the change that mends it."""
    amended_method: str | None = None
    """The idea's method with these defects mended; ``None`` if nothing was mended."""
    suggestions: tuple[str, ...] = ()
    """The reviewer's suggestions."""
    declined: tuple[str, ...] = ()
    """Suggestions that the refiner did not follow, each with its reason."""
    searched: tuple[str, ...] = ()
    """Queries of the literature searches for the refinement."""
    found: tuple[Paper, ...] = ()
    """Papers from these searches that the refiner got."""
    nothing_found: tuple[str, ...] = ()
    """Those of ``searched`` that found no paper close enough."""
    rounds: int = 0
    """Number of refinements."""


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


class Recollection(Record):
    """A paper that the idea could not know and that is close to it (after the cut-off date, or excluded)."""

    paper_id: str
    title: str
    date: str | None = None
    why_hidden: str
    similarity: float = Field(allow_inf_nan=False)
    """Cosine between the idea and the paper, -1 to 1."""


class Usage(Record):
    """Calls to a provider, with tokens, cost and time. ``cost_usd`` is ``None`` if a price is unknown."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    estimated_usd: float = 0.0
    """The part of ``cost_usd`` that no provider reported: an upper bound for those calls."""
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
    """Defects of the method that the experiment's reviewer found and that were mended."""
    first_method: str | None = None
    """The method before the amendments; ``None`` if there are none."""
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


GRADED, PROBABILITIES = "graded", "probabilities"
"""``Verdict.variant`` of a comparison with degrees."""


class Verdict(Record):
    """One answer of one judge: scored with criteria, or unscored with a reason."""

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
    """0 for the drawn order, 1 for the swapped order."""
    usage: Usage = Usage()
    kind: str = "idea"
    """What was judged: ``idea`` or ``experiment`` in the arena, the measure in a benchmark."""
    sample: str | None = None
    """The id of a benchmark's sample."""
    variant: str = ""
    """Distinguishes verdicts that are otherwise on the same question."""
    epoch: int = 1
    """The repetition of a benchmark's sample, or of an arena's comparison, from 1."""
    details: dict[str, Any] = Field(default_factory=dict)
    """What the judge saw or found besides the subjects, such as the options of a multiple choice."""
    agents: tuple[str, ...] = ()
    """The agents of the subjects, in the order shown; hidden from the judge."""
    words: tuple[int, ...] = ()
    """Number of words of each subject as shown."""
    rationale: str | None = Field(default=None, alias="told")
    """The judge's reasons in its own words. Called ``told`` in files; both names are accepted."""
    flags: tuple[str, ...] = ()
    """What is suspicious about a subject, e.g. text that addresses the judge."""

    @property
    def is_graded(self) -> bool:
        """Whether the criteria say by how much an idea is better: 1, 0.75, 0.5, 0.25 or 0."""
        return self.evaluator == "arena" and self.variant == GRADED

    @property
    def has_shares(self) -> bool:
        """Whether the criteria are shares of the point, from grades or probabilities, and not its winner."""
        return self.is_graded or (self.evaluator == "arena" and self.variant == PROBABILITIES)

    @property
    def is_repeat(self) -> bool:
        """Whether an arena's judge answered the same question before; such a verdict enters no rating."""
        return self.evaluator == "arena" and self.epoch > 1
