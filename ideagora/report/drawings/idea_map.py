"""The map of a portfolio's ideas: two dimensions of their embeddings, with lines from parents to children."""

from __future__ import annotations

from cmath import rect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import hypot
from string import ascii_lowercase

from ideagora.graphs.portfolio.records import MapPoint, PortfolioRecord

WIDTH, HEIGHT, MARGIN = 640.0, 420.0, 28.0
CHOSEN_RADIUS, LEFT_OUT_RADIUS, GAP = 12.0, 9.0, 26.0
"""Pixels; ``GAP`` is the minimum distance of two centres."""
PUSHES = 60


@dataclass(frozen=True)
class Dot:
    """One idea."""

    x: float
    y: float
    label: str
    """Its place in the ranking, or the letter of an idea that was left out."""
    radius: float
    kind: str
    """``chosen`` or ``left-out``."""
    name: str
    """The title and what became of the idea, for the tooltip and screen readers."""


@dataclass(frozen=True)
class Descent:
    """A line from a parent to the edge of a child."""

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

    Ideas that would cover one another are moved apart.
    """
    if not record.points:
        return None
    places = _spread_out(_places(record.points))
    labelled = zip(record.points, letters(record.points), places, strict=True)
    dots = [_dot(point, letter, *place) for point, letter, place in labelled]
    lines = tuple(
        _descent(dots[parent], dots[child])
        for child, point in enumerate(record.points)
        for parent in point.parents
        if 0 <= parent < len(dots) and parent != child
    )
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


def letters(points: Sequence[MapPoint]) -> list[str]:
    """The label of every idea that was left out, a to z, then aa, ab and so on; empty for the chosen ones."""
    left_out = count()
    return ["" if point.fate == "chosen" else _letter(next(left_out)) for point in points]


def _letter(number: int) -> str:
    first = _letter(number // 26 - 1) if number >= 26 else ""
    return first + ascii_lowercase[number % 26]


def _spread_out(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The places, ``GAP`` apart if there is room for it: those that are closer push each other away."""
    moved = [complex(*place) for place in places]
    for _ in range(PUSHES):
        for first, second in combinations(range(len(moved)), 2):
            between = moved[second] - moved[first]
            missing = GAP - abs(between)
            if missing > 0:
                way = between / abs(between) if between else rect(1, second)
                moved[first] = _inside(moved[first] - way * missing / 2)
                moved[second] = _inside(moved[second] + way * missing / 2)
    return [(place.real, place.imag) for place in moved]


def _inside(place: complex) -> complex:
    edge = MARGIN / 2
    return complex(
        min(max(place.real, edge), WIDTH - edge),
        min(max(place.imag, edge), HEIGHT - edge),
    )


def _descent(parent: Dot, child: Dot) -> Descent:
    dx, dy = child.x - parent.x, child.y - parent.y
    distance = hypot(dx, dy)
    share = max(0.0, 1 - (child.radius + 2) / distance) if distance else 0.0
    return Descent(parent.x, parent.y, parent.x + share * dx, parent.y + share * dy)


def _dot(point: MapPoint, letter: str, x: float, y: float) -> Dot:
    is_chosen = point.fate == "chosen"
    made = f"drafted by {point.agent}" if point.agent else point.operation
    fate = "" if is_chosen else f"; left out: {point.why}" if point.why else "; left out"
    label = str(point.place or "") if is_chosen else letter
    kind, radius = ("chosen", CHOSEN_RADIUS) if is_chosen else ("left-out", LEFT_OUT_RADIUS)
    return Dot(x, y, label, radius, kind, f"{point.title} ({made}{fate})")
