"""The part of a report on a portfolio: the map of its ideas, and an overview of one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ideagora.graphs.portfolio.records import MapPoint, PortfolioRecord
from ideagora.report.drawings.idea_map import IdeaMap, idea_map, letters
from ideagora.schema import Idea, Lineage, Rating

_MADE = {"combined": "combined from", "simplified": "simplified from", "inverted": "inverted from"}
_SCALE = (
    "The rating is the logarithm of the odds of winning a comparison against the average of these ideas, "
    "with its 95% interval; the places are those that the comparisons leave open."
)
_OPEN = "The comparisons separate no two of these ideas: their order is open."
_OFFLINE = (
    "The offline model made the comparisons by fixed rules: they show how the portfolio works, not which "
    "idea is better."
)


@dataclass(frozen=True)
class PortfolioRow:
    """One idea of the overview."""

    place: int
    title: str
    question: str | None
    rating: str
    interval: str | None
    places: str | None
    lineage: str
    novelty: str | None


@dataclass(frozen=True)
class LeftOutIdea:
    """An idea that was not chosen."""

    letter: str
    title: str
    summary: str | None
    lineage: str
    why: str | None


@dataclass(frozen=True)
class PortfolioPage:
    """The overview and the map."""

    record: PortfolioRecord
    map: IdeaMap | None
    rows: tuple[PortfolioRow, ...]
    left_out: tuple[LeftOutIdea, ...]
    distances: str | None
    about_ratings: str | None
    """What the ratings mean, and whether they separate the ideas."""


def portfolio_page(record: PortfolioRecord | None, ideas: Sequence[Idea]) -> PortfolioPage | None:
    """Return what the report shows of a portfolio; ``None`` for other runs."""
    if record is None:
        return None
    listed = record.overview.questions if record.overview else ()
    questions = {entry.title: entry.question for entry in listed}
    rows = tuple(_row(place, idea, questions.get(idea.title)) for place, idea in enumerate(ideas, 1))
    distances = (
        f"Distance between two chosen ideas (1 minus cosine): {record.mean:.2f} on average, at least "
        f"{record.nearest:.2f}."
        if record.mean is not None and record.nearest is not None
        else None
    )
    return PortfolioPage(record, idea_map(record), rows, _left_out(record), distances, _about_ratings(ideas))


def _row(place: int, idea: Idea, question: str | None) -> PortfolioRow:
    rating = idea.rating
    return PortfolioRow(
        place=place,
        title=idea.title,
        question=question,
        rating="not rated" if rating is None else f"{rating.rating:+.2f}",
        interval=None if rating is None else f"{rating.low:+.2f} to {rating.high:+.2f}",
        places=None if rating is None else _places(rating),
        lineage=_lineage(idea.lineage),
        novelty=_novelty(idea),
    )


def _places(rating: Rating) -> str | None:
    if rating.best_place is None or rating.worst_place is None:
        return None
    if rating.best_place == rating.worst_place:
        return f"place {rating.best_place}"
    return f"place {rating.best_place} to {rating.worst_place}"


def _novelty(idea: Idea) -> str | None:
    """The verdict of the novelty check and the closest paper, in a few words."""
    check = idea.novelty_check
    if check is None:
        return None
    found = {
        "too_close": "too close to a paper",
        "unchecked": "not checked",
        "novel": "no near-verbatim match" if check.judge == "offline" else check.verdict or "novel",
    }[check.status]
    closest = f"; the closest of the papers compared: {check.closest[0].title}" if check.closest else ""
    return f"{found}{closest}"


def _about_ratings(ideas: Sequence[Idea]) -> str | None:
    ratings = [idea.rating for idea in ideas if idea.rating]
    if not ratings:
        return None
    if all(idea.model == "offline" for idea in ideas):
        return f"{_SCALE} {_OFFLINE}"
    places = {(rating.best_place, rating.worst_place) for rating in ratings}
    return f"{_SCALE} {_OPEN}" if places == {(1, len(ideas))} and len(ideas) > 1 else _SCALE


def _left_out(record: PortfolioRecord) -> tuple[LeftOutIdea, ...]:
    return tuple(
        LeftOutIdea(letter, point.title, point.summary, _origin(record, point), point.why)
        for letter, point in zip(letters(record.points), record.points, strict=True)
        if point.fate != "chosen"
    )


def _origin(record: PortfolioRecord, point: MapPoint) -> str:
    titles = [record.points[parent].title for parent in point.parents if 0 <= parent < len(record.points)]
    if not titles:
        return f"drafted by {point.agent}" if point.agent else point.operation
    return f"{_MADE.get(point.operation, point.operation)} {_quoted(titles)}"


def _lineage(lineage: Lineage | None) -> str:
    if lineage is None:
        return "not recorded"
    if not lineage.parents:
        return f"drafted by {lineage.agent}" if lineage.agent else lineage.operation
    titles = _quoted([parent.title for parent in lineage.parents])
    change = f" {lineage.change}" if lineage.change else ""
    return f"{_MADE.get(lineage.operation, lineage.operation)} {titles}.{change}"


def _quoted(titles: Sequence[str]) -> str:
    return " and ".join(f"“{title}”" for title in titles)
