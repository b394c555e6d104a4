"""State of one core paper, and the records that it holds as plain JSON values."""

from __future__ import annotations

from typing import Annotated, TypedDict

from langgraph.runtime import Runtime

from ideagora.agents.experiment import CostedPlan
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.schema import Paper, Serialized, Source, Topic


class PaperEntity(TypedDict):
    """An entity (``Entity``) with the number of its paper, after those of ``papers``."""

    name: str
    description: str
    kind: str
    paper: int


class Problem(TypedDict):
    """The research problem (``ResearchProblem``)."""

    rationale: str
    problem: str
    purpose: str
    entities_used: list[str]
    sources: list[Serialized[Source]]


class Method(TypedDict):
    """The method, with what describes the whole idea (``ResearchMethod``)."""

    method: str
    novelty: str
    title: str
    summary: str
    mechanism: str
    evaluation: str
    entities_used: list[str]
    sources: list[Serialized[Source]]


class PartReviewed(TypedDict):
    """A review of one part on one criterion (``PartReview``)."""

    part: str
    round: int
    """From 1."""
    criterion: str
    review: str
    suggestions: list[str]
    rating: int | None


class DevelopmentState(TypedDict, total=False):
    """State of one core paper. Plain JSON values only."""

    topic: Serialized[Topic]
    papers: list[Serialized[Paper]]
    elsewhere: list[Serialized[Paper]]
    """The papers that present the entities."""
    entities: list[PaperEntity]
    part: str
    rounds: dict[str, int]
    """Refinements so far, by part."""
    settled: Annotated[list[str], concatenate]
    """Parts that no reviewer wants changed."""
    problem: Problem
    method: Method
    plan: Serialized[CostedPlan]
    suggestions: list[str]
    declined: list[str]
    reviews: Annotated[list[PartReviewed], concatenate]
    notes: Annotated[list[str], concatenate]


class ReviewTask(TypedDict):
    """Payload of ``review_part``."""

    state: DevelopmentState
    criterion: str


Context = Runtime[Services]
