"""Turns the records of literature services into papers: ids, dates, text and links."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
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
_QUERY_WORDS = 12
_LONGEST_LINK = 2_000
_LONGEST_ID = 300
_LONGEST_TITLE, _LONGEST_ABSTRACT = 2_000, 50_000
"""Characters; what is longer is cut, since it goes into prompts."""
_MOST_CITATIONS = 10**9


def paper_of(
    *,
    source: str,
    day: str,
    own_id: str | None,
    title: object,
    abstract: object = None,
    authors: Iterable[object] = (),
    dated: Iterable[object] = (),
    venue: object = None,
    arxiv: object = None,
    doi: object = None,
    cited: object = None,
    pdf: object = None,
) -> Paper:
    """A record from what a service says, where any field may be missing or of a wrong kind.

    Args:
        day: on which the service said it.
        own_id: the service's id with its prefix; without any id the paper goes by its title and year.
        dated: dates, possibly partial; the first that is one counts.
    """
    arxiv_id, clean_doi = arxiv_of(arxiv) or arxiv_of_doi(doi), doi_of(doi)
    name, when = (
        (line(title) or "")[:_LONGEST_TITLE],
        next((iso for one in dated if (iso := partial_date(one))), None),
    )
    by_title = f"title:{stable_id(name.casefold(), (when or '')[:4])}"
    own_id = (
        own_id if isinstance(own_id, str) and own_id.isprintable() and len(own_id) <= _LONGEST_ID else None
    )
    others = [f"doi:{clean_doi}" if clean_doi else None, own_id, by_title]
    is_count = isinstance(cited, int) and not isinstance(cited, bool) and 0 <= cited < _MOST_CITATIONS
    count = cited if isinstance(cited, int) and is_count else None
    return Paper(
        id=f"arxiv:{arxiv_id}" if arxiv_id else next(one for one in others if one),
        other_ids=(own_id,) if own_id and (arxiv_id or clean_doi) else (),
        title=name,
        abstract=(line(abstract) or "")[:_LONGEST_ABSTRACT] or None,
        authors=tuple(author for one in authors if (author := line(one))),
        date=when,
        venue=line(venue),
        arxiv_id=arxiv_id,
        doi=clean_doi,
        citation_count=count,
        citations_as_of=day if count is not None else None,
        pdf_url=web_link(pdf),
        source=source,
    )


def papers_from(records: Iterable[Any], read: Callable[[Any, str], Paper], day: str) -> list[Paper]:
    """The papers of a service's records, read one by one: a record that cannot be one costs only itself."""
    papers = []
    for record in records:
        try:
            papers.append(read(record, day))
        except ValidationError as error:
            logger.warning("left out a record that cannot be read: %s", error.errors()[0]["msg"])
    return papers


def json_object(body: bytes) -> Mapping[str, Any]:
    """The object of a service's answer.

    Raises:
        ValueError: it is none, or too large to be one of theirs.
    """
    value = parse_pruned_json(body)
    if not isinstance(value, Mapping):
        raise ValueError("no JSON object")
    return value


def json_array(body: bytes) -> list[Any]:
    """The array of a service's answer; errors as ``json_object``."""
    value = parse_pruned_json(body)
    if not isinstance(value, list):
        raise ValueError("no JSON array")
    return value


def line(value: object) -> str | None:
    """Text on one line; ``None`` for what is no text, or empty."""
    return " ".join(clean_text(value).split()) or None if isinstance(value, str) else None


def web_link(value: object) -> str | None:
    """An http(s) address on one line; ``None`` for anything else."""
    text = value.strip() if isinstance(value, str) else ""
    is_link = text.lower().startswith(("http://", "https://")) and text.isprintable() and " " not in text
    return text if is_link and len(text) <= _LONGEST_LINK else None


def partial_date(value: object) -> str | None:
    """A year (1000 to 2999), or an ISO date, possibly partial or with a time, as a partial ISO date.

    Of a date that no calendar has (2023-02-31, 2023-00) the part that can be believed is kept.
    """
    found = _DAY.match(str(value)) if isinstance(value, str | int) else None
    if not found or not 1000 <= int(found[1]) <= 2999:
        return None
    year, month, day = found.groups()
    if month is None or not 1 <= int(month) <= 12:
        return str(year)
    try:
        return date(int(year), int(month), int(day)).isoformat() if day else f"{year}-{month}"
    except ValueError:
        return f"{year}-{month}"


def arxiv_of(value: object) -> str | None:
    """An arXiv id without version, from the id or an address of arXiv's."""
    if not isinstance(value, str):
        return None
    tail = re.sub(r"^(?:https?://[^/]*arxiv\.org/(?:abs|pdf)/|arxiv:)|\.pdf$", "", value.strip(), flags=re.I)
    found = _ARXIV_ID.fullmatch(tail)
    return found[1].lower() if found else None


def arxiv_of_doi(value: object) -> str | None:
    """The arXiv id that a DOI of arXiv's own stands for."""
    found = _ARXIV_DOI.fullmatch(doi_of(value) or "")
    return arxiv_of(found[1]) if found else None


def doi_of(value: object) -> str | None:
    """A DOI in small letters, from the DOI or its address."""
    if not isinstance(value, str):
        return None
    bare = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", value.strip(), flags=re.I).lower()
    return bare if len(bare) <= _LONGEST_ID and _DOI.fullmatch(bare) else None


def query_words(query: str) -> list[str]:
    """The first dozen words of a query that mean something, each once.

    The services match words, and whole paragraphs (an idea, a facet of it) would match nothing.
    Hyphens go, since Semantic Scholar finds nothing for a word that has one.
    """
    words = re.findall(r"\w+", query.replace("-", " "))
    meant = list(dict.fromkeys(word for word in words if word.casefold() not in FUNCTION_WORDS)) or words
    return meant[:_QUERY_WORDS]


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Pieces of at most ``size``."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def as_map(value: object) -> Mapping[str, Any]:
    """The value when it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """The value when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []
