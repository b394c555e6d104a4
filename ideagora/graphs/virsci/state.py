"""The state of VirSci."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.services import Services

Context = Runtime[Services]
Record = dict[str, Any]


class VirsciState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: Record
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
    written: Annotated[list[Record], operator.add]
    drafts: list[Record]
    plans: Annotated[list[Record], operator.add]
    failures: Annotated[list[Record], operator.add]
    notes: Annotated[list[str], operator.add]


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


def failure(reason: str) -> Record:
    """An entry of ``failures``."""
    return {"branch": None, "query": None, "error": reason}


def reasons(state: VirsciState) -> str:
    """The reasons of all failures so far."""
    return "; ".join(one["error"] for one in state.get("failures", []))
