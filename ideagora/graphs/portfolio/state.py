"""The state of the portfolio's graph."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.agent import Failure
from ideagora.graphs.portfolio.members import Member
from ideagora.graphs.services import Services
from ideagora.schema import Serialized, Topic

Context = Runtime[Services]


class PortfolioState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them. Ideas go by their position in ``members``."""

    topic: Serialized[Topic]
    members: Annotated[list[Member], operator.add]
    removed: Annotated[list[dict[str, Any]], operator.add]
    """``position``, ``kind`` (``twin``, ``lost``, ``known``) and ``why`` of each idea that was left out."""
    rounds: int
    """Rounds of variation begun."""
    tasks: list[dict[str, Any]]
    """The variations of the current round."""
    variations: Annotated[list[dict[str, Any]], operator.add]
    """Those of all rounds: number, round, operation, parents."""
    games: Annotated[list[dict[str, Any]], operator.add]
    checks: Annotated[list[dict[str, Any]], operator.add]
    """``position``, ``check`` and ``papers`` (the closest ones) of each novelty check."""
    chosen: list[int]
    """The ideas that the portfolio ends with; after ``rank_ideas``, best first."""
    ratings: list[dict[str, Any]]
    map: list[list[float]]
    """Two coordinates of every member."""
    similarity: list[list[float]]
    """The cosine of every pair of the chosen ideas."""
    plans: Annotated[list[dict[str, Any]], operator.add]
    overview: dict[str, Any]
    not_covered: Annotated[list[str], operator.add]
    """The agents for which the library has nothing on the topic."""
    failures: Annotated[list[Failure], operator.add]
    notes: Annotated[list[str], operator.add]
