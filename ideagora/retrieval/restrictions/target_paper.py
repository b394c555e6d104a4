"""Reads the one paper that a run is about, from a file or the library.

The topic's cut-off and exclusions do not apply to it: a benchmark excludes its target paper, which is
exactly the paper wanted here. No other paper is returned, and what was read is recorded.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ideagora.errors import LibraryError, UsageError
from ideagora.retrieval.ingest.bibliographic import BibliographicFields, make_paper
from ideagora.retrieval.ingest.documents import Document
from ideagora.retrieval.ingest.file_types import SUFFIXES, UnknownFileType, decode, file_type_of
from ideagora.retrieval.ingest.formats.pdf_layout import extract_abstract, extract_sections
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_with_limits
from ideagora.retrieval.ingest.identifiers import Identifiers
from ideagora.retrieval.restrictions.cutoff import possible_ids
from ideagora.retrieval.store.fulltext import FullText
from ideagora.retrieval.texts.section_selection import select_sections
from ideagora.retrieval.untrusted_json import clean_text
from ideagora.schema import Paper, Record

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library

TOKENS = 10_000
"""Tokens of the full text that are read; more than for a paper in a chain, since it is the only one."""
OPENING = 400
"""Words at the beginning of the full text that count as its introduction."""
SHORTEST = 200
"""Characters; a shorter text file is not a paper."""
TEXT_SUFFIXES = frozenset({".txt", ".text", ".md"})
_MAX_TITLE = 300
_MAX_BYTES = 10_000_000
"""Size of a text file."""
_MAX_DOCUMENTS = 100
"""Documents read from a file before it is rejected."""


class TargetPaper(Record):
    """A paper and its longest available text."""

    paper: Paper
    text: str
    kind: Literal["full text", "abstract"]
    opening: str | None = None
    """The beginning of the full text."""


def is_file_name(which: str) -> bool:
    """Whether a name denotes a file, existing or not, rather than a paper id."""
    path = Path(which).expanduser()
    known = path.suffix.lower() in {*SUFFIXES, *TEXT_SUFFIXES}
    return path.is_file() or known or which.startswith(("/", "./", "../", "~"))


async def read_target_paper(which: str, library: Library) -> TargetPaper:
    """Read a paper from a file (PDF, text, bibliography with one entry) or from the library by id.

    Raises:
        UsageError: the file or paper does not exist, or the file contains several papers.
        LibraryError: the file has no text, or the record no abstract.
    """
    if is_file_name(which):
        return read_paper_file(Path(which).expanduser())
    for paper_id in possible_ids(which):
        paper = await library.paper(paper_id)
        if paper is not None:
            text, kind = await library.text(paper, TOKENS)
            return _with_text(paper, text if kind == "full text" else "", which)
    raise UsageError(
        f"The library has no paper {which!r}. Use a file, an id as shown by ideagora library search, or "
        "add the paper first with ideagora library add FILE."
    )


def read_paper_file(path: Path) -> TargetPaper:
    """Read the only paper in a file.

    Raises:
        UsageError, LibraryError: as ``read_target_paper``.
    """
    if not path.is_file():
        raise UsageError(f"file not found: {path}. Check the path, or use the id of a paper in the library.")
    if path.suffix.lower() in TEXT_SUFFIXES and isinstance(file_type_of(path), UnknownFileType):
        paper, full_text = _read_text_file(path)
        return _with_text(paper, select_sections(full_text.sections, TOKENS), str(path))
    results = list(islice(read_with_limits(path), _MAX_DOCUMENTS))
    documents = [result for result in results if isinstance(result, Document)]
    if not documents:
        raise LibraryError(str(results[0]) if results else f"{path} contains no paper. Use another file.")
    if len(documents) > 1:
        raise UsageError(
            f"{path} contains {len(documents)} papers; one is expected. Add the file to the library "
            "(ideagora library add) and use the id of a paper."
        )
    sections = documents[0].full_text.sections if documents[0].full_text else ()
    return _with_text(documents[0].paper, select_sections(sections, TOKENS), str(path))


def _read_text_file(path: Path) -> tuple[Paper, FullText]:
    """Read a text file whose first line is the title."""
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise LibraryError(
            f"{path} is larger than {_MAX_BYTES / 1e6:.0f} MB, too large for a paper. Use another file."
        )
    text = clean_text(re.sub(r"(?m)^#+[ \t]*", "", decode(content)))
    title, _, rest = text.strip().partition("\n")
    if len(text.strip()) < SHORTEST or not re.search(r"\w", title) or len(title) > _MAX_TITLE:
        raise LibraryError(
            f"{path} is not the text of a paper: expected the title in the first line and the text below. "
            f"It begins “{title.strip()[:60]}” and has {len(text.strip())} characters."
        )
    fields = BibliographicFields(title, Identifiers(), extract_abstract(rest) or "")
    return make_paper(fields, "text"), FullText(sections=tuple(extract_sections(rest)))


def _with_text(paper: Paper, full_text: str, which: str) -> TargetPaper:
    """The paper with its longest text; a title alone is not enough."""
    if full_text:
        opening = " ".join(full_text.split()[:OPENING])
        return TargetPaper(paper=paper, text=full_text, kind="full text", opening=opening)
    if paper.abstract and paper.abstract.strip():
        return TargetPaper(paper=paper, text=paper.abstract, kind="abstract")
    raise LibraryError(
        f"{which} (“{paper.title[:80]}”) has neither abstract nor full text, so no idea can be extracted. "
        "Use its PDF instead."
    )
