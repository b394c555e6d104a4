"""Records for the picture of a chain: boxes, notes, arrows and lines of text, in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ideagora.report.text_cleaning import text_width

Shape = Literal["wide", "tall"]
Kind = Literal["built-on", "anchor", "follow-up", "direction"]


@dataclass(frozen=True)
class Line:
    """One line of text; ``x`` is its left end, or its right end where it reads right to left."""

    x: float
    y: float
    """The baseline."""
    text: str
    style: str
    size: float
    rtl: bool = False


@dataclass(frozen=True)
class Box:
    """A paper, or the future direction."""

    x: float
    y: float
    width: float
    height: float
    kind: Kind
    name: str
    """The full title, for the tooltip and screen readers."""
    year: str
    url: str | None
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Note:
    """What changed before a paper."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Arrow:
    """A line through points, with its head at the last one."""

    points: tuple[tuple[float, float], ...]
    kind: Literal["step", "forecast", "leader"]

    @property
    def path(self) -> str:
        """The line as SVG path data."""
        return "M" + " L".join(f"{pixels(x)},{pixels(y)}" for x, y in self.points)

    @property
    def head(self) -> str:
        """The arrow head as SVG path data; a leader has none."""
        if self.kind == "leader":
            return ""
        (x0, y0), (x1, y1) = self.points[-2:]
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        foot_x, foot_y = x1 - 6 * dx, y1 - 6 * dy
        sides = (foot_x - 4 * dy, foot_y + 4 * dx), (foot_x + 4 * dy, foot_y - 4 * dx)
        corners = " L".join(f"{pixels(x)},{pixels(y)}" for x, y in (sides[0], (x1, y1), sides[1]))
        return f"M{corners} Z"


@dataclass(frozen=True)
class Tick:
    """A point on the time axis with its year."""

    x: float
    y: float
    kind: Kind
    year: Line


@dataclass(frozen=True)
class Picture:
    """Everything to draw, and the alternative text."""

    shape: Shape
    width: float
    height: float
    boxes: tuple[Box, ...]
    notes: tuple[Note, ...]
    arrows: tuple[Arrow, ...]
    axis: tuple[Arrow, ...]
    ticks: tuple[Tick, ...]
    alt_text: str


def extent(line: Line) -> tuple[float, float]:
    """Return the left and right end of a line of text."""
    wide = text_width(line.text, line.size) * (1.12 if line.style == "role" else 1.0)
    return (line.x - wide, line.x) if line.rtl else (line.x, line.x + wide)


def pixels(value: float) -> str:
    """Format a length for SVG with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
