"""One paper, from a file or the library, for a run that is about this very paper.

It is read past the cut-off date and the bans of the run's topic: a benchmark bans its target paper,
and the target is what is wanted here. Nothing but this paper is told, and what was read is recorded.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ideagora.errors import LibraryError, UsageError
from ideagora.retrieval.cutoff import possible_ids
from ideagora.retrieval.ingest.bibliographic import make_paper
from ideagora.retrieval.ingest.documents import Document
from ideagora.retrieval.ingest.file_types import SUFFIXES, UnknownFileType, decode, file_type_of
from ideagora.retrieval.ingest.formats.pdf_layout import extract_abstract, extract_sections
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_with_limits
from ideagora.retrieval.ingest.identifiers import Identifiers
from ideagora.retrieval.section_selection import select_sections
from ideagora.retrieval.store.fulltext import FullText
from ideagora.retrieval.untrusted_json import clean_text
from ideagora.schema import Paper, Record

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library

TOKENS = 10_000
"""Tokens of the full text that are read: more than a reader in a chain gets, since it is the only paper."""
OPENING = 400
"""Words of the full text's beginning that count as its introduction."""
SHORTEST = 200
"""Characters; a text file with fewer is no paper."""
TEXT_SUFFIXES = frozenset({".txt", ".text", ".md"})
_LONGEST_TITLE = 300
_LARGEST = 10_000_000
"""Bytes of a text file."""
_MOST_LOOKED_AT = 100
"""Things in a file; one paper is wanted."""


class TargetPaper(Record):
    """A paper and the longest text of it that could be had."""

    paper: Paper
    text: str
    kind: Literal["full text", "abstract"]
    opening: str | None = None
    """How the full text begins."""


def is_file_name(which: str) -> bool:
    """Whether a file is meant, there or not: an id has neither a folder's slash nor a file's suffix."""
    path = Path(which).expanduser()
    known = path.suffix.lower() in {*SUFFIXES, *TEXT_SUFFIXES}
    return path.is_file() or known or which.startswith(("/", "./", "../", "~"))


async def read_target_paper(which: str, library: Library) -> TargetPaper:
    """The paper of a file (PDF, text, a bibliography with one entry), or with an id in the library.

    Raises:
        UsageError: there is no such file or paper, or the file holds several.
        LibraryError: there is nothing to read: no text in the file, no abstract in the record.
    """
    if is_file_name(which):
        return read_paper_file(Path(which).expanduser())
    for paper_id in possible_ids(which):
        paper = await library.paper(paper_id)
        if paper is not None:
            text, kind = await library.text(paper, TOKENS)
            return _whole(paper, text if kind == "full text" else "", which)
    raise UsageError(
        f"The library has no paper {which!r}. Name a file, an id as “ideagora library search” shows it, or "
        "add the paper first: ideagora library add FILE."
    )


def read_paper_file(path: Path) -> TargetPaper:
    """The only paper of a file.

    Raises:
        UsageError, LibraryError: as ``read_target_paper``.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}. Look at the path, or name a paper of the library by id.")
    if path.suffix.lower() in TEXT_SUFFIXES and isinstance(file_type_of(path), UnknownFileType):
        paper, full_text = _of_text(path)
        return _whole(paper, select_sections(full_text.sections, TOKENS), str(path))
    found = list(islice(read_with_limits(path), _MOST_LOOKED_AT))
    documents = [one for one in found if isinstance(one, Document)]
    if not documents:
        raise LibraryError(str(found[0]) if found else f"{path} holds no paper. Name another file.")
    if len(documents) > 1:
        raise UsageError(
            f"{path} holds {len(documents)} papers, one is wanted. Add it to the library (ideagora library "
            "add) and name the paper by its id."
        )
    sections = documents[0].full_text.sections if documents[0].full_text else ()
    return _whole(documents[0].paper, select_sections(sections, TOKENS), str(path))


def _of_text(path: Path) -> tuple[Paper, FullText]:
    """A text file whose first line is the title."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise LibraryError(
            f"{path} has more than {_LARGEST / 1e6:.0f} MB, which no paper's text has. Name another."
        )
    text = clean_text(re.sub(r"(?m)^#+[ \t]*", "", decode(content)))
    title, _, rest = text.strip().partition("\n")
    if len(text.strip()) < SHORTEST or not re.search(r"\w", title) or len(title) > _LONGEST_TITLE:
        raise LibraryError(
            f"{path} is no paper's text: its first line should be the title, with the text below. "
            f"It begins “{title.strip()[:60]}” and has {len(text.strip())} characters."
        )
    record = make_paper(title, Identifiers(), "text", abstract=extract_abstract(rest))
    return record, FullText(sections=tuple(extract_sections(rest)))


def _whole(paper: Paper, full_text: str, which: str) -> TargetPaper:
    """The paper with its longest text; a title alone has no idea in it."""
    if full_text:
        opening = " ".join(full_text.split()[:OPENING])
        return TargetPaper(paper=paper, text=full_text, kind="full text", opening=opening)
    if paper.abstract and paper.abstract.strip():
        return TargetPaper(paper=paper, text=paper.abstract, kind="abstract")
    raise LibraryError(
        f"Of {which} (“{paper.title[:80]}”) neither an abstract nor a text is known, so no idea can be taken "
        "from it. Name its PDF."
    )
