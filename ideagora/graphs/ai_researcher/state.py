"""The state of AI-Researcher."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.services import Services

Context = Runtime[Services]
Record = dict[str, Any]


class ScoreTask(TypedDict):
    """Payload of ``score_papers``."""

    topic: Record
    papers: list[Record]


class SeedTask(TypedDict):
    """Payload of ``write_seeds``."""

    topic: Record
    number: int
    count: int
    papers: list[Record]
    """Empty for seeds from the model's own knowledge."""
    earlier: list[str]


class ProposalTask(TypedDict):
    """Payload of ``write_proposal``."""

    topic: Record
    seed: Record


class FilterTask(TypedDict):
    """Payload of ``filter_proposal``."""

    topic: Record
    position: int
    draft: Record


class ResearcherState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: Record
    papers: list[Record]
    actions: list[Record]
    scores: Annotated[list[Record], operator.add]
    """``{"paper": id, "score": 1 to 10}``."""
    best_papers: list[Record]
    seeds: Annotated[list[Record], operator.add]
    """Seed ideas; ``papers`` holds the papers themselves."""
    seed_calls: Annotated[list[int], operator.add]
    """Numbers of the calls for seeds that were made."""
    duplicates: list[Record]
    proposals: Annotated[list[Record], operator.add]
    games: Annotated[list[Record], operator.add]
    filtered: Annotated[list[Record], operator.add]
    """Novelty check and feasibility by the proposal's position."""
    next_checks: list[int]
    drafts: list[Record]
    plans: Annotated[list[Record], operator.add]
    failures: Annotated[list[Record], operator.add]


def failure(reason: str) -> Record:
    """An entry of ``failures``."""
    return {"branch": None, "query": None, "error": reason}


def reasons(state: ResearcherState) -> str:
    """The reasons of all failures so far."""
    return "; ".join(one["error"] for one in state.get("failures", []))
