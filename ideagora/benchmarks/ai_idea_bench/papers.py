"""The papers of a sample, read from the data set's PDFs: one sample at a time, each PDF in a subprocess.

PDFs are in the folder ``papers_data``, or in the published archive ``Idea_bench_data.zip``, from which only
the requested ones are extracted. What cannot be read is a problem of its row, and the paper is then known by
its title only.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from pydantic import ValidationError

from ideagora.benchmarks.ai_idea_bench.samples import PUBLISHED_FILE, Inspiration, Sample
from ideagora.importing.records import Problem
from ideagora.models.redact import one_line
from ideagora.retrieval.corpus.sample_papers import SuppliedText
from ideagora.retrieval.ingest.documents import Document
from ideagora.retrieval.ingest.formats.pdf import MAX_BYTES
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_in_subprocess
from ideagora.retrieval.ingest.identifiers import Identifiers, make_paper_id
from ideagora.retrieval.ingest.read_file import READERS_VERSION
from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.schema import Paper, stable_id

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.store.fulltext import FullText

ARCHIVE = "Idea_bench_data.zip"
PAPERS_FOLDER = "papers_data"
SOURCE = "ai-idea-bench"
_ROOTS = ("", "Idea_bench_data/")
"""Where ``papers_data`` is, in the data folder or in the archive."""


class PaperUnreadable(Exception):
    """A PDF cannot be read; the message says why, without a full stop."""


@dataclass(frozen=True)
class InspirationPapers:
    """The inspiration papers of a sample, in its order, and what could not be read."""

    documents: tuple[Document, ...]
    """Records, with full texts and reference lists as far as there were PDFs."""
    problems: tuple[Problem, ...]
    texts: Mapping[str, SuppliedText] = field(default_factory=dict)
    """The full texts of the PDFs by paper id, to be read again when they are needed."""

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The records."""
        return tuple(document.paper for document in self.documents)


async def inspiration_papers(
    sample: Sample, data: Path, library: Library | None = None, cache: Path | None = None
) -> InspirationPapers:
    """The inspiration papers of a sample: from the library, its PDFs, or else by title only.

    Args:
        sample: the sample.
        data: the data folder, or the file of targets in it.
        library: looked up first, for inspirations with an id; it must not hide any.
        cache: folder for what is read, so that no PDF is read twice.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    texts: dict[str, SuppliedText] = {}
    for number, inspiration in enumerate(sample.inspirations, 1):
        known = await library.paper(inspiration.paper_id) if library and inspiration.paper_id else None
        if known is not None:
            documents.append(Document(paper=known))
            continue
        try:
            document = await _document(inspiration, data, cache)
            documents.append(document)
            if inspiration.pdf is not None and (text := document.full_text) is not None:
                read = partial(_full_text, inspiration.pdf, data, cache)
                texts[document.paper.id] = SuppliedText(stable_id(text.model_dump_json()), read)
        except PaperUnreadable as error:
            field = f"paper_local_path of inspiration {number}"
            problems.append(Problem(PUBLISHED_FILE, f"index {sample.id}", field, str(error)))
            if inspiration.title:
                documents.append(Document(paper=_by_title(inspiration, inspiration.title)))
    return InspirationPapers(tuple(documents), tuple(problems), texts)


async def read_paper(pdf: str, data: Path, cache: Path | None = None) -> Document:
    """The paper in a PDF of the data set, which is named as in the file of targets.

    Raises:
        PaperUnreadable: there is no such PDF, or it cannot be read.
    """
    return await asyncio.to_thread(_read_paper, pdf, data, cache)


async def _document(inspiration: Inspiration, data: Path, cache: Path | None) -> Document:
    if inspiration.pdf is None:
        if inspiration.title is None:
            raise PaperUnreadable(f"missing, and the paper {inspiration.paper_id} is not in the library")
        return Document(paper=_by_title(inspiration, inspiration.title))
    document = await read_paper(inspiration.pdf, data, cache)
    return document.model_copy(update={"paper": _as_stated(document.paper, inspiration)})


def _full_text(pdf: str, data: Path, cache: Path | None) -> FullText | None:
    try:
        return _read_paper(pdf, data, cache).full_text
    except PaperUnreadable:
        return None


def _by_title(inspiration: Inspiration, title: str) -> Paper:
    paper_id = inspiration.paper_id or make_paper_id(title, None, Identifiers())
    return Paper(id=paper_id, title=title, source=SOURCE)


def _as_stated(paper: Paper, inspiration: Inspiration) -> Paper:
    """The record with the data set's title and id, which are more reliable than those found in a PDF."""
    title = inspiration.title or paper.title
    ids = Identifiers(paper.arxiv_id, paper.doi)
    if title_key(title) == title_key(paper.title):
        title = paper.title  # as printed: the data set's titles are without capitals
    paper_id = inspiration.paper_id or make_paper_id(title, paper.date[:4] if paper.date else None, ids)
    return paper.model_copy(update={"id": paper_id, "title": title})


def _read_paper(pdf: str, data: Path, cache: Path | None) -> Document:
    try:
        with _pdf_file(pdf, data) as path:
            entry = cache / f"{_digest(path)}-{READERS_VERSION}.json" if cache else None
            cached = _cached(entry) if entry else None
            if cached is not None:
                return cached
            result = read_in_subprocess(path)
    except PermissionError as error:
        raise PaperUnreadable(f"{pdf}: {error.strerror}") from None
    if not isinstance(result, Document):
        raise PaperUnreadable(f"{pdf}: {result.what}")
    if entry is not None:
        _save(entry, result)
    return result


@contextmanager
def _pdf_file(pdf: str, data: Path) -> Iterator[Path]:
    """The PDF as a file, extracted to a temporary folder if it is in the archive."""
    folder = data if data.is_dir() else data.parent
    name = _relative_path(pdf)
    found = next((folder / root / name for root in _ROOTS if (folder / root / name).is_file()), None)
    if found is not None:
        yield found
    elif (folder / ARCHIVE).is_file():
        with tempfile.TemporaryDirectory(prefix="ideagora-") as temporary:
            path = Path(temporary) / "paper.pdf"
            _extract(folder / ARCHIVE, name, path)
            yield path
    else:
        raise PaperUnreadable(f"{pdf} is not in {folder}, and neither is {ARCHIVE}")


def _relative_path(pdf: str) -> str:
    """The path below the data folder, without what the authors tell users to put before ``papers_data``."""
    path = pdf.strip().replace("\\", "/")
    _, marker, rest = path.rpartition(f"{PAPERS_FOLDER}/")
    name = PurePosixPath(marker + rest if marker else path)
    if name.is_absolute() or ".." in name.parts or not name.name:
        raise PaperUnreadable(one_line(f"{pdf!r} is not a path in the data folder"))
    return str(name)


def _extract(archive: Path, name: str, path: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as opened:
            member = _member(opened, name)
            if member.file_size > MAX_BYTES:
                limit = f"{MAX_BYTES / 1e6:,.0f} MB"
                raise PaperUnreadable(f"{name} has {member.file_size / 1e6:,.0f} MB; the limit is {limit}")
            with opened.open(member) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        _raise_unreadable(archive, error)


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    for root in _ROOTS:
        try:
            return archive.getinfo(root + name)
        except KeyError:
            continue
    raise PaperUnreadable(f"{name} is not in {ARCHIVE}")


def _raise_unreadable(archive: Path, error: Exception) -> NoReturn:
    reason = one_line(str(error), 100) or type(error).__name__
    raise PaperUnreadable(f"{archive} is damaged ({reason}); fetch it again") from None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cached(entry: Path) -> Document | None:
    try:
        return Document.model_validate_json(entry.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _save(entry: Path, document: Document) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=entry.parent, suffix=".new", delete=False) as file:
        file.write(document.model_dump_json().encode())
    Path(file.name).replace(entry)
