"""Reads the permitted text of a paper: its full text, stored, supplied or downloaded, else its abstract."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from ideagora.errors import LibraryError
from ideagora.retrieval.corpus.sample_papers import SamplePapers
from ideagora.retrieval.http.open_access import OpenAccessTexts
from ideagora.retrieval.protocols import Source
from ideagora.retrieval.restrictions.visibility import Visibility
from ideagora.retrieval.retrieval_log import RetrievalLog
from ideagora.retrieval.store.fulltext import FullText, FullTextStore
from ideagora.retrieval.texts.section_selection import READER_TOKENS, select_sections
from ideagora.schema import Paper

TextKind = Literal["full text", "abstract", "title"]


@dataclass(frozen=True)
class FullTexts:
    """Where full texts come from."""

    stored: FullTextStore | None = None
    open_access: OpenAccessTexts | None = None
    """PDFs to download; ``None``: nothing is downloaded."""
    supplied: SamplePapers | None = None
    """The papers of a benchmark's sample, whose texts take precedence."""

    def get(self, paper_id: str) -> FullText | None:
        """The supplied or stored full text of a paper; ``None`` if there is none."""
        full_text = self.supplied.get(paper_id) if self.supplied else None
        return full_text or (self.stored.get(paper_id) if self.stored else None)


class TextReader:
    """Reads texts of a source's papers, as far as they may be shown."""

    def __init__(self, source: Source, texts: FullTexts, visibility: Visibility, log: RetrievalLog) -> None:
        self._source = source
        self._texts = texts
        self._visibility = visibility
        self._log = log

    async def read(self, paper: Paper, tokens: int) -> tuple[str, TextKind]:
        """As ``text``, but downloads the open-access PDF of a paper without stored full text."""
        text, kind = await self.text(paper, tokens)
        if kind == "full text" or self._texts.open_access is None:
            return text, kind
        full_text = await self._download(self._texts.open_access, paper, tokens)
        return (full_text, "full text") if full_text else (text, kind)

    async def text(self, paper: Paper, tokens: int) -> tuple[str, TextKind]:
        """The longest available text of a paper, and its kind.

        Raises:
            LibraryError: the paper is withheld.
        """
        if not await self._visibility.allows(paper):
            raise LibraryError(
                f"paper {paper.id} is withheld for this topic. Use a paper returned by the library."
            )
        full_text = await self._stored(paper, tokens)
        if full_text:
            return full_text, "full text"
        record = paper if paper.abstract else await self._source.paper(paper.id)
        if record and record.abstract:
            return record.abstract, "abstract"
        return paper.title, "title"

    async def prefetch(self, paper: Paper) -> None:
        """Download the PDF of a paper, unless its text is stored."""
        downloads = self._texts.open_access
        if downloads and not await self._stored(paper, READER_TOKENS):
            await downloads.read(paper, first_version=self._needs_first_version)

    async def _stored(self, paper: Paper, tokens: int) -> str:
        """The permitted part of a paper's stored full text; empty if there is none."""
        full_text = await asyncio.to_thread(self._texts.get, paper.id)
        return self._permitted(paper, full_text, tokens) if full_text else ""

    async def _download(self, downloads: OpenAccessTexts, paper: Paper, tokens: int) -> str:
        """The permitted part of a paper's PDF; empty, with a note, if none can be downloaded."""
        fetched, reasons = await downloads.read(paper, first_version=self._needs_first_version)
        if fetched is None:
            if reasons:
                self._log.note("no full text", paper.title, "; ".join(reasons))
            return ""
        is_allowed = self._visibility.allows_pdf(paper, fetched.paper)
        return self._permitted(paper, fetched.text, tokens) if is_allowed else ""

    def _permitted(self, paper: Paper, full_text: FullText, tokens: int) -> str:
        return select_sections(self._visibility.permitted_sections(paper, full_text), tokens)

    @property
    def _needs_first_version(self) -> bool:
        """Whether only the first version of a paper is certainly older than the cut-off."""
        return self._visibility.filter.cutoff is not None
