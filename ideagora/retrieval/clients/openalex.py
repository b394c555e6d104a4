"""OpenAlex's works API.

``pyalex`` (0.21) is not used: it is synchronous, keeps its settings in one global object, and opens a
new session for each request, which leaves no place for our rate limiter, cache and limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import quote

from ideagora.retrieval.clients.normalize import (
    RawPaper,
    as_list,
    as_map,
    chunks,
    parse_arxiv_id,
    parse_json_object,
    parse_link,
    parse_papers,
    query_words,
)
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.service import HttpRequest
from ideagora.retrieval.protocols import MAX_NEIGHBORS, Neighbors, NoRecommendations
from ideagora.schema import Paper

NAME = "openalex"
URL = "https://api.openalex.org"
KEYS = ("OPENALEX_API_KEY",)
INTERVAL = 0.1

_FIELDS = (
    "id,doi,title,publication_date,publication_year,authorships,primary_location,locations,"
    "cited_by_count,abstract_inverted_index,referenced_works,best_oa_location"
)
_PAGE = 200
_MAX_RESULTS = 1_000
_BATCH = 50
"""Values per filter."""
_MAX_ABSTRACT = 20_000
"""Words; positions beyond are invalid."""


class OpenAlex(NoRecommendations):
    """Search, papers, references and citations from OpenAlex; see ``RemoteSource``."""

    name = NAME
    prefixes: tuple[str, ...] = ("openalex:", "doi:", "arxiv:")
    has_citations = True

    def __init__(self, client: HttpClient, max_neighbors: int = MAX_NEIGHBORS) -> None:
        self._client = client
        self._max_neighbors = max_neighbors

    async def search(self, query: str, k: int) -> list[Paper]:
        """Papers by OpenAlex's relevance, at most 1,000."""
        words = " ".join(query_words(query))
        limit = min(k, _MAX_RESULTS)
        return (await self._list({"search": words}, limit)).papers[:limit] if words else []

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        work = await self._work(paper_id)
        return next(iter(parse_papers([work[0]], raw_paper, work[1])), None) if work else None

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Papers by filters on their ids or DOIs, 50 per request."""
        by_id: dict[str, Paper] = {}
        for filter_name, prefix in (("openalex", "openalex:"), ("doi", "doi:"), ("doi", "arxiv:")):
            paper_ids = {_value(paper_id): paper_id for paper_id in ids if paper_id.startswith(prefix)}
            for chunk in chunks([value for value in paper_ids if not set(value) & set(",|")], _BATCH):
                works = await self._list({"filter": f"{filter_name}:{'|'.join(chunk)}"}, len(chunk))
                for paper in works.papers:
                    by_id |= {paper_ids[value]: paper for value in _values(paper) if value in paper_ids}
        return by_id

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that a paper cites: ids from its record, their own records in batches."""
        work = await self._work(paper_id)
        if work is None:
            return Neighbors([])
        ids = [f"openalex:{_tail(url)}" for url in as_list(work[0].get("referenced_works"))]
        papers = await self.batch(ids[: self._max_neighbors])
        known = [papers[name] for name in ids if name in papers]
        return Neighbors(known, truncated=len(ids) > self._max_neighbors)

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite a paper, newest first."""
        if not paper_id.startswith("openalex:"):
            work = await self._work(paper_id)
            if work is None:
                return Neighbors([])
            paper_id = f"openalex:{_tail(work[0].get('id'))}"
        cites = {"filter": f"cites:{_value(paper_id)}", "sort": "publication_date:desc"}
        return await self._list(cites, self._max_neighbors)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year, for about the last ten years; a missing year is unknown, not zero."""
        work = await self._work(paper_id, "id,counts_by_year")
        if work is None or not isinstance(work[0].get("counts_by_year"), list):
            return None
        counts = [as_map(entry) for entry in work[0]["counts_by_year"]]
        pairs = ((_number(entry.get("year")), _number(entry.get("cited_by_count"))) for entry in counts)
        return {year: count for year, count in sorted(pairs) if year > 0 and count >= 0}

    async def disconnect(self) -> None:
        """Close connections."""
        await self._client.disconnect()

    async def _work(self, paper_id: str, fields: str = _FIELDS) -> tuple[Mapping[str, Any], str] | None:
        value = _value(paper_id)
        path = quote(value if paper_id.startswith("openalex:") else f"doi:{value}", safe=":/")
        request = HttpRequest(f"/works/{path}", {"select": fields})
        response = await self._client.fetch(request, parse_json_object)
        return (response.value, response.day) if response else None

    async def _list(self, params: dict[str, str], limit: int) -> Neighbors:
        """All pages of a listing, followed by cursor up to a limit."""
        papers: list[Paper] = []
        cursor: object = "*"
        while isinstance(cursor, str) and cursor and len(papers) < limit:
            page = {"select": _FIELDS, "per-page": str(_PAGE), "cursor": cursor, **params}
            response = await self._client.fetch(HttpRequest("/works", page), parse_json_object)
            records = as_list(response.value.get("results")) if response else []
            if response is None or not records:
                return Neighbors(papers)
            papers += parse_papers(filter(as_map, records), raw_paper, response.day)
            meta = as_map(response.value.get("meta"))
            cursor = meta.get("next_cursor")
            if len(papers) >= (total if isinstance(total := meta.get("count"), int) else len(papers) + 1):
                return Neighbors(papers[:limit], truncated=len(papers) > limit)
        return Neighbors(papers[:limit], truncated=bool(cursor))


def raw_paper(record: Any) -> RawPaper:
    """The fields of a work; any field may be null or missing."""
    record = as_map(record)
    locations = [record.get("primary_location"), *as_list(record.get("locations"))]
    urls = [as_map(location).get(name) for location in locations for name in ("landing_page_url", "pdf_url")]
    authors = [as_map(entry).get("author") for entry in as_list(record.get("authorships"))]
    return RawPaper(
        source=NAME,
        own_id=f"openalex:{_tail(record.get('id'))}" if _tail(record.get("id")) else None,
        title=record.get("title") or record.get("display_name"),
        abstract=restore_abstract(record.get("abstract_inverted_index")),
        authors=[as_map(author).get("display_name") for author in authors],
        dates=[record.get("publication_date"), record.get("publication_year")],
        venue=as_map(as_map(record.get("primary_location")).get("source")).get("display_name"),
        arxiv=next((url for url in urls if parse_arxiv_id(url)), None),
        doi=record.get("doi"),
        citation_count=record.get("cited_by_count"),
        pdf_url=_pdf([record.get("best_oa_location"), *locations]),
    )


def _pdf(locations: Iterable[object]) -> object:
    """The first PDF link among the open-access locations."""
    is_open = [as_map(location) for location in locations if as_map(location).get("is_oa")]
    return next((location["pdf_url"] for location in is_open if parse_link(location.get("pdf_url"))), None)


def _number(value: object) -> int:
    """The integer; -1 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def restore_abstract(index: object) -> str | None:
    """The abstract from its inverted index (word -> positions)."""
    places = chain.from_iterable(
        ((place, word) for place in as_list(positions) if isinstance(place, int))
        for word, positions in as_map(index).items()
    )
    words = [word for place, word in sorted(places) if 0 <= place < _MAX_ABSTRACT]
    return " ".join(words) or None


def _values(paper: Paper) -> list[str]:
    """The filter values that may have matched a paper."""
    names = [paper.id, *paper.other_ids, f"doi:{paper.doi}", f"arxiv:{paper.arxiv_id}"]
    return [_value(name) for name in names]


def _value(paper_id: str) -> str:
    """An id as a filter value: OpenAlex's own, or a DOI (arXiv assigns one to each paper)."""
    prefix, _, rest = paper_id.partition(":")
    return f"10.48550/arxiv.{rest}" if prefix == "arxiv" else rest


def _tail(url: object) -> str:
    return url.rstrip("/").rsplit("/", 1)[-1].upper() if isinstance(url, str) else ""
