"""The map of a portfolio's ideas: two dimensions of their embeddings, with lines from parents to children."""

from __future__ import annotations

from dataclasses import dataclass

from ideagora.graphs.portfolio.records import MapPoint, PortfolioRecord

WIDTH, HEIGHT, MARGIN = 640.0, 420.0, 28.0
"""Pixels."""


@dataclass(frozen=True)
class Dot:
    """One idea."""

    x: float
    y: float
    label: str
    """Its place in the ranking; empty if it was left out."""
    kind: str
    """``chosen`` or ``left-out``."""
    name: str
    """The title and what became of the idea, for the tooltip and screen readers."""


@dataclass(frozen=True)
class Descent:
    """A line from a parent to a child."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class IdeaMap:
    """Everything to draw, and the alternative text."""

    width: float
    height: float
    dots: tuple[Dot, ...]
    lines: tuple[Descent, ...]
    alt_text: str


def idea_map(record: PortfolioRecord) -> IdeaMap | None:
    """Return the map; ``None`` without ideas. Both dimensions have the same scale.

    Ideas at the same place are drawn on top of each other, the chosen ones last.
    """
    if not record.points:
        return None
    places = _places(record.points)
    lines = tuple(
        Descent(*places[parent], *places[child])
        for child, point in enumerate(record.points)
        for parent in point.parents
        if 0 <= parent < len(places)
    )
    dots = [_dot(point, *place) for point, place in zip(record.points, places, strict=True)]
    chosen = sum(dot.kind == "chosen" for dot in dots)
    text = (
        f"Map of {len(dots)} ideas by the similarity of their texts: {chosen} chosen, numbered by rank, "
        f"{len(dots) - chosen} left out; {len(lines)} lines lead from parents to children."
    )
    ordered = sorted(dots, key=lambda dot: dot.kind == "chosen")
    return IdeaMap(WIDTH, HEIGHT, tuple(ordered), lines, text)


def _places(points: tuple[MapPoint, ...]) -> list[tuple[float, float]]:
    xs, ys = [point.x for point in points], [point.y for point in points]
    spans = max(xs) - min(xs), max(ys) - min(ys)
    scales = [
        (size - 2 * MARGIN) / span for size, span in zip((WIDTH, HEIGHT), spans, strict=True) if span > 0
    ]
    scale = min(scales, default=0.0)
    middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return [
        (WIDTH / 2 + (point.x - middle[0]) * scale, HEIGHT / 2 - (point.y - middle[1]) * scale)
        for point in points
    ]


def _dot(point: MapPoint, x: float, y: float) -> Dot:
    is_chosen = point.fate == "chosen"
    made = f"drafted by {point.agent}" if point.agent else point.operation
    fate = "" if is_chosen else f"; left out: {point.why}" if point.why else "; left out"
    label = str(point.place) if is_chosen and point.place else ""
    return Dot(x, y, label, "chosen" if is_chosen else "left-out", f"{point.title} ({made}{fate})")
