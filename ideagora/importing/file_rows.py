"""Read the rows of a file: JSON, JSON Lines, CSV, SQLite or text, detected by content.

Memory is bounded: JSON documents and lines have a maximum size, and lines and tables are streamed.
"""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ideagora.errors import IdeasFileError
from ideagora.importing.records import Problem, Row
from ideagora.retrieval.untrusted_json import UnreadableJSON, clean_value, parse_json

MAX_DOCUMENT_BYTES = 64_000_000
"""Maximum bytes of a JSON document."""
MAX_LINE_BYTES = 16_000_000
"""Maximum bytes of a line, and characters of a cell."""
DOCUMENT = "document"
"""Field of the only row of a text file."""
TEXT_SUFFIXES = {".md", ".markdown", ".txt"}
_COLUMN = re.compile(r"[\w .-]{1,30}\Z")
_HEAD_BYTES = 65_536
_LINES_TRIED = 20
"""Lines used to distinguish a JSON document from JSON Lines."""
_SQLITE = b"SQLite format 3\0"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_TABLE = "results"
"""The table of LiveIdeaBench."""
_ACCEPTED = "Use JSON, JSON Lines, CSV, Markdown, text or LiveIdeaBench's SQLite file."


@dataclass(frozen=True)
class FileRows:
    """The rows of a file. ``rows`` can be called repeatedly; an unreadable row is a problem."""

    shape: str
    """``JSON``, ``JSON Lines``, ``CSV``, ``SQLite`` or ``text``, for messages."""
    rows: Callable[[], Iterator[Row | Problem]]


def open_rows(path: Path, name: str) -> FileRows:
    """Open a file; its rows and problems refer to it as ``name``.

    Raises:
        IdeasFileError: it does not exist, is empty or has an unsupported type.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise IdeasFileError(f"{path} cannot be read ({error.strerror}). Check the path.") from None
    if head.startswith(_SQLITE):
        return FileRows("SQLite", lambda: _sqlite_rows(path, name))
    text = head.removeprefix(_BOM).strip()
    if not text:
        raise IdeasFileError(f"{path} is empty. {_ACCEPTED}")
    if head.startswith(_UTF16):
        raise IdeasFileError(f"{path} is UTF-16 text. Save it as UTF-8 first.")
    if b"\0" in head or head[:1] == b"\x80" or head.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        raise IdeasFileError(f"{path} is a binary file (such as an archive or a pickle). {_ACCEPTED}")
    if text.startswith(b"<"):
        raise IdeasFileError(f"{path} is a web page or XML. {_ACCEPTED}")
    if path.suffix.lower() in TEXT_SUFFIXES and not text.startswith((b"{", b"[")) and not _is_table(text):
        return _open_text(path, name, size)
    if not text.startswith((b"{", b"[")):
        return FileRows("CSV", lambda: _csv_rows(path, name))
    return _open_document(path, name, size) if text.startswith(b"[") else _open_json(path, name, size)


# --- text -------------------------------------------------------------------------------------


def _is_table(text: bytes) -> bool:
    """Whether the first line is a header of several columns."""
    first = text.partition(b"\n")[0].decode("utf-8", "replace").strip()
    return any(
        mark in first and all(_COLUMN.match(cell.strip(' "')) for cell in first.split(mark))
        for mark in ",;\t"
    )


def _open_text(path: Path, name: str, size: int) -> FileRows:
    if size > MAX_LINE_BYTES:
        limit = f"{MAX_LINE_BYTES / 1e6:,.0f} MB"
        raise IdeasFileError(f"{path} has {size / 1e6:,.0f} MB; the limit for text is {limit}. Split it.")
    try:
        text = path.read_bytes().removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        raise IdeasFileError(f"{path} is not UTF-8 text. Save it as UTF-8 first.") from None
    row = Row(name, None, {DOCUMENT: clean_value(text.replace("\r\n", "\n"))})
    return FileRows("text", lambda: iter([row]))


# --- JSON -------------------------------------------------------------------------------------


def _open_json(path: Path, name: str, size: int) -> FileRows:
    """Read as JSON Lines if the first line is an object and more follow, or if a document cannot be read."""
    objects = [number for number, line in _first_lines(path) if line is None or _is_object(line)]
    first = next((number for number, line in _first_lines(path) if line is None or line.strip()), 1)
    lines = FileRows("JSON Lines", lambda: _jsonl_rows(path, name))
    if first in objects and _has_more(path, first):
        return lines
    try:
        return _open_document(path, name, size)
    except IdeasFileError:
        if objects:
            return lines
        raise


def _first_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    return islice(_bounded_lines(path), _LINES_TRIED)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line.removeprefix(_BOM)), dict)
    except UnreadableJSON:
        return False


def _has_more(path: Path, first: int) -> bool:
    """Return whether a non-empty line follows line ``first``."""
    return any(line is None or line.strip() for number, line in _bounded_lines(path) if number > first)


def _open_document(path: Path, name: str, size: int) -> FileRows:
    if size > MAX_DOCUMENT_BYTES:
        limit = f"{MAX_DOCUMENT_BYTES / 1e6:,.0f} MB"
        raise IdeasFileError(
            f"{path} has {size / 1e6:,.0f} MB; the limit for JSON documents is {limit}. Split it, or "
            "convert it to JSON Lines (jq -c '.[]' FILE)."
        )
    try:
        value = parse_json(path.read_bytes().removeprefix(_BOM))
    except UnreadableJSON as error:
        raise IdeasFileError(f"{path} cannot be read: {error}. Fix the file or export it again.") from None
    if isinstance(value, dict):
        return FileRows("JSON", lambda: iter([Row(name, None, value)]))
    return FileRows(
        "JSON", lambda: (_json_row(name, f"record {n}", entry) for n, entry in enumerate(value, 1))
    )


def _json_row(file: str, place: str, value: Any) -> Row | Problem:
    if isinstance(value, dict):
        return Row(file, place, value)
    if value is None:
        return Problem(file, place, None, "null (failed run?)")
    return Problem(file, place, None, f"expected an object, got {json_type_name(value)}")


def json_type_name(value: Any) -> str:
    """Return the name of a JSON value's type, for messages."""
    names = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else names.get(type(value), "an object")


def _jsonl_rows(path: Path, name: str) -> Iterator[Row | Problem]:
    for number, line in _bounded_lines(path):
        place = f"line {number}"
        if line is None:
            yield Problem(name, place, None, f"longer than {MAX_LINE_BYTES / 1e6:,.0f} MB")
        elif line.strip():
            try:
                yield _json_row(name, place, parse_json(line.removeprefix(_BOM)))
            except UnreadableJSON as error:
                yield Problem(name, place, None, str(error))


def _bounded_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number, line) of a file, with ``None`` for a line that is too long."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES):
            number += 1
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                _skip_line(file)
                yield number, None
            else:
                yield number, line


def _skip_line(file: BinaryIO) -> None:
    while rest := file.readline(MAX_LINE_BYTES):
        if rest.endswith(b"\n"):
            return


# --- CSV --------------------------------------------------------------------------------------


def _csv_rows(path: Path, name: str) -> Iterator[Row | Problem]:
    """Yield the rows of a table, numbered as in a spreadsheet: row 1 is the header."""
    csv.field_size_limit(MAX_LINE_BYTES)
    number = 1
    try:
        lines = _text_lines(path)
        header = next(lines)
        delimiter = max((",", ";", "\t"), key=header.count)
        columns = next(csv.reader([header], delimiter=delimiter))
        for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), 2):
            if cells:
                yield _csv_row(name, f"row {number}", columns, cells)
    except (csv.Error, UnreadableJSON, UnicodeDecodeError, StopIteration) as error:
        why = f"no rows after row {number} could be read ({_csv_error(error)})"
        yield Problem(name, f"row {number + 1}", None, why)


def _csv_row(file: str, place: str, columns: list[str], cells: list[str]) -> Row | Problem:
    if len(cells) > len(columns):
        why = f"has {len(cells)} cells but the header has {len(columns)} columns"
        return Problem(file, place, None, why)
    value = {column: cell if cell.strip() else None for column, cell in zip(columns, cells, strict=False)}
    return Row(file, place, clean_value(value))


def _csv_error(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text: save the file as UTF-8"
    return str(error) or "no header"


def _text_lines(path: Path) -> Iterator[str]:
    for _, line in _bounded_lines(path):
        if line is None:
            raise UnreadableJSON(f"a line is longer than {MAX_LINE_BYTES / 1e6:,.0f} MB")
        yield line.removeprefix(_BOM).decode()


# --- SQLite -----------------------------------------------------------------------------------


def _sqlite_rows(path: Path, name: str) -> Iterator[Row | Problem]:
    """Yield the rows of LiveIdeaBench's table; a view is refused, since its query could run forever."""
    number = 0
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
            kind = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (_TABLE,)).fetchone()
            if kind != ("table",):
                yield Problem(name, None, None, f"the database has no table {_TABLE!r}")
                return
            cursor = connection.execute(f"SELECT * FROM {_TABLE}")  # noqa: S608
            columns = [column[0] for column in cursor.description]
            for number, cells in enumerate(cursor, 1):
                yield _sqlite_row(name, number, dict(zip(columns, cells, strict=True)))
    except sqlite3.Error as error:
        why = f"no rows after row {number} could be read ({error})"
        yield Problem(name, f"row {number + 1}", None, why)


def _sqlite_row(file: str, number: int, value: Mapping[str, Any]) -> Row | Problem:
    place = f"id {value['id']}" if isinstance(value.get("id"), int) else f"row {number}"
    try:
        return Row(file, place, clean_value(dict(value)))
    except UnreadableJSON as error:
        return Problem(file, place, None, str(error))
