"""The part of a report on a portfolio: the map of its ideas, and an overview of one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ideagora.graphs.portfolio.records import PortfolioRecord
from ideagora.report.drawings.idea_map import IdeaMap, idea_map
from ideagora.schema import Idea, Lineage, Rating


@dataclass(frozen=True)
class PortfolioRow:
    """One idea of the overview."""

    place: int
    title: str
    question: str | None
    rating: str
    lineage: str


@dataclass(frozen=True)
class PortfolioPage:
    """The overview and the map."""

    record: PortfolioRecord
    map: IdeaMap | None
    rows: tuple[PortfolioRow, ...]
    distances: str | None


def portfolio_page(record: PortfolioRecord | None, ideas: Sequence[Idea]) -> PortfolioPage | None:
    """Return what the report shows of a portfolio; ``None`` for other runs."""
    if record is None:
        return None
    listed = record.overview.questions if record.overview else ()
    questions = {entry.title: entry.question for entry in listed}
    rows = tuple(
        PortfolioRow(
            place, idea.title, questions.get(idea.title), _rating(idea.rating), _lineage(idea.lineage)
        )
        for place, idea in enumerate(ideas, 1)
    )
    distances = (
        f"Distance between two ideas (1 minus cosine): {record.mean:.2f} on average, at least "
        f"{record.nearest:.2f}."
        if record.mean is not None and record.nearest is not None
        else None
    )
    return PortfolioPage(record, idea_map(record), rows, distances)


def _rating(rating: Rating | None) -> str:
    if rating is None:
        return "not rated"
    return f"{rating.rating:+.2f} ({rating.low:+.2f} to {rating.high:+.2f})"


def _lineage(lineage: Lineage | None) -> str:
    if lineage is None:
        return "not recorded"
    if not lineage.parents:
        return f"drafted by {lineage.agent}" if lineage.agent else lineage.operation
    titles = " and ".join(f"“{parent.title}”" for parent in lineage.parents)
    made = {"combined": "combined from", "simplified": "simplified from", "inverted": "inverted from"}
    change = f" {lineage.change}" if lineage.change else ""
    return f"{made.get(lineage.operation, lineage.operation)} {titles}.{change}"
