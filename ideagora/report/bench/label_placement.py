"""Places the names of points in a plot so that they cover neither each other nor points and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

from ideagora.report.drawings.plots import INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT = 8
_DISTANCES = (8.0, 12.0, 17.0, 24.0, 34.0, 48.0, 66.0)
"""Distances from the point at which a name is tried, in points."""
_ANGLES = 16
_NEAR = 13.0
"""Distance up to which a name needs no line to its point."""
_DOT = 5.0
"""Half the side of the box of a dot, in pixels."""
_GAP = 2.0
_STEP = 4.0
"""Distance of the places at which a line is tested, in pixels."""


class Label(NamedTuple):
    """A point in data coordinates and its name."""

    text: str
    x: float
    y: float


class _Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: _Box) -> bool:
        return not (
            self.right + _GAP < other.left
            or other.right + _GAP < self.left
            or self.top + _GAP < other.bottom
            or other.top + _GAP < self.bottom
        )

    def is_inside(self, other: _Box) -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.bottom >= other.bottom
            and self.top <= other.top
        )


def place_labels(panel: Axes, labels: Sequence[Label], line: Sequence[tuple[float, float]] = ()) -> list[str]:
    """Write the names beside their points, the first ones first, and return those that find no room.

    Args:
        panel: in the final layout of its figure, as boxes are compared in pixels.
        labels: names and points; points that coincide with others have names, too.
        line: corners of a line that names must not cross, in data coordinates.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(panel.figure.get_figure(root=True))
    renderer = canvas.get_renderer()
    scale = renderer.points_to_pixels(1.0)
    frame = _Box(*panel.get_window_extent(renderer).extents)
    centres = [tuple(map(float, panel.transData.transform((one.x, one.y)))) for one in labels]
    taken = [_Box(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in centres]
    corners = [tuple(map(float, panel.transData.transform(corner))) for corner in line]
    crossed = [place for start, end in pairwise(corners) for place in _along(start, end)]
    left_out = []
    for number, (one, (x, y)) in enumerate(zip(labels, centres, strict=True)):
        width, height = _size(panel, one.text, renderer)
        for right, up in _offsets():
            box = _box(x + right * scale, y + up * scale, width, height, right, up)
            lead = list(_along((x, y), _nearest(box, x, y))) if hypot(right, up) > _NEAR else []
            others = [*taken[:number], *taken[number + 1 :]]
            covered = any(map(box.overlaps, taken)) or any(map(box.overlaps, crossed))
            if box.is_inside(frame) and not covered and not any(p.overlaps(b) for p in lead for b in others):
                taken.append(box)
                crossed += lead
                _write(panel, one, right, up, bool(lead))
                break
        else:
            left_out.append(one.text)
    return left_out


def _size(panel: Axes, text: str, renderer: Any) -> tuple[float, float]:
    """Width and height of a name, in pixels."""
    drawn = panel.text(0, 0, text, fontsize=_FONT)
    box = drawn.get_window_extent(renderer)
    drawn.remove()
    return float(box.width), float(box.height)


def _box(x: float, y: float, width: float, height: float, right: float, up: float) -> _Box:
    left = x - {"left": 0.0, "center": width / 2, "right": width}[_side(right, "left", "right")]
    bottom = y - {"bottom": 0.0, "center": height / 2, "top": height}[_side(up, "bottom", "top")]
    return _Box(left, bottom, left + width, bottom + height)


def _nearest(box: _Box, x: float, y: float) -> tuple[float, float]:
    """The place of a box that is closest to a point."""
    return min(max(x, box.left), box.right), min(max(y, box.bottom), box.top)


def _along(start: tuple[float, ...], end: tuple[float, ...]) -> Iterator[_Box]:
    """Places on a line, without its ends."""
    (x, y), (across, up) = start, end
    steps = ceil(hypot(across - x, up - y) / _STEP)
    for step in range(2, steps - 1):
        part = step / steps
        place = x + part * (across - x), y + part * (up - y)
        yield _Box(*place, *place)


def _write(panel: Axes, one: Label, right: float, up: float, with_line: bool) -> None:
    lead = {"arrowstyle": "-", "color": SOFT, "lw": 0.5, "shrinkA": 0, "shrinkB": 3} if with_line else None
    panel.annotate(
        one.text, (one.x, one.y), xytext=(right, up), textcoords="offset points", fontsize=_FONT, color=INK,
        ha=_side(right, "left", "right"), va=_side(up, "bottom", "top"), arrowprops=lead,
    )  # fmt: skip


def _offsets() -> Iterator[tuple[float, float]]:
    """(right, up) in points: the closest first, beginning at the upper right."""
    for distance in _DISTANCES:
        for step in range(_ANGLES):
            angle = pi / 8 + 2 * pi * step / _ANGLES
            yield distance * cos(angle), distance * sin(angle)


def _side(offset: float, positive: str, negative: str) -> str:
    return "center" if abs(offset) < 1 else positive if offset > 0 else negative
