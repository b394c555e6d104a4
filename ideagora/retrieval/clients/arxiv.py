"""arXiv's search API (Atom).

Not through the package ``arxiv`` (4.0): it sleeps in the calling thread, knows no Retry-After, and
mends XML that was cut off, so that half an answer looks like a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ideagora.errors import SourceRejected
from ideagora.retrieval.clients.normalize import arxiv_of, chunks, line, paper_of, papers_from, query_words
from ideagora.retrieval.http.client import HttpClient, HttpRequest
from ideagora.retrieval.protocols import Neighbors, NoRecommendations
from ideagora.schema import Paper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAME = "arxiv"
URL = "https://export.arxiv.org"
INTERVAL = 3.0
"""Seconds between requests, and one at a time: arXiv's terms of use."""

_PATH = "/api/query"
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_SEARCH_PAGE, _SEARCH_MOST = 100, 1_000
_BATCH = 100
_MOST_TAGS = 500_000
"""Of a feed with 100 entries; each takes some 100 bytes of memory."""


class Arxiv(NoRecommendations):
    """Search and papers of arXiv, which knows neither references nor citations; see ``RemoteSource``."""

    name = NAME
    prefixes: tuple[str, ...] = ("arxiv:",)
    has_citations = False

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    async def search(self, query: str, k: int) -> list[Paper]:
        """Papers by the service's relevance, which prefers those that have more of the words."""
        terms = " OR ".join(f"all:{word}" for word in query_words(query))
        papers: list[Paper] = []
        while terms and len(papers) < min(k, _SEARCH_MOST):
            page = {"search_query": terms, "start": str(len(papers)), "max_results": str(_SEARCH_PAGE)}
            found = await self._entries({**page, "sortBy": "relevance", "sortOrder": "descending"})
            papers += found
            if len(found) < _SEARCH_PAGE:
                break
        return papers[:k]

    async def paper(self, paper_id: str) -> Paper | None:
        """One paper."""
        return (await self.batch([paper_id])).get(paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Papers by a list of ids, 100 a request."""
        asked = {name: one for one in ids if (name := arxiv_of(one))}
        found: dict[str, Paper] = {}
        for some in chunks(list(asked), _BATCH):
            papers = await self._entries({"id_list": ",".join(some), "max_results": str(len(some))})
            found |= {asked[one.arxiv_id]: one for one in papers if one.arxiv_id and one.arxiv_id in asked}
        return found

    async def references(self, paper_id: str) -> Neighbors:
        """None: arXiv doesn't tell."""
        return Neighbors([])

    async def citations(self, paper_id: str) -> Neighbors:
        """None: arXiv doesn't tell."""
        return Neighbors([])

    async def disconnect(self) -> None:
        """Close connections."""
        await self._client.disconnect()

    async def _entries(self, params: dict[str, str]) -> list[Paper]:
        answer = await self._client.ask(HttpRequest(_PATH, params), parsed)
        if answer is None:
            return []
        entries = answer.value.findall(f"{_ATOM}entry")
        for entry in entries:
            if "/api/errors" in (_text(entry, f"{_ATOM}id") or ""):
                detail = _text(entry, f"{_ATOM}summary") or "unknown error"
                raise SourceRejected(f"{NAME} refused the question ({detail[:200]}). Reword the topic.")
        return papers_from((one for one in entries if _text(one, f"{_ATOM}title")), paper_from, answer.day)


def parsed(body: bytes) -> Element:
    """The feed's root, read without entities, DTDs and outside references.

    Raises:
        ValueError: it is cut off, no feed, or made to do harm.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring

    if body.count(b"<") > _MOST_TAGS:
        raise ValueError(f"it has {body.count(b'<'):,} tags, more than {_MOST_TAGS:,} are not read")
    try:
        root: Element = fromstring(body, forbid_dtd=True)
    except (ParseError, LookupError) as error:  # the latter of an encoding that does not exist
        raise ValueError(f"no XML ({error})") from None
    if root.tag != f"{_ATOM}feed":
        raise ValueError(f"no Atom feed but {root.tag[:60]!r}")
    return root


def paper_from(entry: Element, day: str) -> Paper:
    """An entry of the feed; the date is that of the first version."""
    return paper_of(
        source=NAME,
        day=day,
        own_id=None,
        title=_text(entry, f"{_ATOM}title"),
        abstract=_text(entry, f"{_ATOM}summary"),
        authors=[_text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author")],
        dated=[_text(entry, f"{_ATOM}published"), _text(entry, f"{_ATOM}updated")],
        venue=_text(entry, f"{_ARXIV}journal_ref"),
        arxiv=_text(entry, f"{_ATOM}id"),
        doi=_text(entry, f"{_ARXIV}doi"),
    )


def _text(entry: Element, path: str) -> str | None:
    return line(entry.findtext(path))
