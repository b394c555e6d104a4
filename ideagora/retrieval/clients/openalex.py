"""OpenAlex's works.

Not through ``pyalex`` (0.21): it is synchronous, keeps its settings in one global object, and makes a
session of its own for each request, with no place for our limiter, cache and bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import quote

from ideagora.retrieval.clients.normalize import (
    arxiv_of,
    as_list,
    as_map,
    chunks,
    json_object,
    paper_of,
    papers_from,
    query_words,
    web_link,
)
from ideagora.retrieval.http.client import HttpClient, HttpRequest
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
_SEARCH_MOST = 1_000
_BATCH = 50
"""Values that a filter takes."""
_LONGEST_ABSTRACT = 20_000
"""Words; a position beyond that is damage."""


class OpenAlex(NoRecommendations):
    """Search, papers, references and citations of OpenAlex; see ``RemoteSource``."""

    name = NAME
    prefixes: tuple[str, ...] = ("openalex:", "doi:", "arxiv:")
    has_citations = True

    def __init__(self, client: HttpClient, max_neighbors: int = MAX_NEIGHBORS) -> None:
        self._client = client
        self._most = max_neighbors

    async def search(self, query: str, k: int) -> list[Paper]:
        """Papers by the service's relevance; at most 1,000."""
        words = " ".join(query_words(query))
        most = min(k, _SEARCH_MOST)
        return (await self._listed({"search": words}, most)).papers[:most] if words else []

    async def paper(self, paper_id: str) -> Paper | None:
        """One paper."""
        found = await self._work(paper_id)
        return next(iter(papers_from([found[0]], paper_from, found[1])), None) if found else None

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Papers by filters over their ids or DOIs, 50 a request."""
        found: dict[str, Paper] = {}
        for filter_name, prefix in (("openalex", "openalex:"), ("doi", "doi:"), ("doi", "arxiv:")):
            asked = {_value(one): one for one in ids if one.startswith(prefix)}
            for some in chunks([value for value in asked if not set(value) & set(",|")], _BATCH):
                listed = await self._listed({"filter": f"{filter_name}:{'|'.join(some)}"}, len(some))
                for paper in listed.papers:
                    found |= {asked[name]: paper for name in _values(paper) if name in asked}
        return found

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that one cites: their ids stand in its record, the rest comes in batches."""
        found = await self._work(paper_id)
        if found is None:
            return Neighbors([])
        ids = [f"openalex:{_tail(one)}" for one in as_list(found[0].get("referenced_works"))]
        papers = await self.batch(ids[: self._most])
        return Neighbors([papers[one] for one in ids if one in papers], cut=len(ids) > self._most)

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite one, newest first."""
        if not paper_id.startswith("openalex:"):
            found = await self._work(paper_id)
            if found is None:
                return Neighbors([])
            paper_id = f"openalex:{_tail(found[0].get('id'))}"
        cites = {"filter": f"cites:{_value(paper_id)}", "sort": "publication_date:desc"}
        return await self._listed(cites, self._most)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year, of the last ten years or so; a year that is not told is no zero."""
        found = await self._work(paper_id, "id,counts_by_year")
        if found is None or not isinstance(found[0].get("counts_by_year"), list):
            return None
        counts = [as_map(one) for one in found[0]["counts_by_year"]]
        pairs = ((_number(one.get("year")), _number(one.get("cited_by_count"))) for one in counts)
        return {year: count for year, count in sorted(pairs) if year > 0 and count >= 0}

    async def disconnect(self) -> None:
        """Close connections."""
        await self._client.disconnect()

    async def _work(self, paper_id: str, fields: str = _FIELDS) -> tuple[Mapping[str, Any], str] | None:
        value = _value(paper_id)
        path = quote(value if paper_id.startswith("openalex:") else f"doi:{value}", safe=":/")
        answer = await self._client.ask(HttpRequest(f"/works/{path}", {"select": fields}), json_object)
        return (answer.value, answer.day) if answer else None

    async def _listed(self, params: dict[str, str], most: int) -> Neighbors:
        """Page after page by the service's cursor, up to a bound."""
        papers: list[Paper] = []
        cursor: object = "*"
        while isinstance(cursor, str) and cursor and len(papers) < most:
            page = {"select": _FIELDS, "per-page": str(_PAGE), "cursor": cursor, **params}
            answer = await self._client.ask(HttpRequest("/works", page), json_object)
            records = as_list(answer.value.get("results")) if answer else []
            if answer is None or not records:
                return Neighbors(papers)
            papers += papers_from(filter(as_map, records), paper_from, answer.day)
            meta = as_map(answer.value.get("meta"))
            cursor = meta.get("next_cursor")
            if len(papers) >= (total if isinstance(total := meta.get("count"), int) else len(papers) + 1):
                return Neighbors(papers[:most], cut=len(papers) > most)
        return Neighbors(papers[:most], cut=bool(cursor))


def paper_from(record: Any, day: str) -> Paper:
    """A work as the service writes it; any field may be null or missing."""
    record = as_map(record)
    locations = [record.get("primary_location"), *as_list(record.get("locations"))]
    places = [
        url for one in locations for url in (as_map(one).get("landing_page_url"), as_map(one).get("pdf_url"))
    ]
    authors = [as_map(one).get("author") for one in as_list(record.get("authorships"))]
    return paper_of(
        source=NAME,
        day=day,
        own_id=f"openalex:{_tail(record.get('id'))}" if _tail(record.get("id")) else None,
        title=record.get("title") or record.get("display_name"),
        abstract=abstract_from(record.get("abstract_inverted_index")),
        authors=[as_map(author).get("display_name") for author in authors],
        dated=[record.get("publication_date"), record.get("publication_year")],
        venue=as_map(as_map(record.get("primary_location")).get("source")).get("display_name"),
        arxiv=next((place for place in places if arxiv_of(place)), None),
        doi=record.get("doi"),
        cited=record.get("cited_by_count"),
        pdf=_pdf([record.get("best_oa_location"), *locations]),
    )


def _pdf(locations: Iterable[object]) -> object:
    """The first link to a PDF among places where the work can be read freely."""
    free = [as_map(one) for one in locations if as_map(one).get("is_oa")]
    return next((one["pdf_url"] for one in free if web_link(one.get("pdf_url"))), None)


def _number(value: object) -> int:
    """A whole number; -1 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def abstract_from(index: object) -> str | None:
    """The abstract from the index of its words (word -> positions)."""
    places = chain.from_iterable(
        ((place, word) for place in as_list(positions) if isinstance(place, int))
        for word, positions in as_map(index).items()
    )
    words = [word for place, word in sorted(places) if 0 <= place < _LONGEST_ABSTRACT]
    return " ".join(words) or None


def _values(paper: Paper) -> list[str]:
    """What filters may have asked this paper by."""
    names = [paper.id, *paper.other_ids, f"doi:{paper.doi}", f"arxiv:{paper.arxiv_id}"]
    return [_value(name) for name in names]


def _value(paper_id: str) -> str:
    """An id as filters take it: OpenAlex's own, or a DOI (arXiv gives one to each of its papers)."""
    prefix, _, rest = paper_id.partition(":")
    return f"10.48550/arxiv.{rest}" if prefix == "arxiv" else rest


def _tail(url: object) -> str:
    return url.rstrip("/").rsplit("/", 1)[-1].upper() if isinstance(url, str) else ""
