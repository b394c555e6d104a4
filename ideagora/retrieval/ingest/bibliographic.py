"""Building paper records from bibliographic fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ideagora.retrieval.ingest.identifiers import Identifiers, make_paper_id
from ideagora.schema import Paper

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@dataclass(frozen=True)
class BibliographicFields:
    """What a file says about a paper, as far as it does; texts may contain line breaks."""

    title: str
    ids: Identifiers
    abstract: str = ""
    authors: Sequence[str] = ()
    day: str | None = None
    """ISO date, which may be partial."""
    venue: str = ""


def make_paper(fields: BibliographicFields, source: str) -> Paper:
    """The record of a paper with these fields."""
    title, ids, day = fields.title, fields.ids, fields.day
    return Paper(
        id=make_paper_id(title, day[:4] if day else None, ids),
        title=clean_line(title),
        abstract=clean_line(fields.abstract) or None,
        authors=tuple(filter(None, map(clean_line, fields.authors))),
        date=day,
        venue=clean_line(fields.venue) or None,
        arxiv_id=ids.arxiv_id,
        doi=ids.doi,
        source=source,
    )


def clean_line(text: str) -> str:
    """Text on one line, with control characters and repeated spaces removed."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())


def partial_date(year: str, month: str = "", day: str = "") -> str | None:
    """The ISO date of the known parts: ``("2019", "March")`` is 2019-03; ``None`` without a year."""
    match = re.search(r"(?<!\d)(\d{4})(?!\d)", year)
    if not match:
        return None
    number = _month(month)
    if number is None:
        return match[1]
    try:
        return date(int(match[1]), number, int(day)).isoformat()
    except ValueError:
        return f"{match[1]}-{number:02d}"


def given_name_first(name: str) -> str:
    """``Turing, Alan M.`` as ``Alan M. Turing``."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() else name.strip(" ,")


def _month(month: str) -> int | None:
    word = month.strip().lower()
    if word.isdecimal():
        return int(word) if 1 <= int(word) <= 12 else None
    return _MONTHS.index(word[:3]) + 1 if word[:3] in _MONTHS else None
