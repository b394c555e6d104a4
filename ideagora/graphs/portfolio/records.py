"""What a run of a portfolio records beside its ideas, for the report."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ideagora.schema import Record

Fate = Literal["chosen", "left over", "surpassed", "twin", "lost", "known"]


class MapPoint(Record):
    """One idea on the map: also those that the portfolio did not end with."""

    title: str
    summary: str | None = None
    operation: Literal["drafted", "combined", "simplified", "inverted"]
    agent: str | None = None
    parents: tuple[int, ...] = ()
    """Positions in the list of points."""
    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)
    fate: Fate
    place: int | None = None
    """Its place in the ranking, from 1; ``None`` unless chosen."""
    why: str | None = None
    """Why it was left out."""


class QuestionOfIdea(Record):
    """The question that one idea answers."""

    title: str
    question: str


class OverviewRecord(Record):
    """What the ideas have in common, where they differ, and their questions, best idea first."""

    common: str
    differences: str
    questions: tuple[QuestionOfIdea, ...]


class PortfolioRecord(Record):
    """The map and the overview of a portfolio."""

    points: tuple[MapPoint, ...]
    overview: OverviewRecord | None = None
    nearest: float | None = Field(default=None, allow_inf_nan=False)
    mean: float | None = Field(default=None, allow_inf_nan=False)
    """Smallest and mean distance (1 minus cosine) between the chosen ideas; ``None`` for fewer than two."""
    rounds: int = 0
