"""Extraction of DOIs and arXiv ids from text, and paper ids."""

from __future__ import annotations

import re
from typing import NamedTuple

from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.schema import stable_id

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]+", re.IGNORECASE)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_NEW = r"\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}"
_OLD = r"[a-z][a-z-]+(?:\.[A-Z]{2})?/\d{2}(?:0[1-9]|1[0-2])\d{3}"
_ARXIV_NAME = re.compile(rf"({_NEW}|{_OLD})(?:v\d+)?", re.IGNORECASE)
_ARXIV_IN_TEXT = re.compile(
    rf"(?:arxiv\s*:\s*|arxiv\.org/(?:abs|pdf)/|10\.48550/arxiv\.|\babs/)({_NEW}|{_OLD})(?!\d)", re.IGNORECASE
)
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")


class Identifiers(NamedTuple):
    """Identifiers of one paper, in lower case and without scheme or version."""

    arxiv_id: str | None = None
    doi: str | None = None


def find_doi(text: str) -> str | None:
    """The first DOI in a text that was not issued by arXiv."""
    for match in _DOI.finditer(text):
        doi = _trim(match[0]).lower()
        if not _ARXIV_DOI.fullmatch(doi):
            return doi
    return None


def find_arxiv_id(text: str) -> str | None:
    """The first arXiv id marked as such in a text (``arXiv:2201.11903v2``, a link, arXiv's DOI)."""
    match = _ARXIV_IN_TEXT.search(text)
    return match[1].lower() if match else None


def parse_arxiv_id(name: str) -> str | None:
    """The arXiv id in a field reserved for it; ``None`` if it is not valid."""
    match = _ARXIV_NAME.fullmatch(re.sub(r"^arxiv\s*:\s*", "", name.strip(), flags=re.IGNORECASE))
    return match[1].lower() if match else find_arxiv_id(name)


def find_identifiers(doi: str | None, arxiv: str | None, *places: str | None) -> Identifiers:
    """Identifiers from a record's own fields, or else from other fields (links, the journal's name)."""
    rest = " ".join(place for place in places if place)
    arxiv_id = (parse_arxiv_id(arxiv) if arxiv else None) or find_arxiv_id(doi or "") or find_arxiv_id(rest)
    return Identifiers(arxiv_id, find_doi(doi or "") or find_doi(rest))


def arxiv_month(arxiv_id: str) -> str:
    """The month (YYYY-MM) in which a paper was first posted, according to its arXiv id."""
    digits = arxiv_id.rpartition("/")[2][:4]
    century = 19 if "/" in arxiv_id and digits[0] == "9" else 20
    return f"{century}{digits[:2]}-{digits[2:]}"


def find_year(text: str) -> str | None:
    """The last number in a text that can be a year; in references, the year follows pages and ids."""
    years = _YEAR.findall(text)
    return years[-1] if years else None


def make_paper_id(title: str, year: str | None, ids: Identifiers) -> str:
    """The id of a paper: from its arXiv id, its DOI, or its title and year."""
    if ids.arxiv_id:
        return f"arxiv:{ids.arxiv_id}"
    return f"doi:{ids.doi}" if ids.doi else f"own:{stable_id(title_key(title), year or '')}"


def _trim(doi: str) -> str:
    """Remove punctuation after a DOI; a closing parenthesis stays if the DOI contains the opening one."""
    doi = doi.rstrip(".,;:'")
    while doi.endswith(")") and doi.count("(") < doi.count(")"):
        doi = doi[:-1].rstrip(".,;:'")
    return doi
