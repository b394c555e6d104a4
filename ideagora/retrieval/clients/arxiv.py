"""arXiv's search API (Atom).

The package ``arxiv`` (4.0) is not used: it sleeps in the calling thread, ignores Retry-After, and
repairs truncated XML, so that half a response looks complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ideagora.errors import SourceRejected
from ideagora.retrieval.clients.normalize import (
    RawPaper,
    chunks,
    parse_arxiv_id,
    parse_papers,
    query_words,
    single_line,
)
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.service import HttpRequest
from ideagora.retrieval.protocols import Neighbors, NoRecommendations
from ideagora.schema import Paper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAME = "arxiv"
URL = "https://export.arxiv.org"
INTERVAL = 3.0
"""Seconds between requests, one at a time, as arXiv's terms of use demand."""
PDF_INTERVAL = 0.5
"""Seconds between PDFs; arXiv's page on bulk data allows four in a second, then a pause of a second."""

_PATH = "/api/query"
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_SEARCH_PAGE, _MAX_RESULTS = 100, 1_000
_BATCH = 100
_MAX_TAGS = 500_000
"""For a feed of 100 entries; each tag takes some 100 bytes of memory."""


class Arxiv(NoRecommendations):
    """Search and papers from arXiv, which has neither references nor citations; see ``RemoteSource``."""

    name = NAME
    prefixes: tuple[str, ...] = ("arxiv:",)
    has_citations = False

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    async def search(self, query: str, k: int) -> list[Paper]:
        """Papers by arXiv's relevance, which favors papers with more of the words."""
        terms = " OR ".join(f"all:{word}" for word in query_words(query))
        papers: list[Paper] = []
        while terms and len(papers) < min(k, _MAX_RESULTS):
            page = {"search_query": terms, "start": str(len(papers)), "max_results": str(_SEARCH_PAGE)}
            results = await self._entries({**page, "sortBy": "relevance", "sortOrder": "descending"})
            papers += results
            if len(results) < _SEARCH_PAGE:
                break
        return papers[:k]

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return (await self.batch([paper_id])).get(paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Papers by a list of ids, 100 per request."""
        paper_ids = {arxiv_id: paper_id for paper_id in ids if (arxiv_id := parse_arxiv_id(paper_id))}
        by_id: dict[str, Paper] = {}
        for chunk in chunks(list(paper_ids), _BATCH):
            papers = await self._entries({"id_list": ",".join(chunk), "max_results": str(len(chunk))})
            by_id |= {paper_ids[paper.arxiv_id]: paper for paper in papers if paper.arxiv_id in paper_ids}
        return by_id

    async def references(self, paper_id: str) -> Neighbors:
        """Empty: arXiv does not provide them."""
        return Neighbors([])

    async def citations(self, paper_id: str) -> Neighbors:
        """Empty: arXiv does not provide them."""
        return Neighbors([])

    async def disconnect(self) -> None:
        """Close connections."""
        await self._client.disconnect()

    async def _entries(self, params: dict[str, str]) -> list[Paper]:
        response = await self._client.fetch(HttpRequest(_PATH, params), parse_feed)
        if response is None:
            return []
        entries = response.value.findall(f"{_ATOM}entry")
        for entry in entries:
            if "/api/errors" in (_text(entry, f"{_ATOM}id") or ""):
                detail = _text(entry, f"{_ATOM}summary") or "unknown error"
                raise SourceRejected(f"{NAME} rejected the query ({detail[:200]}). Reword the topic.")
        return parse_papers(
            (entry for entry in entries if _text(entry, f"{_ATOM}title")), raw_paper, response.day
        )


def parse_feed(body: bytes) -> Element:
    """The root element of an Atom feed, parsed without entities, DTDs and external references.

    Raises:
        ValueError: the body is truncated, malicious or not a feed.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring

    if body.count(b"<") > _MAX_TAGS:
        raise ValueError(f"it has {body.count(b'<'):,} tags; the limit is {_MAX_TAGS:,}")
    try:
        root: Element = fromstring(body, forbid_dtd=True)
    except (ParseError, LookupError) as error:  # LookupError: unknown encoding
        raise ValueError(f"not valid XML ({error})") from None
    if root.tag != f"{_ATOM}feed":
        raise ValueError(f"not an Atom feed but {root.tag[:60]!r}")
    return root


def raw_paper(entry: Element) -> RawPaper:
    """The fields of a feed entry, dated by its first version."""
    return RawPaper(
        source=NAME,
        own_id=None,
        title=_text(entry, f"{_ATOM}title"),
        abstract=_text(entry, f"{_ATOM}summary"),
        authors=[_text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author")],
        dates=[_text(entry, f"{_ATOM}published"), _text(entry, f"{_ATOM}updated")],
        venue=_text(entry, f"{_ARXIV}journal_ref"),
        arxiv=_text(entry, f"{_ATOM}id"),
        doi=_text(entry, f"{_ARXIV}doi"),
    )


def _text(entry: Element, path: str) -> str | None:
    return single_line(entry.findtext(path))
