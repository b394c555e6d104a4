"""Lays out the picture of a chain of ideas as the geometry of an SVG.

There are two layouts. ``wide`` runs from left to right along a time axis, five or six papers per row;
``tall`` from top to bottom, for narrow screens and print. An arrow connects neighbouring papers, with
what was introduced (+) and dropped (−) beside it. The future direction is the last box. All sizes are
in pixels; the templates only draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ideagora.report.drawings.geometry import Arrow, Box, Kind, Line, Note, Picture, Shape, Tick
from ideagora.report.text_cleaning import is_right_to_left, wrap
from ideagora.schema import Chain, Link, Transition

WIDE = 1104.0
TALL = 360.0
ROW = 6
"""Maximum papers in a single row; longer chains use rows of at most five."""
WIDEST_BOX = 230.0
PADDING = 12.0
AHEAD_WIDTH = 940.0
"""Width of the future direction."""
SMALL, SMALL_LEADING = 12.0, 17.0
ROLE = 10.5
GAP, EDGE, INDENT = 30.0, 36.0, 30.0
"""Space between boxes, right of the last one, and left of several rows."""
SIGN = 14.0
"""Width of the plus or minus before a phrase."""
SHOWN, PHRASE_LINES = 3, 3
"""Maximum phrases of one kind beside an arrow, and lines per phrase; the page lists all of them."""


@dataclass(frozen=True)
class _TextStyle:
    """How a paragraph is set."""

    name: str
    """The style of its lines in the template."""
    size: float
    leading: float
    most: int
    """Maximum lines."""


_TITLE = _TextStyle("title", 13.0, 18.0, 7)
_AHEAD: dict[Shape, _TextStyle] = {
    "wide": _TextStyle("ahead", 14.5, 22.0, 10),
    "tall": _TextStyle("ahead", 14.5, 22.0, 24),
}

ROLES: dict[Kind, str] = {
    "built-on": "Built on",
    "anchor": "Anchor",
    "follow-up": "Follow-up",
    "direction": "Future direction",
}


def link_kind(link: Link) -> Kind:
    """Return a paper's place in its chain."""
    if link.position == 0:
        return "anchor"
    return "built-on" if link.position < 0 else "follow-up"


def chronological_links(chain: Chain) -> tuple[Link, ...]:
    """Return the links, earliest paper first."""
    return tuple(sorted(chain.links, key=lambda link: link.position))


def transition_between(chain: Chain, earlier: Link, later: Link) -> Transition | None:
    """Return the recorded transition between two neighbours, if any."""
    ids = (earlier.paper.id, later.paper.id)
    return next((step for step in chain.transitions if (step.earlier, step.later) == ids), None)


def chain_pictures(chain: Chain, urls: dict[str, str]) -> tuple[Picture, Picture] | None:
    """Return the wide and the tall picture of a chain, ``None`` if it has no papers.

    Args:
        chain: the chain to draw.
        urls: URLs of papers by id; other papers are not linked.
    """
    links = chronological_links(chain)
    if not links:
        return None
    return _wide_picture(chain, links, urls), _tall_picture(chain, links, urls)


def shows_all(picture: Picture) -> bool:
    """Return whether the future direction in a picture is complete, not cut after the last line that fits."""
    boxes = [box for box in picture.boxes if box.kind == "direction"]
    lines = [line for box in boxes for line in box.lines if line.style == "ahead"]
    return bool(lines) and not lines[-1].text.endswith("…")


# --- left to right ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    columns: int
    rows: int
    left: float
    box: float

    def x(self, number: int) -> float:
        """Return the left edge of a paper's box."""
        return self.left + (number % self.columns) * (self.box + GAP)

    @property
    def right(self) -> float:
        """The right edge of the last column."""
        return self.x(self.columns - 1) + self.box


def _grid(count: int) -> _Grid:
    rows = 1 if count <= ROW else -(-count // (ROW - 1))
    columns = -(-count // rows)
    left = INDENT if rows > 1 else 0.0
    box = min(WIDEST_BOX, (WIDE - left - EDGE - (columns - 1) * GAP) / columns)
    return _Grid(columns, rows, left, float(int(box)))


def _wide_picture(chain: Chain, links: tuple[Link, ...], urls: dict[str, str]) -> Picture:
    grid = _grid(len(links))
    boxes: list[Box] = []
    notes: list[Note | None] = []
    ticks: list[Tick] = []
    axis: list[Arrow] = []
    y = 0.0
    for start in range(0, len(links), grid.columns):
        numbers = range(start, min(start + grid.columns, len(links)))
        row = [_paper_box(chain, links[i], urls, grid.x(i), y + 40, grid.box) for i in numbers]
        height = max(box.height for box in row)
        boxes += [replace(box, height=height) for box in row]
        beside = [_note(chain, links, i, grid.x(i), y + 40 + height + 12, grid.box) for i in numbers]
        ticks += [_tick(links[i], grid.x(i) + 7, y + 28, grid.x(i), y + 13) for i in numbers]
        end = row[-1].x + grid.box + (EDGE if numbers[-1] == len(links) - 1 else GAP / 2)
        axis.append(Arrow(((grid.x(start), y + 28), (end, y + 28)), "leader"))
        notes += beside
        y = max([box.y + height for box in row] + [note.y + note.height for note in beside if note]) + 42
    arrows = _wide_arrows(boxes, notes, grid)
    width, height = max(grid.right + EDGE, 640.0), y - 42
    if chain.direction:
        band = _direction_box(chain, "wide", height + 30, width)
        arrows.append(_to_band(boxes[-1], band))
        boxes.append(band)
        height = band.y + band.height
    alt_text = _alt_text(chain, links)
    return Picture(
        "wide",
        width,
        height + 2,
        tuple(boxes),
        tuple(filter(None, notes)),
        tuple(arrows),
        tuple(axis),
        tuple(ticks),
        alt_text,
    )


def _wide_arrows(boxes: Sequence[Box], notes: Sequence[Note | None], grid: _Grid) -> list[Arrow]:
    """Return an arrow into each box but the first, with a leader line along its note."""
    arrows: list[Arrow] = []
    for (before, box), note in zip(pairwise(boxes), notes[1:], strict=True):
        middle, end = box.y + min(26.0, box.height / 2), box.x - GAP / 2
        start = (before.x + before.width, before.y + min(26.0, before.height / 2))
        if before.y == box.y:
            arrows.append(Arrow((start, (box.x, middle)), "step"))
        else:
            out, gutter = start[0] + GAP / 2, box.y - 40 - 18
            bend = ((out, start[1]), (out, gutter), (end, gutter), (end, middle))
            arrows.append(Arrow((start, *bend, (box.x, middle)), "step"))
        if note:
            arrows.append(Arrow(((end, middle), (end, note.y + note.height)), "leader"))
    return arrows


def _to_band(last: Box, band: Box) -> Arrow:
    start = (last.x + last.width, last.y + min(26.0, last.height / 2))
    out = start[0] + 14
    return Arrow((start, (out, start[1]), (out, band.y)), "forecast")


# --- top to bottom ----------------------------------------------------------------------------

_LEFT, _AXIS = 62.0, 48.0


def _tall_picture(chain: Chain, links: tuple[Link, ...], urls: dict[str, str]) -> Picture:
    boxes: list[Box] = []
    notes: list[Note] = []
    arrows: list[Arrow] = []
    ticks: list[Tick] = []
    y, width = 0.0, TALL - _LEFT - 1
    for number, link in enumerate(links):
        if number:
            note = _note(chain, links, number, _LEFT + 34, y + 10, width - 34 - 4)
            below = y + (note.height + 20 if note else 34)
            arrows.append(Arrow(((_LEFT + 18, y), (_LEFT + 18, below)), "step"))
            notes += [note] if note else []
            y = below
        box = _paper_box(chain, link, urls, _LEFT, y, width)
        boxes.append(box)
        ticks.append(_tick(link, _AXIS, y + 20, 0.0, y + 24))
        y += box.height
    axis = Arrow(((_AXIS, ticks[0].y), (_AXIS, y + (20 if chain.direction else 0))), "leader")
    if chain.direction:
        arrows.append(Arrow(((_LEFT + 18, y), (_LEFT + 18, y + 34)), "forecast"))
        boxes.append(_direction_box(chain, "tall", y + 34, TALL - 1))
        y = boxes[-1].y + boxes[-1].height
    alt_text = _alt_text(chain, links)
    return Picture(
        "tall", TALL, y + 2, tuple(boxes), tuple(notes), tuple(arrows), (axis,), tuple(ticks), alt_text
    )


# --- the parts --------------------------------------------------------------------------------


def _paper_box(chain: Chain, link: Link, urls: dict[str, str], x: float, y: float, width: float) -> Box:
    kind = link_kind(link)
    role = Line(x + PADDING, y + 22, ROLES[kind].upper(), "role", ROLE)
    title = link.paper.title.strip() or link.paper.id
    lines = _wrap_lines(title, x + PADDING, y + 44, width - 2 * PADDING, _TITLE)
    bottom = lines[-1].y if lines else role.y
    roles = [
        Line(x + PADDING, bottom + 22 + number * SMALL_LEADING, words, "gives", SMALL)
        for number, words in enumerate(contributions(chain, link))
    ]
    every = (role, *lines, *roles)
    return Box(
        x, y, width, every[-1].y - y + 14, kind, title, link.paper.year, urls.get(link.paper.id), every
    )


def contributions(chain: Chain, link: Link) -> tuple[str, ...]:
    """Return phrases on what the future direction takes from a paper."""
    ahead = chain.direction
    if ahead is None:
        return ()
    taken = (("gives the limitation", ahead.limitation_from), ("gives the mechanism", ahead.mechanism_from))
    return tuple(words for words, paper_id in taken if paper_id == link.paper.id)


def _outside(chain: Chain) -> tuple[str, ...]:
    """Return sentences on what the future direction takes from papers outside the chain."""
    assert chain.direction is not None
    inside = {link.paper.id for link in chain.links}
    taken = (("limitation", chain.direction.limitation_from), ("mechanism", chain.direction.mechanism_from))
    where = {True: "the model's memory, not a paper", False: "outside this chain"}
    return tuple(
        f"The {name} comes from {where[paper is None]}." for name, paper in taken if paper not in inside
    )


def _direction_box(chain: Chain, shape: Shape, y: float, width: float) -> Box:
    assert chain.direction is not None
    role = Line(PADDING, y + 22, ROLES["direction"].upper(), "role", ROLE)
    text = chain.direction.text.strip() or "The direction is empty."
    inner = min(width - 2 * PADDING, AHEAD_WIDTH)
    lines = _wrap_lines(text, PADDING, y + 46, inner, _AHEAD[shape])
    below = lines[-1].y if lines else role.y
    outside = [
        Line(PADDING, below + 26 + number * SMALL_LEADING, words, "gives", SMALL)
        for number, words in enumerate(_outside(chain))
    ]
    every = (role, *lines, *outside)
    return Box(0.0, y, width, every[-1].y - y + 18, "direction", text, "next", None, every)


def _wrap_lines(text: str, x: float, y: float, width: float, style: _TextStyle) -> tuple[Line, ...]:
    """Wrap a text into lines, the first with its baseline at ``y``."""
    rtl = is_right_to_left(text)
    start = x + width if rtl else x
    lines = wrap(text, width, style.size, style.most)
    return tuple(
        Line(start, y + number * style.leading, line, style.name, style.size, rtl)
        for number, line in enumerate(lines)
    )


def _tick(link: Link, x: float, y: float, year_x: float, year_y: float) -> Tick:
    return Tick(x, y, link_kind(link), Line(year_x, year_y, link.paper.year, "year", SMALL))


def _note(
    chain: Chain, links: tuple[Link, ...], number: int, x: float, y: float, width: float
) -> Note | None:
    """Return what changed before a paper; ``None`` for the first one and if nothing was recorded."""
    step = transition_between(chain, links[number - 1], links[number]) if number else None
    if step is None:
        return None
    lines = _phrases(step.entered, "+", "entered", x, y + 12, width)
    lines += _phrases(step.left, "−", "left", x, y + 12 + len(_rows(lines)) * SMALL_LEADING, width)
    return Note(x, y, width, lines[-1].y - y + 5, tuple(lines)) if lines else None


def _phrases(phrases: Sequence[str], sign: str, style: str, x: float, y: float, width: float) -> list[Line]:
    """Return the first phrases with their sign, and the number of further ones."""
    lines: list[Line] = []
    named = [phrase for phrase in phrases if phrase.strip()]
    for phrase in named[:SHOWN]:
        lines.append(Line(x, y, sign, f"sign {style}", SMALL))
        rtl = is_right_to_left(phrase)
        for line in wrap(phrase, width - SIGN, SMALL, PHRASE_LINES):
            lines.append(Line(x + width if rtl else x + SIGN, y, line, style, SMALL, rtl))
            y += SMALL_LEADING
    if len(named) > SHOWN:
        lines.append(Line(x + SIGN, y, f"{sign} {len(named) - SHOWN} more", "more", SMALL))
    return lines


def _rows(lines: Sequence[Line]) -> set[float]:
    return {line.y for line in lines}


def _alt_text(chain: Chain, links: tuple[Link, ...]) -> str:
    anchor = next((link.paper.title for link in links if link.position == 0), None)
    papers = "1 paper" if len(links) == 1 else f"{len(links)} papers"
    span = f"from {links[0].paper.year} to {links[-1].paper.year}" if len(links) > 1 else links[0].paper.year
    marked = f"; the anchor is {anchor}" if anchor else "; no paper is marked as the anchor"
    ends = "; it leads to a future direction" if chain.direction else "; no future direction was predicted"
    return f"Chain of ideas: {papers}, {span}{marked}{ends}."
