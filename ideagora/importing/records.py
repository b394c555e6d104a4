"""What a reader finds in a file: rows to look at, drafts of ideas, facts about them, and problems.

A draft says what its source says and nothing else. What a field of ``Idea`` needs and the source
lacks stays ``None`` here, and ``finishing`` decides whether the idea can be had without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ideagora.schema import Experiment, Idea


@dataclass(frozen=True)
class Problem:
    """Something that could not be imported. ``row`` and ``field`` are ``None`` for the file as a whole."""

    file: str
    row: str | None
    field: str | None
    why: str

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.row, self.field) if part)
        return f"{place}: {self.why}"


@dataclass(frozen=True)
class Row:
    """One record of a file, with the place that a person can find it by."""

    file: str
    place: str | None
    value: Mapping[str, Any]

    def problem(self, field: str | None, why: str) -> Problem:
        """A problem of this row."""
        return Problem(self.file, self.place, field, why)

    def inside(self, place: str, value: Mapping[str, Any]) -> Row:
        """A record within this one."""
        return Row(self.file, f"{self.place}, {place}" if self.place else place, value)


class FieldError(Exception):
    """A field cannot be used; becomes a problem of its row."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field, self.why = field, why


@dataclass(frozen=True, kw_only=True)
class ParsedIdea:
    """An idea as its source tells it."""

    row: Row
    topic: str | None = None
    label: str | None = None
    """What stands for the topic where the file has only a number, and no other file tells more."""
    title: str | None = None
    method: str | None
    """The body of the idea."""
    motivation: str | None = None
    novelty: str | None = None
    summary: str | None = None
    experiment: Experiment | None = None
    references: tuple[str, ...] = ()
    maker: str | None = None
    """Who made it, where the file says so."""
    model: str | None = None
    """The language model, where the file says so."""
    whole: Idea | None = None
    """An idea of our own, complete."""
    created: str | None = None
    scores: Mapping[str, Any] = field(default_factory=dict)
    """Scores that the file kept, under the file's names."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What a reader of the record should know: where a field came from, labels, indices."""
    original: Any = None
    """The record as it was; ``None``: the row's."""
    keys: tuple[str, ...] = ()
    """Names under which another file may speak of this idea."""


@dataclass(frozen=True)
class IdeaAnnotation:
    """What a file without ideas tells of ideas in other files: scores, or the topic of an index."""

    row: Row
    key: str
    scores: Mapping[str, Any] = field(default_factory=dict)
    topic: str | None = None


ParsedItem = ParsedIdea | IdeaAnnotation | Problem


class Reader(Protocol):
    """Turns the rows of one file into what is found in them."""

    def __call__(self, rows: Iterable[Row]) -> Iterator[ParsedItem]:
        """Read in order; what cannot be used is a problem, never an exception."""


class RowReader(Protocol):
    """Turns one row into what is found in it; may raise ``FieldError``."""

    def __call__(self, row: Row) -> Iterable[ParsedItem]:
        """Read one row."""


def catch_field_errors(read: RowReader, row: Row) -> Iterator[ParsedItem]:
    """What a row gives; a field that cannot be used becomes a problem of the row."""
    try:
        yield from read(row)
    except FieldError as error:
        yield row.problem(error.field, error.why)


def read_each(read: RowReader) -> Reader:
    """A reader that looks at every row by itself."""

    def reader(rows: Iterable[Row]) -> Iterator[ParsedItem]:
        for row in rows:
            yield from catch_field_errors(read, row)

    return reader


class Matches(Protocol):
    """Whether a record is of a format."""

    def __call__(self, value: Mapping[str, Any]) -> bool:
        """Look at keys and types, never at names of files."""


@dataclass(frozen=True)
class Format:
    """One form of file: how it is recognised and how it is read."""

    name: str
    about: str
    """Who writes it."""
    looks_for: str
    """What a record must have to be recognised, for people."""
    matches: Matches
    read: Reader
    is_last: bool = False
    """Whether it is only asked when no other form matches."""
    compares: bool = False
    """Whether its files compare several makers, so that each keeps a name of its own."""


@dataclass(frozen=True)
class Imported:
    """The ideas of one or more files, and all that could not be imported."""

    ideas: tuple[Idea, ...]
    problems: tuple[Problem, ...]
    kind: str
    """Names of the formats, with commas between them."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Ideas whose id another one has (new id -> the id that they came with)."""
