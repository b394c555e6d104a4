"""Semantic Scholar's Academic Graph API.

Not through the package ``semanticscholar`` (0.12): it opens a connection of its own for every request
with no place for a limiter, a cache or Retry-After; reads 502 and 503 as an empty answer, so a service
that is down looks like one that found nothing; puts queries into the URL unescaped; sets up the root
logger; and writes the key into debug logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ideagora.retrieval.clients.normalize import (
    as_list,
    as_map,
    chunks,
    json_array,
    json_object,
    paper_of,
    papers_from,
    query_words,
)
from ideagora.retrieval.http.client import HttpClient, HttpRequest
from ideagora.retrieval.protocols import MAX_NEIGHBORS, Neighbors, NoRecommendations
from ideagora.schema import Paper

NAME = "semantic-scholar"
URL = "https://api.semanticscholar.org"
KEYS = ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY")
INTERVAL = 1.0
"""Seconds between requests: what the service allows without a key, and with a new key as well."""

_GRAPH = "/graph/v1"
_RECOMMENDATIONS = "/recommendations/v1"
_FIELDS = "paperId,externalIds,title,abstract,year,publicationDate,venue,authors,citationCount,openAccessPdf"
_SEARCH_PAGE, _SEARCH_MOST = 100, 1_000
_NEIGHBOUR_PAGE = 1_000
_NEIGHBOUR_MOST = 9_999
"""The service serves no neighbours beyond that."""
_BATCH = 500
_RECOMMENDED_MOST = 500


class SemanticScholar(NoRecommendations):
    """Search, papers, references and citations of Semantic Scholar; see ``RemoteSource``."""

    name = NAME
    prefixes: tuple[str, ...] = ("s2:", "arxiv:", "doi:")
    has_citations = True

    def __init__(self, client: HttpClient, max_neighbors: int = MAX_NEIGHBORS) -> None:
        self._client = client
        self._most = min(max_neighbors, _NEIGHBOUR_MOST)

    async def search(self, query: str, k: int) -> list[Paper]:
        """Papers by the service's relevance; at most 1,000."""
        papers: list[Paper] = []
        words = " ".join(query_words(query))
        while words and len(papers) < min(k, _SEARCH_MOST):
            page = {"query": words, "offset": str(len(papers)), "limit": str(_SEARCH_PAGE)}
            found, following = await self._page(f"{_GRAPH}/paper/search", page, None)
            papers += found
            if following is None or not found:
                break
        return papers[:k]

    async def paper(self, paper_id: str) -> Paper | None:
        """One paper."""
        question = HttpRequest(f"{_GRAPH}/paper/{_name(paper_id)}", {"fields": _FIELDS})
        answer = await self._client.ask(question, json_object)
        told = [answer.value] if answer and answer.value.get("paperId") else []
        return next(iter(papers_from(told, paper_from, answer.day if answer else "")), None)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Papers by the service's batch call, 500 a request; ids that it does not know come back as null."""
        found: dict[str, Paper] = {}
        for some in chunks(list(dict.fromkeys(ids)), _BATCH):
            names = [_plain_name(paper_id) for paper_id in some]
            question = HttpRequest(f"{_GRAPH}/paper/batch", {"fields": _FIELDS}, {"ids": names})
            answer = await self._client.ask(question, json_array)
            if answer:
                pairs = zip(some, answer.value, strict=False)
                for name, one in pairs:
                    papers = papers_from([one] if isinstance(one, dict) else [], paper_from, answer.day)
                    if papers:
                        found[name] = papers[0]
        return found

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that one cites; some have no id, and then only a title."""
        return await self._neighbours(paper_id, "references", "citedPaper")

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite one, newest first."""
        return await self._neighbours(paper_id, "citations", "citingPaper")

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers that the service's recommendations name for one, among all of computer science.

        ``None`` when it doesn't know the paper. Its other pool is that of papers of the last months.
        """
        params = {"from": "all-cs", "limit": str(min(k, _RECOMMENDED_MOST)), "fields": _FIELDS}
        path = f"{_RECOMMENDATIONS}/papers/forpaper/{_name(paper_id)}"
        answer = await self._client.ask(HttpRequest(path, params), json_object)
        if answer is None:
            return None
        records = [as_map(one) for one in as_list(answer.value.get("recommendedPapers"))]
        told = [one for one in records if one.get("paperId") or one.get("title")]
        return papers_from(told, paper_from, answer.day)[:k]

    async def disconnect(self) -> None:
        """Close connections."""
        await self._client.disconnect()

    async def _neighbours(self, paper_id: str, which: str, member: str) -> Neighbors:
        path = f"{_GRAPH}/paper/{_name(paper_id)}/{which}"
        papers: list[Paper] = []
        offset: int | None = 0
        while offset is not None:
            limit = min(_NEIGHBOUR_PAGE, self._most - offset)
            if limit < 1:
                return Neighbors(papers, cut=True)
            found, following = await self._page(path, {"offset": str(offset), "limit": str(limit)}, member)
            papers += found
            offset = following if following is not None and following > offset else None
        return Neighbors(papers)

    async def _page(
        self, path: str, params: dict[str, str], member: str | None
    ) -> tuple[list[Paper], int | None]:
        """The papers of one page, and where the next one begins."""
        answer = await self._client.ask(HttpRequest(path, {"fields": _FIELDS, **params}), json_object)
        if answer is None:
            return [], None
        items = [as_map(one) for one in as_list(answer.value.get("data"))]
        records = [as_map(one.get(member)) for one in items] if member else items
        following = answer.value.get("next")
        told = [one for one in records if one.get("paperId") or one.get("title")]
        papers = papers_from(told, paper_from, answer.day)
        return papers, following if isinstance(following, int) else None


def paper_from(record: Any, day: str) -> Paper:
    """A paper as the service writes it; any field may be null or missing, the id included."""
    record = as_map(record)
    ids = as_map(record.get("externalIds"))
    own = record.get("paperId")
    return paper_of(
        source=NAME,
        day=day,
        own_id=f"s2:{own}" if isinstance(own, str) and own else None,
        title=record.get("title"),
        abstract=record.get("abstract"),
        authors=[as_map(author).get("name") for author in as_list(record.get("authors"))],
        dated=[record.get("publicationDate"), record.get("year")],
        venue=record.get("venue"),
        arxiv=ids.get("ArXiv"),
        doi=ids.get("DOI"),
        cited=record.get("citationCount"),
        pdf=as_map(record.get("openAccessPdf")).get("url"),
    )


def _name(paper_id: str) -> str:
    return quote(_plain_name(paper_id), safe=":/")


def _plain_name(paper_id: str) -> str:
    """An id as the service writes it."""
    prefix, _, rest = paper_id.partition(":")
    written = {"arxiv": f"ARXIV:{rest}", "doi": f"DOI:{rest}", "s2": rest}
    return written.get(prefix, paper_id)
