"""Reader for RIS files, based on rispy.

Records are parsed one at a time, since rispy drops what follows a record without an end and reports no
line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

from ideagora.retrieval.ingest.bibliographic import (
    BibliographicFields,
    given_name_first,
    make_paper,
    partial_date,
)
from ideagora.retrieval.ingest.documents import Document, Problem, ReadResult
from ideagora.retrieval.ingest.identifiers import find_identifiers
from ideagora.schema import Paper

_TAG = re.compile(r"^([A-Z][A-Z0-9]) {1,2}-(?: |$)")
_ODD_TAG = re.compile(r"^([A-Z][A-Z0-9]) {1,2}- ?")
_PLACES_OF_IDS = ("urls", "notes", "journal_name", "custom1", "number", "secondary_title")
_MAX_LINES = 5_000
"""Lines read per record; further ones are ignored."""
_STEP = "Fix this record and add the file again."


def read_ris(path: str, text: str) -> Iterator[ReadResult]:
    """The records of a RIS file; ``path`` is its name in problems."""
    total = max(1, text.count("\n"))
    lines = (line.rstrip("\r\n") for line in StringIO(text.lstrip("\ufeff")))
    for start, record in _records(lines):
        result = _parse_record(path, start, record)
        if isinstance(result, Document):
            result = result.model_copy(update={"done": min(1.0, (start + len(record)) / total)})
        yield result


def _records(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number (from 1) and lines of each record; text between records is ignored."""
    record: list[str] = []
    start = 0
    for number, line in enumerate(lines, start=1):
        tag = _TAG.match(line)
        if tag and tag[1] == "TY":
            if record:
                yield start, record
            record, start = [line], number
        elif tag and tag[1] == "ER":
            if record:
                yield start, [*record, line]
            record = []
        elif record and len(record) < _MAX_LINES:
            record.append(line)
    if record:
        yield start, record


def _parse_record(path: str, start: int, record: list[str]) -> ReadResult:
    import rispy

    place = f"line {start}"
    if not record[-1].startswith("ER"):
        return Problem(path=path, place=place, what="the record has no end (a line “ER  - ”)", step=_STEP)
    normal = [_ODD_TAG.sub(r"\1  - ", line) for line in record]
    try:
        entries: list[dict[str, Any]] = rispy.loads("\n".join(normal) + "\n")
    except (rispy.parser.ParseError, OSError, ValueError, KeyError, IndexError) as error:
        reason = " ".join(str(error).split())[:120]
        return Problem(path=path, place=place, what=f"the record cannot be read ({reason})", step=_STEP)
    entry = entries[0] if entries else {}
    title = _first(entry, "title", "primary_title", "translated_title")
    if not any(character.isalnum() for character in title):
        return Problem(path=path, place=place, what="the record has no title (TI or T1)", step=_STEP)
    return Document(paper=_paper(entry, title))


def _paper(entry: dict[str, Any], title: str) -> Paper:
    ids = find_identifiers(_first(entry, "doi"), None, *_all(entry, *_PLACES_OF_IDS))
    date = (_first(entry, "date") or _first(entry, "year", "publication_year")).split("/")
    year, month, day = [*date, "", "", ""][:3]
    if not re.search(r"\d{4}", year):
        year = _first(entry, "year", "publication_year")
    fields = BibliographicFields(
        title,
        ids,
        abstract=_first(entry, "abstract", "notes_abstract"),
        authors=[given_name_first(name) for name in _all(entry, "authors", "first_authors")],
        day=partial_date(year, month, day),
        venue=_first(entry, "journal_name", "secondary_title", "alternate_title3", "publisher"),
    )
    return make_paper(fields, "ris")


def _first(entry: dict[str, Any], *names: str) -> str:
    return next(iter(_all(entry, *names)), "")


def _all(entry: dict[str, Any], *names: str) -> list[str]:
    values = [entry.get(name) for name in names]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item.strip() for item in flat if isinstance(item, str) and item.strip()]
