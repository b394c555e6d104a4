"""Records of the importer: rows, parsed ideas, annotations, problems and file formats.

A parsed idea holds only what its source states. Missing fields are ``None``; ``conversion`` decides whether
the idea is complete enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ideagora.schema import Experiment, Idea


@dataclass(frozen=True)
class Problem:
    """Something that could not be imported. ``row`` and ``field`` are ``None`` for a whole file."""

    file: str
    row: str | None
    field: str | None
    why: str

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.row, self.field) if part)
        return f"{place}: {self.why}"


@dataclass(frozen=True)
class Row:
    """One record of a file, with its place in the file for messages."""

    file: str
    place: str | None
    value: Mapping[str, Any]

    def problem(self, field: str | None, why: str) -> Problem:
        """Return a problem of this row."""
        return Problem(self.file, self.place, field, why)

    def nested(self, place: str, value: Mapping[str, Any]) -> Row:
        """Return a record within this one."""
        return Row(self.file, f"{self.place}, {place}" if self.place else place, value)


class FieldError(Exception):
    """A field is invalid. Becomes a problem of its row."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field, self.why = field, why


@dataclass(frozen=True, kw_only=True)
class ParsedIdea:
    """An idea as its source states it."""

    row: Row
    topic: str | None = None
    fallback_topic: str | None = None
    """A label such as "target 7", used if neither this file nor another one has the topic."""
    title: str | None = None
    method: str | None
    """The body of the idea."""
    motivation: str | None = None
    novelty: str | None = None
    summary: str | None = None
    experiment: Experiment | None = None
    references: tuple[str, ...] = ()
    agent: str | None = None
    """The agent that generated the idea, if the file names it."""
    model: str | None = None
    """The language model, if the file names it."""
    complete: Idea | None = None
    """The whole record, if the source is a file of ideagora."""
    created: str | None = None
    scores: Mapping[str, Any] = field(default_factory=dict)
    """Scores in the file, under the file's names."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Notes on the record: origins of fields, labels, indices."""
    original: Any = None
    """The original record; ``None`` for that of the row."""
    is_seed: bool = False
    """Whether a person wrote it as an example for the agent."""
    keys: tuple[str, ...] = ()
    """Keys by which other files refer to this idea."""


@dataclass(frozen=True)
class IdeaAnnotation:
    """Scores or a topic for ideas in other files."""

    row: Row
    key: str
    scores: Mapping[str, Any] = field(default_factory=dict)
    topic: str | None = None


ParsedItem = ParsedIdea | IdeaAnnotation | Problem


class Reader(Protocol):
    """Parses the rows of one file."""

    def __call__(self, rows: Iterable[Row]) -> Iterator[ParsedItem]:
        """Yield parsed items in order. Errors in the data are yielded as problems, not raised."""


class RowReader(Protocol):
    """Parses one row."""

    def __call__(self, row: Row) -> Iterable[ParsedItem]:
        """Return the parsed items.

        Raises:
            FieldError: a field is invalid.
        """


def catch_field_errors(read: RowReader, row: Row) -> Iterator[ParsedItem]:
    """Yield the parsed items of a row; a ``FieldError`` becomes a problem of the row."""
    try:
        yield from read(row)
    except FieldError as error:
        yield row.problem(error.field, error.why)


def read_each(read: RowReader) -> Reader:
    """Return a reader that parses each row separately."""

    def reader(rows: Iterable[Row]) -> Iterator[ParsedItem]:
        for row in rows:
            yield from catch_field_errors(read, row)

    return reader


class Matches(Protocol):
    """Decides whether a record has a format."""

    def __call__(self, value: Mapping[str, Any]) -> bool:
        """Return whether keys and types match; file names are ignored."""


@dataclass(frozen=True)
class Format:
    """One file format: how to recognise and read it."""

    name: str
    about: str
    """The software that writes it, and the file's name."""
    looks_for: str
    """The required fields, in words."""
    matches: Matches
    read: Reader
    is_fallback: bool = False
    """Whether it is used only if no other format matches."""
    has_many_agents: bool = False
    """Whether its files hold ideas of several agents, which keep their names."""


@dataclass(frozen=True)
class Imported:
    """The ideas of one or more files, and the problems."""

    ideas: tuple[Idea, ...]
    problems: tuple[Problem, ...]
    kind: str
    """Names of the formats, separated by commas."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Ideas that got a new id because theirs was taken (new id -> original id)."""
