"""Full texts of open-access papers, downloaded, parsed and cached by link."""

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
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.http.pdf_download import LinkRefused, PdfDownloader
from ideagora.retrieval.ingest.documents import Document, ReadResult
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_in_subprocess
from ideagora.retrieval.ingest.read_file import READERS_VERSION
from ideagora.retrieval.store.fulltext import FullText
from ideagora.schema import Paper

_OK, _REFUSED = 200, 422


class FetchedText(NamedTuple):
    """The text at a link, and the paper that the PDF identifies itself as."""

    text: FullText
    paper: Paper
    link: str


class OpenAccessTexts:
    """Reads open-access PDFs from the links of papers.

    Texts and permanent failures are cached as long as responses of services.

    Args:
        arxiv: base URL of arXiv's PDFs.
    """

    def __init__(self, downloads: PdfDownloader, cache: HttpCache, arxiv: str, clock: Clock) -> None:
        self._downloads = downloads
        self._cache = cache
        self._arxiv = arxiv
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def links(self, paper: Paper, first_version: bool) -> list[str]:
        """Links to the PDF, best first.

        Args:
            first_version: link to arXiv's first version, whose text is as old as the paper's date.
        """
        arxiv_id = paper.arxiv_id or parse_arxiv_id(paper.pdf_url)
        version = "v1" if first_version else ""
        links = [f"{self._arxiv}/pdf/{arxiv_id}{version}"] if arxiv_id else []
        return links if parse_arxiv_id(paper.pdf_url) or not paper.pdf_url else [*links, paper.pdf_url]

    async def read(self, paper: Paper, first_version: bool) -> tuple[FetchedText | None, list[str]]:
        """The text of a paper, if available, and the reasons why earlier links failed."""
        reasons: list[str] = []
        for link in self.links(paper, first_version):
            try:
                return await self._read_link(link, paper), reasons
            except LinkRefused as error:
                reasons.append(str(error))
        return None, reasons

    async def _read_link(self, link: str, paper: Paper) -> FetchedText:
        """The text at a link; concurrent calls download it once."""
        lock = self._locks.setdefault(link, asyncio.Lock())
        async with lock:
            key = hashlib.sha256(f"pdf\x1f{READERS_VERSION}\x1f{link}".encode()).hexdigest()
            cached = await asyncio.to_thread(self._cache.get, key)
            if cached is None and self._cache.replay:
                raise LinkRefused("not downloaded in the original run (--replay)", permanent=False)
            if cached is None:
                cached = await self._fetch(link)
                await asyncio.to_thread(self._cache.put, key, cached)
        if cached.status == _REFUSED:
            raise LinkRefused(cached.body.decode())
        fields = json.loads(cached.body)
        text, source = FullText.model_validate(fields["text"]), Paper.model_validate(fields["paper"])
        if paper.arxiv_id and source.arxiv_id and paper.arxiv_id != source.arxiv_id:
            raise LinkRefused(f"it is another paper (arXiv:{source.arxiv_id})")
        return FetchedText(text, source, link)

    async def _fetch(self, link: str) -> CachedHttpResponse:
        """The text or permanent failure of a link, as a response to be cached.

        Raises:
            LinkRefused: the failure is temporary.
        """
        try:
            status, body = _OK, _serialize(await self._download(link))
        except LinkRefused as error:
            if not error.permanent:
                raise
            status, body = _REFUSED, str(error).encode()
        return CachedHttpResponse(status, body, self._clock.now().date().isoformat())

    async def _download(self, link: str) -> ReadResult:
        with tempfile.TemporaryDirectory(prefix="ideagora-pdf-") as folder:
            path = Path(folder) / "paper.pdf"
            await self._downloads.fetch(link, path)
            return await asyncio.to_thread(read_in_subprocess, path)


def _serialize(result: ReadResult) -> bytes:
    if not isinstance(result, Document) or result.full_text is None:
        raise LinkRefused("it has no text" if isinstance(result, Document) else result.what)
    fields = {
        "text": result.full_text.model_dump(mode="json"),
        "paper": result.paper.model_dump(mode="json"),
    }
    return json.dumps(fields).encode()
