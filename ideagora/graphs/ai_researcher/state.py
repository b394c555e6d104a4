"""The state of AI-Researcher."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from langgraph.runtime import Runtime

from ideagora.agents.ai_researcher.literature_review import PastAction
from ideagora.graphs.drafts import Draft, DraftsState
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.graphs.steps.swiss_ranking import Game
from ideagora.schema import NoveltyCheck, Paper, Serialized, Topic

Context = Runtime[Services]


class Score(TypedDict):
    """The relevance of a paper."""

    paper: str
    """Its id."""
    score: int
    """1 to 10."""


class SeedIdea(TypedDict):
    """A seed idea (``Seed``) with the papers that it builds on."""

    title: str
    problem: str
    mechanism: str
    test: str
    papers: list[Serialized[Paper]]


class Proposal(Draft):
    """A seed worked out to a proposal."""

    seed: str
    """Title of the seed."""


class FeasibilityResult(TypedDict):
    """The judge's answer (``Feasibility``)."""

    obstacles: list[str]
    verdict: Literal["feasible", "infeasible", "unclear"] | None
    """``None``: the answer cannot be read; the obstacle says why."""


class FilterResult(TypedDict):
    """What the filters found about the proposal at this position."""

    position: int
    novelty_check: Serialized[NoveltyCheck]
    feasibility: FeasibilityResult
    rejected: bool


class ScoreTask(TypedDict):
    """Payload of ``score_papers``."""

    topic: Serialized[Topic]
    papers: list[Serialized[Paper]]


class SeedTask(TypedDict):
    """Payload of ``write_seeds``."""

    topic: Serialized[Topic]
    number: int
    count: int
    papers: list[Serialized[Paper]]
    """Empty for seeds from the model's own knowledge."""
    earlier: list[str]


class ProposalTask(TypedDict):
    """Payload of ``write_proposal``."""

    topic: Serialized[Topic]
    seed: SeedIdea


class FilterTask(TypedDict):
    """Payload of ``filter_proposal``."""

    topic: Serialized[Topic]
    position: int
    draft: Proposal
    check: int
    """Number of the novelty check, from 0."""
    pool: list[str]
    """Ids of the papers that the literature review found."""


class ResearcherState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Serialized[Paper]]
    actions: list[Serialized[PastAction]]
    scores: Annotated[list[Score], concatenate]
    best_papers: list[Serialized[Paper]]
    seeds: Annotated[list[SeedIdea], concatenate]
    seed_calls: Annotated[list[int], concatenate]
    """Numbers of the calls for seeds that were made."""
    duplicates: list[int]
    """Positions of the seeds that repeat an earlier one."""
    proposals: Annotated[list[Proposal], concatenate]
    games: Annotated[list[Game], concatenate]
    filtered: Annotated[list[FilterResult], concatenate]
    next_checks: list[int]
