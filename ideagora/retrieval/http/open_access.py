"""Full texts of papers that anybody may read: fetched, read, and kept by their link."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from ideagora.retrieval.clients.normalize import parse_arxiv_id
from ideagora.retrieval.http.cache import CachedHttpResponse, HttpCache
from ideagora.retrieval.http.client import Clock
from ideagora.retrieval.http.pdf_download import LinkRefused, PdfDownloader
from ideagora.retrieval.ingest.documents import Document, ReadResult
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_in_subprocess
from ideagora.retrieval.ingest.read_file import READERS_VERSION
from ideagora.retrieval.store.fulltext import FullText
from ideagora.schema import Paper

_HAD, _REFUSED = 200, 422


class FetchedText(NamedTuple):
    """The text behind a link, and the paper that the PDF itself says it is."""

    text: FullText
    paper: Paper
    link: str


class OpenAccessTexts:
    """Reads PDFs from the links of papers.

    What was read, and what was refused for good, is kept as long as answers of services are.

    Args:
        arxiv: address under which arXiv's PDFs stand.
    """

    def __init__(self, downloads: PdfDownloader, cache: HttpCache, arxiv: str, time: Clock) -> None:
        self._downloads = downloads
        self._cache = cache
        self._arxiv = arxiv
        self._time = time
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def links(self, paper: Paper, first_version: bool) -> list[str]:
        """Where the PDF may be had, the best place first.

        Args:
            first_version: of arXiv's versions the first one, whose text is as old as the paper's date.
        """
        known = paper.arxiv_id or parse_arxiv_id(paper.pdf_url)
        version = "v1" if first_version else ""
        links = [f"{self._arxiv}/pdf/{known}{version}"] if known else []
        return links if parse_arxiv_id(paper.pdf_url) or not paper.pdf_url else [*links, paper.pdf_url]

    async def read(self, paper: Paper, first_version: bool) -> tuple[FetchedText | None, list[str]]:
        """The text of a paper, and why it could not be had from the links that were tried before."""
        reasons: list[str] = []
        for link in self.links(paper, first_version):
            try:
                return await self._at(link, paper), reasons
            except LinkRefused as error:
                reasons.append(str(error))
        return None, reasons

    async def _at(self, link: str, paper: Paper) -> FetchedText:
        """The text behind a link; two branches that want it at once fetch it once."""
        lock = self._reading.setdefault(link, asyncio.Lock())
        async with lock:
            key = hashlib.sha256(f"pdf\x1f{READERS_VERSION}\x1f{link}".encode()).hexdigest()
            kept = await asyncio.to_thread(self._cache.get, key)
            if kept is None and self._cache.replay:
                raise LinkRefused("it was not read when this run was made (--replay)", permanent=False)
            if kept is None:
                kept = await self._asked(link)
                await asyncio.to_thread(self._cache.put, key, kept)
        if kept.status == _REFUSED:
            raise LinkRefused(kept.body.decode())
        told = json.loads(kept.body)
        found = FetchedText(FullText.model_validate(told["text"]), Paper.model_validate(told["paper"]), link)
        if paper.arxiv_id and found.paper.arxiv_id and paper.arxiv_id != found.paper.arxiv_id:
            raise LinkRefused(f"it is another paper (arXiv:{found.paper.arxiv_id})")
        return found

    async def _asked(self, link: str) -> CachedHttpResponse:
        """What came of a link, to be kept.

        Raises:
            Refused: this time; another time may be better.
        """
        try:
            status, body = _HAD, _body(await self._found(link))
        except LinkRefused as error:
            if not error.permanent:
                raise
            status, body = _REFUSED, str(error).encode()
        return CachedHttpResponse(status, body, self._time.now().date().isoformat())

    async def _found(self, link: str) -> ReadResult:
        with tempfile.TemporaryDirectory(prefix="ideagora-pdf-") as folder:
            path = Path(folder) / "paper.pdf"
            await self._downloads.fetch(link, path)
            return await asyncio.to_thread(read_in_subprocess, path)


def _body(found: ReadResult) -> bytes:
    if not isinstance(found, Document) or found.full_text is None:
        raise LinkRefused("it has no text" if isinstance(found, Document) else found.what)
    told = {"text": found.full_text.model_dump(mode="json"), "paper": found.paper.model_dump(mode="json")}
    return json.dumps(told).encode()
