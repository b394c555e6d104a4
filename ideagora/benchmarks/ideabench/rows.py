"""Rows of IdeaBench's tables: target papers and their references (section 3.1).

The files are tables that pandas wrote from records of Semantic Scholar: lists and objects are Python literals
in cells, and numbers may be written as ``2022.0``. Every field of a row is checked; fields that are not known
here are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ideagora.importing.fields import decode_field, optional_text
from ideagora.importing.records import FieldError
from ideagora.retrieval.ingest.identifiers import find_identifiers, make_paper_id
from ideagora.retrieval.restrictions.cutoff import title_key

MIN_ABSTRACT_WORDS = 8
"""Some published abstracts are fragments, such as ``falls,``."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target paper."""

    key: str
    """Its ``paperId`` in the files."""
    paper_id: str
    """Its id in the library."""
    title: str
    abstract: str
    date: str | None
    """ISO date, possibly partial; the published files state only the year."""
    summary: str | None
    """``abstract_summary``: its idea as one paragraph, extracted by the data set's authors."""
    topic: str | None
    """Not in the published files, which have no topics."""
    citations: int | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper that a target cites, as an agent gets it."""

    paper_id: str
    title: str
    abstract: str
    date: str | None
    citations: int | None


@dataclass(frozen=True, slots=True)
class Citation:
    """A row of a references table: a reference and how the target cites it."""

    target: str
    """``targetPaperId``."""
    reference: Reference
    intents: tuple[str, ...] | None
    """``background``, ``methodology``, ``result``; ``None`` if not known."""
    types: tuple[str, ...] | None
    """Publication types; ``None`` if not known."""
    contexts: tuple[str, ...]
    """Passages in which the target cites it."""


def read_target(value: Mapping[str, Any]) -> Target:
    """Return the target of a row.

    Raises:
        FieldError: a field is missing or invalid.
    """
    _texts(value, "publicationTypes")
    _whole_number(value, "strategy")
    optional_text(value, "venue")
    return Target(
        key=_text(value, "paperId"),
        paper_id=_library_id(value),
        title=_text(value, "title"),
        abstract=_abstract(value),
        date=_date(value),
        summary=optional_text(value, "abstract_summary"),
        topic=optional_text(value, "topic"),
        citations=_whole_number(value, "citationCount"),
    )


def read_citation(value: Mapping[str, Any]) -> Citation:
    """Return the citation of a row.

    Raises:
        FieldError: a field is missing or invalid.
    """
    optional_text(value, "venue")
    _truth(value, "isInfluential")
    return Citation(
        target=_text(value, "targetPaperId"),
        reference=Reference(
            paper_id=_library_id(value),
            title=_text(value, "title"),
            abstract=_abstract(value),
            date=_date(value),
            citations=_whole_number(value, "citationCount"),
        ),
        intents=_texts(value, "intents") or None,  # Semantic Scholar has [] for citations it has not read
        types=_texts(value, "publicationTypes") or None,
        contexts=_texts(value, "contexts") or (),
    )


def _text(value: Mapping[str, Any], name: str) -> str:
    text = optional_text(value, name)
    if text is None:
        raise FieldError(name, "empty" if name in value else "missing")
    return text


def _library_id(value: Mapping[str, Any]) -> str:
    """The paper's id in the library: from its arXiv id, its DOI, or its ``paperId``."""
    key, title = _text(value, "paperId"), _text(value, "title")
    external = decode_field(value, "externalIds")
    if external is not None and not isinstance(external, Mapping):
        raise FieldError("externalIds", "must be an object of ids")
    ids = {name: each for name, each in (external or {}).items() if isinstance(each, str)}
    found = find_identifiers(ids.get("DOI"), ids.get("ArXiv"))
    if found.arxiv_id or found.doi:
        return make_paper_id(title_key(title), None, found)
    return key if ":" in key else f"s2:{key}"


def _abstract(value: Mapping[str, Any]) -> str:
    text = _text(value, "abstract")
    if len(text.split()) < MIN_ABSTRACT_WORDS:
        raise FieldError("abstract", f"{text[:40]!r} is no abstract")
    return text


def _date(value: Mapping[str, Any]) -> str | None:
    """The publication date, or else the year."""
    date, year = optional_text(value, "publicationDate"), _whole_number(value, "year")
    if date is not None:
        _check_date(date)
        return date
    return None if year is None else f"{year:04d}"


def _check_date(date: str) -> None:
    parts = date.split("-")
    if not (
        all(part.isascii() and part.isdigit() for part in parts)
        and [len(part) for part in parts] in ([4], [4, 2], [4, 2, 2])
        and all(0 < int(part) <= limit for part, limit in zip(parts[1:], (12, 31), strict=False))
    ):
        raise FieldError("publicationDate", f"{date[:40]!r} is not a date; write YYYY, YYYY-MM or YYYY-MM-DD")


def _whole_number(value: Mapping[str, Any], name: str) -> int | None:
    """A number of at least 0; pandas writes ``44.0`` if the column has gaps."""
    found = value.get(name)
    if found is None:
        return None
    text = str(found).strip().removesuffix(".0")
    if isinstance(found, bool) or len(text) > 12 or not (text.isascii() and text.isdigit()):
        raise FieldError(name, f"must be a whole number, got {str(found)[:40]!r}")
    return int(text)


def _truth(value: Mapping[str, Any], name: str) -> None:
    found = value.get(name)
    if found is not None and str(found).strip().lower() not in ("true", "false"):
        raise FieldError(name, f"must be True or False, got {str(found)[:40]!r}")


def _texts(value: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    found = decode_field(value, name)
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FieldError(name, "must be a list of texts")
    return tuple(found)
