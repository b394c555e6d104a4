"""The records that states of Chain-of-Ideas hold, as plain JSON values."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ideagora.agents.experiment import Plan
from ideagora.graphs.drafts import Draft
from ideagora.schema import Candidate, Experiment, NoveltyCheck, Paper, Serialized

Choice = Literal["first", "second", "tie"]


class Proposal(TypedDict):
    """A paper that may extend a chain."""

    paper: Serialized[Paper]
    reason: str


class Anchor(Proposal):
    """The paper that a branch starts from."""

    branch: int
    query: str
    """The query that found the paper."""


class Cure(TypedDict):
    """A search for a mechanism that could answer what a chain leaves open (``CureSearch``)."""

    problem: str
    field: str
    query: str
    found: NotRequired[list[str]]
    """Ids of the papers that it found."""


class ChainDraft(Draft):
    """A draft with what its author weighed first (``IdeaDraft``)."""

    candidates: list[str]
    obvious: int | None
    chosen: int | None
    """Numbers of candidates."""
    claim: str
    might_fail: str


class LeadPair(TypedDict):
    """A limitation and a mechanism that may address it, with everything that ``make_lead`` needs."""

    weak: str
    strong: str
    """Ids of the paper with the limitation and of the paper with the mechanism."""
    limitation: str | None
    method: str | None
    """What their readings say; ``None`` for a paper that was not read."""
    limitation_paper: Serialized[Paper]
    mechanism_paper: Serialized[Paper]
    chain: list[Serialized[Paper]]
    good: bool
    """Whether more than their similarity speaks for the pair."""
    kind: str | None
    """The kind of difficulty that the pairing names."""
    cites: Literal["weak", "strong"] | None
    """Which of the two papers cites the other."""
    branch: NotRequired[int]
    number: NotRequired[int]
    """The chain's branch, and the lead's number from 1, of a pair that was selected."""
    candidates: NotRequired[list[Serialized[Candidate]]]


class Duel(TypedDict):
    """The verdict on two drafts in one order."""

    first: int
    second: int
    """The branches, in the order shown."""
    judge: str
    criteria: dict[str, Choice] | None
    """What the judge prefers, by criterion; ``None``: there is no readable verdict."""
    overall: Choice | None
    reason: str


class Twin(TypedDict):
    """A branch whose idea repeats that of an earlier one."""

    branch: int
    same_as: int
    reason: str | None


class Redraft(TypedDict):
    """A twin that was drafted again, and whether that gave another idea."""

    branch: int
    changed: bool


class RankedBranch(TypedDict):
    """The result of one branch in the choice (``Score``)."""

    branch: int
    won: int
    tied: int
    lost: int
    unscored: int
    points: int
    told: str
    """The result in words."""


class PlannedExperiment(TypedDict):
    """An experiment with the place of its idea in the ranking, from 0."""

    place: int
    experiment: Serialized[Experiment]


class Lead(TypedDict):
    """A lead with its novelty check and its first test."""

    number: int
    branch: int
    weak: str
    strong: str
    candidates: list[Serialized[Candidate]]
    draft: ChainDraft
    novelty_check: Serialized[NoveltyCheck]
    plan: Serialized[Plan]
