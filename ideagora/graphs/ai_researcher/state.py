"""The state of AI-Researcher."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.drafts import DraftsState, Record
from ideagora.graphs.services import Services

Context = Runtime[Services]


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


class ResearcherState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Record]
    actions: list[Record]
    scores: Annotated[list[Record], operator.add]
    """``{"paper": id, "score": 1 to 10}``."""
    best_papers: list[Record]
    seeds: Annotated[list[Record], operator.add]
    """Seed ideas; ``papers`` holds the papers themselves."""
    seed_calls: Annotated[list[int], operator.add]
    """Numbers of the calls for seeds that were made."""
    duplicates: list[int]
    """Positions of the seeds that repeat an earlier one."""
    proposals: Annotated[list[Record], operator.add]
    games: Annotated[list[Record], operator.add]
    filtered: Annotated[list[Record], operator.add]
    """Novelty check and feasibility by the proposal's position."""
    next_checks: list[int]
