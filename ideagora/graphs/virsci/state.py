"""The state of VirSci."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.drafts import DraftsState, Record
from ideagora.graphs.services import Services

Context = Runtime[Services]
TOPIC_PAPERS = 5
"""Papers on the topic that an ideator and the leader are shown, beside those that they build on."""


class VirsciState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Record]
    scientists: list[Record]
    """The leader and those invited; number, author, profile and papers of each."""
    accepted: Annotated[list[int], operator.add]
    team: list[Record]
    turn: int
    statements: Annotated[list[Record], operator.add]
    question: str
    round: int
    """Round of ideas, from 0."""
    proposed: Annotated[list[Record], operator.add]
    candidates: list[Record]
    votes: Annotated[list[Record], operator.add]
    rejected: list[Record]
    chosen: list[Record]


class InviteTask(TypedDict):
    """Payload of ``invite``."""

    topic: Record
    scientist: Record
    leader: Record


class SpeakTask(TypedDict):
    """Payload of ``speak``."""

    topic: Record
    scientist: Record
    statements: list[Record]


class IdeaTask(TypedDict):
    """Payload of ``propose_idea``."""

    topic: Record
    question: str
    scientist: Record
    papers: list[Record]
    rejected: list[Record]
    round: int


class VoteTask(TypedDict):
    """Payload of ``vote``."""

    topic: Record
    scientist: Record
    candidates: list[Record]
    round: int


class AbstractTask(TypedDict):
    """Payload of ``write_abstract``."""

    topic: Record
    number: int
    question: str
    idea: Record
    papers: list[Record]
    team: list[Record]
    """Number, author and the papers' ids of each member, for the record."""
