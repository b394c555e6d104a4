"""The state of VirSci."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from langgraph.runtime import Runtime

from ideagora.agents.virsci.ideas import RejectedIdea
from ideagora.agents.virsci.team import Profile, Statement
from ideagora.graphs.drafts import DraftsState
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.schema import Paper, Serialized, Topic

Context = Runtime[Services]
TOPIC_PAPERS = 5
"""Papers on the topic that an ideator and the leader are shown, beside those that they build on."""


class Scientist(TypedDict):
    """A scientist with the author whose papers it has."""

    number: int
    author: str
    profile: Serialized[Profile]
    papers: list[Serialized[Paper]]


class TeamMember(TypedDict):
    """A member of the team, for the record of an idea."""

    scientist: int
    papers_of: str
    papers: list[str]
    """Ids."""


class ShortIdea(TypedDict):
    """A member's idea with its own scores (``TeamIdea``)."""

    title: str
    idea: str
    experiment: str
    novelty: int
    feasibility: int
    clarity: int
    papers: list[Serialized[Paper]]
    """The papers that it builds on."""
    by: int
    """Number of the scientist."""
    round: int
    closest: NotRequired[list[Serialized[Paper]]]
    """The papers closest to a candidate."""
    votes: NotRequired[int]


class CastVote(TypedDict):
    """A member's vote (``Vote``)."""

    by: int
    round: int
    choice: int | None
    """Position among the candidates; ``None``: for none of them."""
    reason: str


class VirsciState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Serialized[Paper]]
    scientists: list[Scientist]
    """The leader and those invited."""
    accepted: Annotated[list[int], concatenate]
    team: list[Scientist]
    turn: int
    statements: Annotated[list[Serialized[Statement]], concatenate]
    question: str
    round: int
    """Round of ideas, from 0."""
    proposed: Annotated[list[ShortIdea], concatenate]
    candidates: list[ShortIdea]
    votes: Annotated[list[CastVote], concatenate]
    rejected: list[Serialized[RejectedIdea]]
    chosen: list[ShortIdea]


class InviteTask(TypedDict):
    """Payload of ``invite``."""

    topic: Serialized[Topic]
    scientist: Scientist
    leader: Scientist


class SpeakTask(TypedDict):
    """Payload of ``speak``."""

    topic: Serialized[Topic]
    scientist: Scientist
    statements: list[Serialized[Statement]]


class IdeaTask(TypedDict):
    """Payload of ``propose_idea``."""

    topic: Serialized[Topic]
    question: str
    scientist: Scientist
    papers: list[Serialized[Paper]]
    rejected: list[Serialized[RejectedIdea]]
    round: int


class VoteTask(TypedDict):
    """Payload of ``vote``."""

    topic: Serialized[Topic]
    scientist: Scientist
    candidates: list[ShortIdea]
    round: int


class AbstractTask(TypedDict):
    """Payload of ``write_abstract``."""

    topic: Serialized[Topic]
    number: int
    question: str
    idea: ShortIdea
    papers: list[Serialized[Paper]]
    team: list[TeamMember]
