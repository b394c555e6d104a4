"""The state of the portfolio's graph."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from langgraph.runtime import Runtime

from ideagora.agents.portfolio.overview import Overview
from ideagora.graphs.agent import Failure
from ideagora.graphs.drafts import NumberedPlan
from ideagora.graphs.portfolio.members import Member, Operation
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.graphs.steps.swiss_ranking import Game
from ideagora.schema import NoveltyCheck, Paper, Rating, Serialized, Topic

Context = Runtime[Services]


class RemovedIdea(TypedDict):
    """An idea that was left out, by its position."""

    position: int
    kind: Literal["twin", "lost", "known"]
    why: str


class Variation(TypedDict):
    """A child that is to be made from one idea or two."""

    number: int
    """From 1 over all rounds."""
    round: int
    operation: Operation
    parents: list[int]
    """Positions."""


class IdeaCheck(TypedDict):
    """The novelty check of the idea at this position, with the closest papers."""

    position: int
    check: Serialized[NoveltyCheck]
    papers: list[Serialized[Paper]]


class PortfolioState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them. Ideas go by their position in ``members``."""

    topic: Serialized[Topic]
    members: Annotated[list[Member], concatenate]
    removed: Annotated[list[RemovedIdea], concatenate]
    rounds: int
    """Rounds of variation begun."""
    tasks: list[Variation]
    """The variations of the current round."""
    variations: Annotated[list[Variation], concatenate]
    """Those of all rounds."""
    games: Annotated[list[Game], concatenate]
    checks: Annotated[list[IdeaCheck], concatenate]
    chosen: list[int]
    """The ideas that the portfolio ends with; after ``rank_ideas``, best first."""
    ratings: list[Serialized[Rating]]
    map: list[list[float]]
    """Two coordinates of every member."""
    similarity: list[list[float]]
    """The cosine of every pair of the chosen ideas."""
    plans: Annotated[list[NumberedPlan], concatenate]
    overview: Serialized[Overview]
    not_covered: Annotated[list[str], concatenate]
    """The agents for which the library has nothing on the topic."""
    failures: Annotated[list[Failure], concatenate]
    notes: Annotated[list[str], concatenate]
