"""Semantic Scholar's Academic Graph API.

The package ``semanticscholar`` (0.12) is not used: it opens a new connection for every request, which
leaves no place for a rate limiter, a cache or Retry-After; treats 502 and 503 as empty responses, so
that a service that is down seems to have found nothing; puts queries into the URL unescaped;
configures the root logger; and writes the key to debug logs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from ideagora.retrieval.clients.normalize import (
    RawPaper,
    as_list,
    as_map,
    chunks,
    parse_json_array,
    parse_json_object,
    parse_papers,
    query_words,
)
from ideagora.retrieval.http.cache import NotCached, cache_only
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.service import HttpRequest
from ideagora.retrieval.protocols import MAX_NEIGHBORS, Neighbors, NoRecommendations
from ideagora.schema import Paper

NAME = "semantic-scholar"
URL = "https://api.semanticscholar.org"
KEYS = ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY")
INTERVAL = 1.0
"""Seconds between requests, as allowed without a key and with a new key."""

_GRAPH = "/graph/v1"
_RECOMMENDATIONS = "/recommendations/v1"
_FIELDS = "paperId,externalIds,title,abstract,year,publicationDate,venue,authors,citationCount,openAccessPdf"
_SEARCH_PAGE, _MAX_RESULTS = 100, 1_000
_NEIGHBOR_PAGE = 1_000
_MAX_SERVED_NEIGHBORS = 9_999
"""References or citations that the service returns at most."""
_BATCH = 500
_NESTED_LISTS = ("references", "citations")
_NESTED_FIELDS = ",".join(
    [
        "paperId,referenceCount,citationCount",
        *(f"{kind}.{name}" for kind in _NESTED_LISTS for name in _FIELDS.split(",")),
    ]
)
_MAX_NESTED = 1_000
"""A list in a record with this many papers may be cut."""
_MAX_PREFETCHED = 3_000
"""Papers in the lists of one batch: about 7 MB, and the service sends at most 10 MB and 9,999 citations."""
_USUAL_LIST = 60
"""Assumed length of a list of unknown length."""
_MAX_RECOMMENDED = 500


class SemanticScholar(NoRecommendations):
    """Search, papers, references and citations from Semantic Scholar; see ``RemoteSource``."""

    name = NAME
    prefixes: tuple[str, ...] = ("s2:", "arxiv:", "doi:")
    has_citations = True

    def __init__(self, client: HttpClient, max_neighbors: int = MAX_NEIGHBORS) -> None:
        self._client = client
        self._max_neighbors = min(max_neighbors, _MAX_SERVED_NEIGHBORS)

    async def search(self, query: str, k: int) -> list[Paper]:
        """Papers by Semantic Scholar's relevance, at most 1,000."""
        papers: list[Paper] = []
        words = " ".join(query_words(query))
        while words and len(papers) < min(k, _MAX_RESULTS):
            page = {"query": words, "offset": str(len(papers)), "limit": str(_SEARCH_PAGE)}
            results, next_offset = await self._page(f"{_GRAPH}/paper/search", page, None)
            papers += results
            if next_offset is None or not results:
                break
        return papers[:k]

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        request = HttpRequest(f"{_GRAPH}/paper/{_quoted_id(paper_id)}", {"fields": _FIELDS})
        response = await self._client.fetch(request, parse_json_object)
        if response is None or not response.value.get("paperId"):
            return None
        return next(iter(parse_papers([response.value], raw_paper, response.day)), None)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Papers by the batch endpoint, 500 per request, which returns null for unknown ids."""
        by_id: dict[str, Paper] = {}
        for chunk in chunks(list(dict.fromkeys(ids)), _BATCH):
            service_ids = [_service_id(paper_id) for paper_id in chunk]
            request = HttpRequest(f"{_GRAPH}/paper/batch", {"fields": _FIELDS}, {"ids": service_ids})
            response = await self._client.fetch(request, parse_json_array)
            if response is None:
                continue
            for paper_id, record in zip(chunk, response.value, strict=False):
                records = [record] if isinstance(record, dict) else []
                papers = parse_papers(records, raw_paper, response.day)
                if papers:
                    by_id[paper_id] = papers[0]
        return by_id

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that a paper cites; those without an id have only a title."""
        return await self._prefetched(paper_id, "references") or await self._neighbors(
            paper_id, "references", "citedPaper"
        )

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite a paper, newest first."""
        return await self._prefetched(paper_id, "citations") or await self._neighbors(
            paper_id, "citations", "citingPaper"
        )

    async def prefetch(self, papers: Mapping[str, Paper]) -> None:
        """Fetch references and citations of papers, by id, in one request, as far as it may be complete.

        The first papers come first; those with over 1,000 citations are left out.
        """
        chosen, room = [], _MAX_PREFETCHED
        for paper_id, paper in papers.items():
            cited = _USUAL_LIST if paper.citation_count is None else paper.citation_count
            room -= (size := _USUAL_LIST + cited)
            if cited < _MAX_NESTED and room >= 0:
                chosen.append(paper_id)
            else:
                room += size
        await self._client.prefetch([_nested(paper_id) for paper_id in chosen], _batch_of, _split_batch)

    async def _prefetched(self, paper_id: str, kind: str) -> Neighbors | None:
        """A list from ``prefetch``; ``None`` if there is none or it may be cut."""
        with cache_only(), suppress(NotCached):
            response = await self._client.fetch(_nested(paper_id), parse_json_object)
            records = None if response is None else response.value.get(kind)
            if response is None or not isinstance(records, list) or len(records) >= _MAX_NESTED:
                return None
            if not records and response.value.get(f"{kind[:-1]}Count") != 0:
                return None  # left out because the batch had too many citations
            found = filter(_is_identified, map(as_map, records))
            return Neighbors(parse_papers(found, raw_paper, response.day))
        return None

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers recommended for a paper, from all of computer science (not only recent papers).

        ``None`` if the service does not know the paper.
        """
        params = {"from": "all-cs", "limit": str(min(k, _MAX_RECOMMENDED)), "fields": _FIELDS}
        path = f"{_RECOMMENDATIONS}/papers/forpaper/{_quoted_id(paper_id)}"
        response = await self._client.fetch(HttpRequest(path, params), parse_json_object)
        if response is None:
            return None
        records = [as_map(record) for record in as_list(response.value.get("recommendedPapers"))]
        return parse_papers(filter(_is_identified, records), raw_paper, response.day)[:k]

    async def disconnect(self) -> None:
        """Close connections."""
        await self._client.disconnect()

    async def _neighbors(self, paper_id: str, which: str, member: str) -> Neighbors:
        path = f"{_GRAPH}/paper/{_quoted_id(paper_id)}/{which}"
        papers: list[Paper] = []
        offset: int | None = 0
        while offset is not None:
            limit = min(_NEIGHBOR_PAGE, self._max_neighbors - offset)
            if limit < 1:
                return Neighbors(papers, truncated=True)
            page = {"offset": str(offset), "limit": str(limit)}
            results, next_offset = await self._page(path, page, member)
            papers += results
            offset = next_offset if next_offset is not None and next_offset > offset else None
        return Neighbors(papers)

    async def _page(
        self, path: str, params: dict[str, str], member: str | None
    ) -> tuple[list[Paper], int | None]:
        """The papers of one page, and the offset of the next page."""
        request = HttpRequest(path, {"fields": _FIELDS, **params})
        response = await self._client.fetch(request, parse_json_object)
        if response is None:
            return [], None
        items = [as_map(item) for item in as_list(response.value.get("data"))]
        records = [as_map(item.get(member)) for item in items] if member else items
        next_offset = response.value.get("next")
        papers = parse_papers(filter(_is_identified, records), raw_paper, response.day)
        return papers, next_offset if isinstance(next_offset, int) else None


def raw_paper(record: Any) -> RawPaper:
    """The fields of a record; any field may be null or missing, including the id."""
    record = as_map(record)
    ids = as_map(record.get("externalIds"))
    own = record.get("paperId")
    return RawPaper(
        source=NAME,
        own_id=f"s2:{own}" if isinstance(own, str) and own else None,
        title=record.get("title"),
        abstract=record.get("abstract"),
        authors=[as_map(author).get("name") for author in as_list(record.get("authors"))],
        dates=[record.get("publicationDate"), record.get("year")],
        venue=record.get("venue"),
        arxiv=ids.get("ArXiv"),
        doi=ids.get("DOI"),
        citation_count=record.get("citationCount"),
        pdf_url=as_map(record.get("openAccessPdf")).get("url"),
    )


def _is_identified(record: Mapping[str, Any]) -> bool:
    return bool(record.get("paperId") or record.get("title"))


def _nested(paper_id: str) -> HttpRequest:
    """The request for a paper with its references and citations."""
    return HttpRequest(f"{_GRAPH}/paper/{_quoted_id(paper_id)}", {"fields": _NESTED_FIELDS})


def _batch_of(requests: Sequence[HttpRequest]) -> HttpRequest:
    """Several requests for papers as one."""
    ids = [unquote(request.path.removeprefix(f"{_GRAPH}/paper/")) for request in requests]
    return HttpRequest(f"{_GRAPH}/paper/batch", dict(requests[0].params), {"ids": ids})


def _split_batch(body: bytes) -> list[bytes | None]:
    """The records of a batch, each as a body of its own."""
    return [json.dumps(record).encode() if record else None for record in parse_json_array(body)]


def _quoted_id(paper_id: str) -> str:
    return quote(_service_id(paper_id), safe=":/")


def _service_id(paper_id: str) -> str:
    """A paper id in Semantic Scholar's notation."""
    prefix, _, rest = paper_id.partition(":")
    service_ids = {"arxiv": f"ARXIV:{rest}", "doi": f"DOI:{rest}", "s2": rest}
    return service_ids.get(prefix, paper_id)
