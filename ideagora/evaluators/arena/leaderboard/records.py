"""Records of ``leaderboard.json``, and how they are written and read.

Reading is lenient: fields that an older version did not write have defaults, unknown fields are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pydantic import Field, TypeAdapter

from ideagora.evaluators.arena.entries.lineup import MissingEntry
from ideagora.schema import Usage

Status = Literal["complete", "disconnected", "nothing_scored", "budget", "incomplete"]
"""``disconnected``: the contestants cannot be put on one scale. ``budget`` and ``incomplete``: more verdicts
were planned when the budget was spent, or a provider was down."""


@dataclass(frozen=True, kw_only=True)
class LeaderboardRow:
    """Rating and record of one contestant. Without a rating it has no rank, without an interval no bounds."""

    agent: str
    rating: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    joint_rank_low: int | None = None
    """Best rank, where the ranges of all agents hold together."""
    joint_rank_high: int | None = None
    matches: int | None = None
    won: int | None = None
    tied: int | None = None
    lost: int | None = None
    unscored: int | None = None
    unbounded: bool = False
    """Whether it won or lost everything here: the rating shows the direction, not the distance."""


Rows = tuple[LeaderboardRow, ...]
"""Best first."""


@dataclass(frozen=True, kw_only=True)
class AuditFigure:
    """A figure with its interval and ``n``; without a value or an interval, ``reason`` says why."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class AuditBreakdown:
    """The audit of one judge, overall or on one criterion. Opposite biases cancel in pooled figures."""

    judge: str
    criterion: str | None = None
    """``None``: overall."""
    figures: Mapping[str, AuditFigure] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WinRates:
    """Share of points of the row's agent against the column's; ``None``: the two never met."""

    agents: tuple[str, ...] = ()
    matrix: tuple[tuple[float | None, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Separation:
    """Probability that two neighbours are in the right order, and the data needed to be sure of it."""

    above: str
    below: str
    probability: float | None = None
    more_verdicts: int | None = None
    more_topics: int | None = None
    reason: str | None = None
    """Why the further topics cannot be estimated."""


@dataclass(frozen=True, kw_only=True)
class JudgeBias:
    """What the bias-aware model estimates of one judge."""

    judge: str
    discrimination: float
    position: AuditFigure
    length: AuditFigure


@dataclass(frozen=True, kw_only=True)
class Biases:
    """The judges' biases, or the reason why they cannot be estimated."""

    judges: Annotated[tuple[JudgeBias, ...] | None, Field(exclude_if=lambda judges: judges is None)] = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PaperRatings:
    """Elo ratings over all verdicts, as the paper computes them."""

    ranking: Rows = ()
    criteria: Mapping[str, Rows] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class VotedRatings:
    """Ratings by people: the judges' verdicts on all pairs, corrected by people's votes on some of them."""

    ranking: Rows = ()
    votes_alone: Rows = ()
    """From the votes without the verdicts; empty if they are too few."""
    voters: tuple[str, ...] = ()
    pairs: int = 0
    """Pairs with a vote, of ``judged`` pairs."""
    judged: int = 0
    weight: float | None = None
    """Of the judges' verdicts, 0 to 1: how much they say about people's votes."""
    reason: str | None = None
    """Why there are no ratings or no intervals."""


@dataclass(frozen=True, kw_only=True)
class RunFigures:
    """What the runs of one agent say beside its rating, which is that of all runs."""

    agent: str
    runs: int = 1
    """Existing ideas have one run, and no other figures."""
    spread: float | None = None
    """Standard deviation, in points, of a rating from one run of each agent on the same topics."""
    variance_share: float | None = None
    """Part of the rating's variance that more runs would reduce."""
    best: float | None = None
    """Rating of the best idea of each topic, against ordinary ideas of the others."""
    best_low: float | None = None
    best_high: float | None = None
    distance: float | None = None
    """Mean cosine distance between two ideas on a topic."""
    twins: int | None = None
    """Near duplicates among ``pairs`` of ideas on a topic."""
    pairs: int | None = None
    reasons: tuple[str, ...] = ()
    """Why figures are missing."""


@dataclass(frozen=True, kw_only=True)
class AblationRow:
    """Points of an ablation by criterion; ``full`` is what the full agent would have against itself."""

    agent: str
    matches: int
    full: int
    criteria: Mapping[str, float | None]
    average: float | None


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """Points of every other contestant against the full agent."""

    of: str
    rows: tuple[AblationRow, ...]


@dataclass(frozen=True, kw_only=True)
class Refits:
    """Refits that the intervals are computed from."""

    tried: int
    unratable: int


@dataclass(frozen=True, kw_only=True)
class Standings:
    """Rankings of one kind of entry (ideas or experiments), with the audit of the judges."""

    status: Status = "complete"
    ranking: Rows = ()
    criteria: Mapping[str, Rows] = field(default_factory=dict)
    win_rates: WinRates = WinRates()
    separation: tuple[Separation, ...] = ()
    audit: Mapping[str, AuditFigure] = field(default_factory=dict)
    """Over all judges and criteria."""
    audit_breakdown: tuple[AuditBreakdown, ...] = ()
    """By judge, if there are several, and by judge and criterion."""
    bias_aware: Rows | None = None
    """Ratings corrected for position, length and judge."""
    biases: Biases | None = None
    paper: PaperRatings | None = None
    voted: Annotated[VotedRatings | None, Field(exclude_if=lambda voted: voted is None)] = None
    ablation: Ablation | None = None
    missing_pairs: tuple[tuple[str, str], ...] = ()
    """Pairs whose comparison would put all contestants on one scale."""
    intervals: str | None = None
    """Why there are no intervals."""
    unbounded: tuple[str, ...] = ()
    """Contestants that won or lost everything."""
    refits: Refits | None = None
    alone: tuple[str, ...] = ()
    """Contestants that meet the others on one topic only and therefore have no interval."""
    runs: Annotated[tuple[RunFigures, ...], Field(exclude_if=lambda runs: not runs)] = ()
    """Figures between runs, in the order of the ranking; empty if no agent has several."""


@dataclass(frozen=True, kw_only=True)
class FlaggedIdea:
    """An idea whose text addresses the judge."""

    topic: str
    idea: str
    flags: tuple[str, ...]


class MissingFields(TypedDict):
    """``MissingEntry`` as JSON."""

    topic: str
    reason: str


class ContestantFields(TypedDict):
    """What is read again of a ``ContestantSummary`` in ``run.json``."""

    agent: str
    ideas: int
    source: str
    missing: Sequence[MissingFields]
    left_out: int
    runs: NotRequired[int]


@dataclass(frozen=True, kw_only=True)
class ContestantSummary:
    """What one contestant competed with."""

    agent: str
    ideas: int = 0
    source: str = ""
    missing: tuple[MissingEntry, ...] = ()
    left_out: int = 0
    """Further ideas on a topic; only the first one competes."""
    runs: Annotated[int, Field(exclude_if=lambda runs: runs == 1)] = 1
    """Runs on each topic, under different seeds."""
    models: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    flagged: tuple[FlaggedIdea, ...] = ()

    def as_json(self) -> ContestantFields:
        """The entry in ``run.json`` and ``leaderboard.json``."""
        content: ContestantFields = _contestant_adapter().dump_python(self)
        return content


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Number of verdicts, with the reasons of those that are unscored."""

    expected: int = 0
    """Maximum number of verdicts that the schedule asks for."""
    asked: int = 0
    scored: int = 0
    unscored: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    flags: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LeaderboardUsage:
    """Usage by label, and of the verdicts in total."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    total: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True)
class Leaderboard(Standings):
    """The result of an arena: standings of the ideas, and of the experiments where they were judged."""

    evaluator: str = "arena"
    protocol: str = "default"
    kind: str = "idea"
    schedule: str = "round-robin"
    n_topics: int = 0
    topics: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    smoke_test: bool = False
    """Whether the offline model alone judged."""
    contestants: tuple[ContestantSummary, ...] = ()
    experiments: Standings | None = None
    coverage: Coverage = Coverage()
    usage: LeaderboardUsage = LeaderboardUsage()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Options of the arena, seed and models."""
    notes: tuple[str, ...] = ()
    outages: Annotated[tuple[str, ...], Field(exclude_if=lambda outages: not outages)] = ()

    def as_json(self) -> dict[str, Any]:
        """The content of ``leaderboard.json``."""
        content: dict[str, Any] = _adapter().dump_python(self)
        return {**{name: content[name] for name in _FIRST}, **content}


_FIRST = (
    "evaluator", "protocol", "kind", "schedule", "n_topics", "topics", "judges", "smoke_test", "contestants"
)  # fmt: skip
"""Fields at the top of the file, before the standings."""


def leaderboard_from_json(content: Any) -> Leaderboard:
    """The record of a file's content.

    Raises:
        ValueError: it is not a leaderboard.
    """
    return _adapter().validate_python(content)


@cache
def _contestant_adapter() -> TypeAdapter[ContestantSummary]:
    return TypeAdapter(ContestantSummary)


@cache
def _adapter() -> TypeAdapter[Leaderboard]:
    return TypeAdapter(Leaderboard)
