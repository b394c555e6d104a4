"""Tables of figures for terminals of any width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

GAP = 2
"""Spaces between columns."""
NARROWEST_NAME = 16
"""Characters that a column of names keeps on a narrow terminal; longer names continue on the next line."""


@dataclass(frozen=True)
class FigureTable:
    """A table that never cuts a figure: columns that do not fit stand below the others, with the names again.

    The first ``names`` columns name the rows and may wrap; all others are figures.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Text | str]]
    names: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [self._width(place) for place in range(len(self.columns))]
        figures = range(self.names, len(self.columns))
        room = options.max_width - GAP * self.names
        beside = room - sum(widths[place] + GAP for place in figures)
        below = room - max((widths[place] + GAP for place in figures), default=0)
        fits = sum(min(width, NARROWEST_NAME) for width in widths[: self.names]) <= beside
        names = _shrink(widths[: self.names], beside if fits else below)
        left = options.max_width - sum(names) - GAP * self.names
        for number, block in enumerate(_blocks([(place, widths[place] + GAP) for place in figures], left)):
            yield from [Text("")] * bool(number)
            yield self._table(names, widths, block)

    def _width(self, place: int) -> int:
        """Characters of the widest line of a column, or of the widest word of its title."""
        lines = [line for row in self.rows for line in str(row[place]).split("\n")]
        title = [self.columns[place]] if place < self.names else self.columns[place].split()
        return max((len(text) for text in (*lines, *title)), default=0)

    def _table(self, names: Sequence[int], widths: Sequence[int], block: Sequence[int]) -> Table:
        table = Table(box=None, padding=(0, GAP, 0, 0))
        for place, width in enumerate(names):
            table.add_column(Text(self.columns[place]), overflow="fold", width=width)
        for place in block:
            table.add_column(Text(self.columns[place]), justify="right", width=widths[place], overflow="fold")
        for row in self.rows:
            table.add_row(*(_as_text(row[place]) for place in (*range(self.names), *block)))
        return table


def _as_text(cell: Text | str) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _shrink(widths: Sequence[int], room: int) -> list[int]:
    """The widths of the names in this room, the widest shortened first."""
    shrunk = list(widths)
    while sum(shrunk) > room and max(shrunk, default=0) > NARROWEST_NAME:
        shrunk[shrunk.index(max(shrunk))] -= 1
    return shrunk


def _blocks(columns: Sequence[tuple[int, int]], room: int) -> Iterator[list[int]]:
    """The places of (place, width) that fit beside each other; at least one in each block."""
    block: list[int] = []
    left = room
    for place, width in columns:
        if block and width > left:
            yield block
            block, left = [], room
        block.append(place)
        left -= width
    yield block
