"""Reader for CSL-JSON files, as exported by Zotero and Crossref.

Items are parsed one by one, so that a problem can name its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ideagora.retrieval.ingest.bibliographic import BibliographicFields, make_paper, partial_date
from ideagora.retrieval.ingest.documents import Document, Problem, ReadResult
from ideagora.retrieval.ingest.identifiers import find_identifiers, find_year
from ideagora.retrieval.store.fulltext import CitedWork
from ideagora.retrieval.untrusted_json import UnreadableJSON, parse_json

_STEP = "Fix this item and add the file again."
_TAGS = re.compile(r"</?[a-zA-Z][\w:.-]*(?:\s[^<>]*)?/?>")
_SEPARATORS = re.compile(r"[\s,]*")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_STRUCTURE = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_SCALAR = re.compile(rf"{_STRING}|[^\s,\[\]{{}}\"]+", re.DOTALL)


def read_csl(path: str, text: str) -> Iterator[ReadResult]:
    """The items of a CSL-JSON file; ``path`` is its name in problems."""
    text = text.lstrip("\ufeff")
    line, counted = 1, 0
    for start, end in _items(text):
        line += text.count("\n", counted, start)
        counted = start
        try:
            item = parse_json(text[start:end])
        except UnreadableJSON as error:
            if end < len(text):
                yield Problem(path=path, place=f"line {line}", what=f"the item: {error}", step=_STEP)
                continue
            what = "the JSON is not valid; the rest of the file could not be read"
            yield Problem(path=path, place=f"line {line}", what=what, step="Fix or export the file again.")
            return
        yield _parse_item(path, item, line, end / len(text))


def _items(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each item, found by brackets and quotes in linear time."""
    place = _skip_separators(text, 0)
    place = _skip_separators(text, place + 1) if text.startswith("[", place) else place
    while place < len(text) and text[place] != "]":
        if text[place] in "{[":
            end = _closing_bracket(text, place)
        else:
            scalar = _SCALAR.match(text, place)
            end = scalar.end() if scalar else len(text)
        yield place, end
        place = _skip_separators(text, end)


def _closing_bracket(text: str, start: int) -> int:
    """Position after the bracket that closes the one at ``start``; the end of the text if there is none."""
    depth = 0
    for token in _STRUCTURE.finditer(text, start):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)


def _skip_separators(text: str, place: int) -> int:
    match = _SEPARATORS.match(text, place)
    return match.end() if match else place


def _parse_item(path: str, item: Any, line: int, done: float) -> ReadResult:
    place = f"line {line}"
    if not isinstance(item, dict):
        return Problem(path=path, place=place, what=f"{str(item)[:40]!r} is not an item", step=_STEP)
    title = _text(item.get("title"))
    if not any(character.isalnum() for character in title):
        return Problem(path=path, place=place, what="the item has no title", step=_STEP)
    places = [_text(item.get(name)) for name in ("URL", "number", "note", "id")]
    ids = find_identifiers(_text(item.get("DOI")), None, *places)
    fields = BibliographicFields(
        title,
        ids,
        abstract=re.sub(r"^(?:Abstract|ABSTRACT)[.:]?\s+", "", _text(item.get("abstract"))),
        authors=_authors(item.get("author")),
        day=_day(item.get("issued")),
        venue=_text(item.get("container-title")) or _text(item.get("publisher")),
    )
    return Document(paper=make_paper(fields, "csl"), cited=_cited(item.get("reference")), done=done)


def _text(value: Any) -> str:
    """A field's text. Crossref uses lists instead of strings, and has tags in titles and abstracts."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return _TAGS.sub(" ", value).strip() if isinstance(value, str) else ""


def _authors(value: Any) -> list[str]:
    people = [person for person in value if isinstance(person, dict)] if isinstance(value, list) else []
    parts = ("given", "non-dropping-particle", "family", "suffix")
    return [
        _text(person.get("literal")) or " ".join(filter(None, (_text(person.get(part)) for part in parts)))
        for person in people
    ]


def _day(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    dates = value.get("date-parts")
    if isinstance(dates, list) and dates and isinstance(dates[0], list):
        year, month, day = [*map(str, dates[0]), "", "", ""][:3]
        return partial_date(year, month, day)
    raw = [*str(value.get("raw") or value.get("literal") or "").split("-"), "", ""]
    return partial_date(raw[0], raw[1], raw[2][:2])


def _cited(value: Any) -> tuple[CitedWork, ...] | None:
    """The reference list that Crossref adds to an item."""
    if not isinstance(value, list):
        return None
    return tuple(_reference(entry) for entry in value if isinstance(entry, dict))


def _reference(entry: dict[str, Any]) -> CitedWork:
    printed = _text(entry.get("unstructured"))
    ids = find_identifiers(_text(entry.get("DOI")), None, printed)
    title = _text(entry.get("article-title")) or printed or _text(entry.get("volume-title"))
    return CitedWork(
        text=title, year=find_year(str(entry.get("year", ""))), arxiv_id=ids.arxiv_id, doi=ids.doi
    )
