"""Normalizes the records of literature services to papers: ids, dates, text and links."""

from __future__ import annotations

import datetime
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from ideagora.models.offline.word_lists import FUNCTION_WORDS
from ideagora.retrieval.untrusted_json import clean_text, parse_pruned_json
from ideagora.schema import Paper, stable_id

logger = logging.getLogger(__name__)

T = TypeVar("T")

_ARXIV_ID = re.compile(r"(\d{4}\.\d{4,5}|[a-z][a-z.-]*/\d{7})(?:v\d+)?", re.I)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.I)
_DOI = re.compile(r"10\.\d[\d.]*/\S+")
_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_MAX_QUERY_WORDS = 12
_MAX_LINK = 2_000
_MAX_ID = 300
_MAX_TITLE, _MAX_ABSTRACT = 2_000, 50_000
"""Characters; longer text is cut, since it goes into prompts."""
_MAX_CITATIONS = 10**9


@dataclass(frozen=True, kw_only=True)
class RawPaper:
    """A service's fields of a paper, any of which may be missing or of the wrong type."""

    source: str
    own_id: str | None
    """The service's id with its prefix; a paper without any id is identified by title and year."""
    title: object
    abstract: object = None
    authors: Iterable[object] = ()
    dates: Iterable[object] = ()
    """Possibly partial dates; the first valid one is used."""
    venue: object = None
    arxiv: object = None
    doi: object = None
    citation_count: object = None
    pdf_url: object = None


def build_paper(raw: RawPaper, day: str) -> Paper:
    """The paper with a service's fields as far as they are valid; ``day`` is the day of the response."""
    arxiv_id, doi = parse_arxiv_id(raw.arxiv) or arxiv_id_from_doi(raw.doi), parse_doi(raw.doi)
    title = (single_line(raw.title) or "")[:_MAX_TITLE]
    date = next((iso for value in raw.dates if (iso := parse_date(value))), None)
    own_id = _valid_id(raw.own_id)
    title_id = f"title:{stable_id(title.casefold(), (date or '')[:4])}"
    other_ids = [f"doi:{doi}" if doi else None, own_id, title_id]
    count = _citation_count(raw.citation_count)
    return Paper(
        id=f"arxiv:{arxiv_id}" if arxiv_id else next(name for name in other_ids if name),
        other_ids=(own_id,) if own_id and (arxiv_id or doi) else (),
        title=title,
        abstract=(single_line(raw.abstract) or "")[:_MAX_ABSTRACT] or None,
        authors=tuple(name for author in raw.authors if (name := single_line(author))),
        date=date,
        venue=single_line(raw.venue),
        arxiv_id=arxiv_id,
        doi=doi,
        citation_count=count,
        citations_as_of=day if count is not None else None,
        pdf_url=parse_link(raw.pdf_url),
        source=raw.source,
    )


def _valid_id(value: object) -> str | None:
    return value if isinstance(value, str) and value.isprintable() and len(value) <= _MAX_ID else None


def _citation_count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MAX_CITATIONS else None


def parse_papers(records: Iterable[T], read: Callable[[T], RawPaper], day: str) -> list[Paper]:
    """The papers in a service's records; records that make no valid paper are skipped and logged."""
    papers = []
    for record in records:
        try:
            papers.append(build_paper(read(record), day))
        except ValidationError as error:
            logger.warning("skipped a record that cannot be parsed: %s", error.errors()[0]["msg"])
    return papers


def parse_json_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object in a response body.

    Raises:
        ValueError: the body is not a JSON object, or is too large.
    """
    value = parse_pruned_json(body)
    if not isinstance(value, Mapping):
        raise ValueError("not a JSON object")
    return value


def parse_json_array(body: bytes) -> list[Any]:
    """The JSON array in a response body; raises as ``parse_json_object``."""
    value = parse_pruned_json(body)
    if not isinstance(value, list):
        raise ValueError("not a JSON array")
    return value


def single_line(value: object) -> str | None:
    """The text on one line; ``None`` if it is empty or not a string."""
    return " ".join(clean_text(value).split()) or None if isinstance(value, str) else None


def parse_link(value: object) -> str | None:
    """A valid http(s) URL; ``None`` for anything else."""
    text = value.strip() if isinstance(value, str) else ""
    is_link = text.lower().startswith(("http://", "https://")) and text.isprintable() and " " not in text
    return text if is_link and len(text) <= _MAX_LINK else None


def parse_date(value: object) -> str | None:
    """A year (1000 to 2999) or a possibly partial ISO date or time, as a partial ISO date.

    Of an impossible date (2023-02-31, 2023-00) the valid part is kept.
    """
    match = _DAY.match(str(value)) if isinstance(value, str | int) else None
    if not match or not 1000 <= int(match[1]) <= 2999:
        return None
    year, month, day = match.groups()
    if month is None or not 1 <= int(month) <= 12:
        return str(year)
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat() if day else f"{year}-{month}"
    except ValueError:
        return f"{year}-{month}"


def parse_arxiv_id(value: object) -> str | None:
    """The arXiv id without version, from an id or an arXiv URL."""
    if not isinstance(value, str):
        return None
    tail = re.sub(r"^(?:https?://[^/]*arxiv\.org/(?:abs|pdf)/|arxiv:)|\.pdf$", "", value.strip(), flags=re.I)
    match = _ARXIV_ID.fullmatch(tail)
    return match[1].lower() if match else None


def arxiv_id_from_doi(value: object) -> str | None:
    """The arXiv id in a DOI that arXiv assigned."""
    match = _ARXIV_DOI.fullmatch(parse_doi(value) or "")
    return parse_arxiv_id(match[1]) if match else None


def parse_doi(value: object) -> str | None:
    """The DOI in lower case, from a DOI or its URL."""
    if not isinstance(value, str):
        return None
    bare = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", value.strip(), flags=re.I).lower()
    return bare if len(bare) <= _MAX_ID and _DOI.fullmatch(bare) else None


def query_words(query: str) -> list[str]:
    """The first twelve content words of a query, each once.

    The services match words, so whole paragraphs (an idea or one of its facets) would match nothing.
    Hyphens are removed, since Semantic Scholar finds nothing for a hyphenated word.
    """
    words = re.findall(r"\w+", query.replace("-", " "))
    content = list(dict.fromkeys(word for word in words if word.casefold() not in FUNCTION_WORDS)) or words
    return content[:_MAX_QUERY_WORDS]


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in chunks of at most ``size``."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def as_map(value: object) -> Mapping[str, Any]:
    """The value if it is a JSON object, otherwise an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON array, otherwise an empty list."""
    return value if isinstance(value, list) else []
