"""Reader for PDF files, based on pypdf (pure Python, BSD licence, actively maintained).

Since files come from untrusted sources, their size, pages, characters and reading time are limited.
"""

from __future__ import annotations

import re
import signal
import struct
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from ideagora.retrieval.ingest.bibliographic import BibliographicFields, clean_line, make_paper, partial_date
from ideagora.retrieval.ingest.documents import Document, Problem, ReadResult
from ideagora.retrieval.ingest.formats.pdf_layout import (
    Page,
    TextRun,
    extract_abstract,
    extract_references,
    extract_sections,
    extract_title,
)
from ideagora.retrieval.ingest.identifiers import arxiv_month, find_arxiv_id, find_doi, find_identifiers
from ideagora.retrieval.ingest.quiet_logger import quiet_logger
from ideagora.retrieval.store.fulltext import FullText
from ideagora.retrieval.untrusted_json import clean_text
from ideagora.schema import Paper

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_BYTES = 200_000_000
"""Bytes."""
MAX_PAGES = 100
MAX_SECONDS = 120.0
_MAX_CHARACTERS = 2_000_000
_MIN_CHARACTERS = 200
"""Below this, the file is taken for a scan, which may have a stamp or a watermark as text."""
_STAMP = re.compile(r"arXiv:\s*+\S{1,60}+\s++\[[\w.-]{1,60}+\]\s++(\d{1,2}) ([A-Z][a-z]{2}) (\d{4})")
_INTRODUCTION = re.compile(r"(?im)^[^\S\n]*+(?:1\.?\s++)?introduction\b")
_LAST_PAGES = 6
_PYPDF_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError,
    OSError, RecursionError, TypeError, ValueError, struct.error, zlib.error,
)  # fmt: skip
"""Errors that pypdf raises for damaged files, besides its own."""


class _TimeLimitExceeded(BaseException):
    """Not an ``Exception``, since pypdf swallows those in places."""


class _PdfContent(NamedTuple):
    pages: list[Page]
    number: int
    information: dict[str, str]


def read_pdf(path: str, file_path: Path) -> Iterator[ReadResult]:
    """The paper in a PDF file, or the problem with it; ``path`` is its name in problems."""
    size = file_path.stat().st_size
    if size > MAX_BYTES:
        what = f"its {size / 1e6:,.0f} MB exceed the limit of {MAX_BYTES / 1e6:,.0f} MB"
        yield Problem(path=path, what=what, step="Add a smaller version, or a BibTeX entry for it.")
        return
    try:
        with quiet_logger("pypdf"), _time_limit(MAX_SECONDS):
            content = _read(path, file_path)
    except _TimeLimitExceeded:
        what = f"reading it takes longer than {MAX_SECONDS:g} s"
        yield Problem(path=path, what=what, step="Print it to a new PDF and add that.")
        return
    yield content if isinstance(content, Problem) else _to_result(path, content)


def _read(path: str, file_path: Path) -> _PdfContent | Problem:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    damaged = Problem(
        path=path, what="the PDF is damaged", step="Download it again, or print it to a new PDF."
    )
    try:
        with file_path.open("rb") as file:
            reader = PdfReader(file, strict=False)
            if reader.is_encrypted and not reader.decrypt(""):
                step = "Save it without the password and add that."
                return Problem(path=path, what="it is password-protected", step=step)
            return _PdfContent(_pages(reader), len(reader.pages), _information(reader))
    except DependencyError:
        step = "Run: pip install cryptography; then add the file again."
        return Problem(path=path, what="reading its encryption requires the package cryptography", step=step)
    except (PyPdfError, *_PYPDF_ERRORS) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        return damaged.model_copy(update={"what": f"the PDF is damaged ({reason})"})


def _pages(reader: PdfReader) -> list[Page]:
    """The first pages, and the last ones of a longer document, where the references are."""
    number = len(reader.pages)
    wanted = list(range(min(number, MAX_PAGES)))
    wanted += range(max(len(wanted), number - _LAST_PAGES), number)
    pages: list[Page] = []
    characters = 0
    for place in wanted:
        page = _page(reader, place)
        pages.append(page)
        characters += len(page.text)
        if characters > _MAX_CHARACTERS:
            break
    return pages


def _page(reader: PdfReader, place: int) -> Page:
    """One page; ``failed`` is set if it cannot be read."""
    from pypdf.errors import PyPdfError

    runs: list[TextRun] = []
    try:
        page = reader.pages[place]
        visit = _run_collector(runs) if place == 0 else None
        text = page.extract_text(visitor_text=visit) if visit else _text(page)
    except (PyPdfError, *_PYPDF_ERRORS):
        return Page(place + 1, "", (), failed=True)
    return Page(place + 1, clean_text(text), tuple(runs))


def _text(page: PageObject) -> str:
    return page.extract_text()


def _run_collector(runs: list[TextRun]) -> Any:
    """A visitor that collects pieces of upright text with their font size on the page."""

    def visit(text: str, user: list[float], matrix: list[float], font: Any, size: float) -> None:
        is_upright = abs(matrix[1]) < 1e-3 and abs(user[1]) < 1e-3  # arXiv's stamp runs up the margin
        if is_upright and text.strip():
            runs.append(TextRun(clean_text(text), abs(size * matrix[3] * user[3])))

    return visit


def _information(reader: PdfReader) -> dict[str, str]:
    """Title, subject, keywords and day from the file's metadata, as far as they can be read."""
    metadata: Mapping[str, Any] = reader.metadata or {}
    information = {
        name: clean_text(str(metadata[f"/{name}"]))
        for name in ("Title", "Subject", "Keywords")
        if f"/{name}" in metadata
    }
    day = re.match(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?", str(metadata.get("/CreationDate", ""))[:40])
    if day:
        information["Day"] = partial_date(day[1], day[2] or "", day[3] or "") or ""
    return information


def _to_result(path: str, content: _PdfContent) -> ReadResult:
    text = "\n".join(page.text for page in content.pages)
    if len("".join(text.split())) < _MIN_CHARACTERS:
        if content.number and all(page.failed for page in content.pages):
            return Problem(path=path, what="none of its pages can be read", step="Print it to a new PDF.")
        what = "it has no text: its pages are images (a scan)"
        return Problem(path=path, what=what, step="Run OCR on it (for example ocrmypdf) and add the result.")
    title = extract_title(content.pages[0], content.information.get("Title", ""))
    if not title:
        step = "Add a BibTeX entry with its title instead."
        return Problem(path=path, place="page 1", what="no title could be found", step=step)
    return Document(
        paper=_paper(title, content, text),
        full_text=FullText(sections=tuple(extract_sections(text)), as_of=_version_day(content)),
        cited=extract_references(text),
        note=_note(content),
    )


def _paper(title: str, content: _PdfContent, text: str) -> Paper:
    """The record, dated by the arXiv id's month or else by the file, since the text is not newer."""
    first = content.pages[0].text
    before_abstract = _INTRODUCTION.split(first, maxsplit=1)[0]
    about = " ".join(content.information.get(name, "") for name in ("Subject", "Keywords"))
    ids = find_identifiers(find_doi(about) or find_doi(before_abstract), find_arxiv_id(_arxiv_stamp(first)))
    day = arxiv_month(ids.arxiv_id) if ids.arxiv_id else content.information.get("Day")
    abstract = extract_abstract(text) or ""
    return make_paper(BibliographicFields(title, ids, abstract, day=day or None), "pdf")


def _arxiv_stamp(first: str) -> str:
    """The arXiv stamp on page 1, whose id is the paper's own and not that of a cited paper."""
    stamp = _STAMP.search(clean_line(first))
    return stamp[0] if stamp else ""


def _version_day(content: _PdfContent) -> str | None:
    stamp = _STAMP.search(clean_line(content.pages[0].text))
    day = partial_date(stamp[3], stamp[2], stamp[1]) if stamp else None
    return day or content.information.get("Day") or None


def _note(content: _PdfContent) -> str | None:
    notes = []
    if content.number > len(content.pages):
        first = min(MAX_PAGES, len(content.pages))
        notes.append(f"only the first {first} and the last of its {content.number} pages were read")
    failed = [str(page.number) for page in content.pages if page.failed]
    if failed:
        notes.append(f"page {', '.join(failed)} could not be read")
    return "; ".join(notes) or None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise ``_TimeLimitExceeded`` after some seconds; has no effect outside the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeLimitExceeded

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
