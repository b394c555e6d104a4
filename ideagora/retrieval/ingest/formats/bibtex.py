"""Reader for BibTeX files, based on bibtexparser.

Of the maintained parsers, it is the one that continues after a broken entry and reports its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from ideagora.retrieval.ingest.bibliographic import (
    BibliographicFields,
    given_name_first,
    make_paper,
    partial_date,
)
from ideagora.retrieval.ingest.documents import Document, Problem, ReadResult
from ideagora.retrieval.ingest.identifiers import find_identifiers
from ideagora.retrieval.ingest.quiet_logger import quiet_logger

if TYPE_CHECKING:
    from bibtexparser.model import Block, Entry
    from pylatexenc.latex2text import LatexNodes2Text

_CHUNK_CHARS = 200_000
"""Characters parsed at once; a longer entry is parsed alone."""
_ENTRY = re.compile(r"^[ \t]*@", re.M)
_MACRO = re.compile(r"^[ \t]*@[sS][tT][rR][iI][nN][gG][ \t]*[{(][^\n]{1,500}[})][ \t]*$", re.M)
_MAX_MACRO_CHARS = 20_000
_STEP = "Fix this entry and add the file again."
_USED_FIELDS = {"title", "author", "year", "month", "date", "doi", "eprint", "abstract"}
_VENUES = ("journal", "journaltitle", "booktitle", "school", "publisher")
_MARKUP = re.compile(r"[\\{}$~^]|``|''|--")
_ENCLOSED = re.compile(r'^(?:"(.*)"|\{([^{}]*)\})$', re.S)
"""A value with its delimiters, as the parser leaves it in a faulty entry."""
_PERCENT = re.compile(r"(?<!\\)%")


def read_bibtex(path: str, text: str) -> Iterator[ReadResult]:
    """The entries of a BibTeX file; ``path`` is its name in problems."""
    from bibtexparser.entrypoint import parse_string

    total = text.count("\n") + 1
    macros = ""
    for before, chunk in _chunks(text):
        with quiet_logger("bibtexparser"):
            blocks = parse_string(macros + chunk).blocks
        above = before - macros.count("\n")
        for block in blocks:
            line = above + (block.start_line or 0) + 1
            result = _parse_block(path, block, line) if line > before else None
            if isinstance(result, Document):
                result = result.model_copy(update={"done": min(1.0, line / total)})
            if result:
                yield result
        macros = (macros + "".join(f"{macro}\n" for macro in _MACRO.findall(chunk)))[:_MAX_MACRO_CHARS]


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Chunks of whole entries with the number of lines above each, so that memory stays bounded."""
    start = line = 0
    for entry in _ENTRY.finditer(text):
        if entry.start() - start >= _CHUNK_CHARS:
            yield line, text[start : entry.start()]
            line += text.count("\n", start, entry.start())
            start = entry.start()
    yield line, text[start:]


def _parse_block(path: str, block: Block, line: int) -> ReadResult | None:
    from bibtexparser.model import DuplicateFieldKeyBlock, Entry, ParsingFailedBlock

    place = f"line {line}"
    if isinstance(block, DuplicateFieldKeyBlock) and _USED_FIELDS & set(block.duplicate_keys):
        twice = ", ".join(sorted(_USED_FIELDS & set(block.duplicate_keys)))
        return Problem(path=path, place=place, what=f"{_name(block)} has {twice} more than once", step=_STEP)
    if isinstance(block, ParsingFailedBlock) and block.ignore_error_block is None:
        reason = " ".join(str(getattr(block.error, "abort_reason", block.error)).split())[:160].rstrip(". ")
        what = f"{_name(block)} cannot be read ({reason})"
        return Problem(path=path, place=place, what=what, step=_STEP)
    entry = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
    return _parse_entry(path, entry, place) if isinstance(entry, Entry) else None


def _parse_entry(path: str, entry: Entry, place: str) -> ReadResult:
    fields: dict[str, str] = {}
    for field in entry.fields:  # of a repeated field, the first counts
        fields.setdefault(field.key.lower(), _ENCLOSED.sub(r"\1\2", str(field.value).strip()))
    raw_title = _strip_braces(fields.get("title", ""))
    title = _strip_latex(raw_title)
    if not any(character.isalnum() for character in title):
        return Problem(path=path, place=place, what=f"entry {entry.key!r} has no title", step=_STEP)
    venue = next((fields[name] for name in _VENUES if name in fields), "")
    eprint = fields.get("eprint", "") if _is_arxiv(fields) else None
    ids = find_identifiers(
        _strip_latex(fields.get("doi", "")),
        eprint,
        *(
            _strip_latex(fields.get(name, ""))
            for name in ("url", "journal", "note", "howpublished", "number")
        ),
    )
    year, month, day = _date_parts(fields)
    known = BibliographicFields(
        title,
        ids,
        abstract=_strip_latex(fields.get("abstract", "")),
        authors=_authors(fields.get("author", "")),
        day=partial_date(year, month, day),
        venue=_strip_latex(venue),
    )
    return Document(paper=make_paper(known, "bibtex"))


def _date_parts(fields: dict[str, str]) -> tuple[str, str, str]:
    """Year, month and day from BibLaTeX's ``date`` (which may be a range), else from BibTeX's fields."""
    parts = [*_strip_latex(fields.get("date", "")).partition("/")[0].strip().split("-"), "", ""]
    if re.fullmatch(r"\d{4}", parts[0]):
        return parts[0], parts[1], parts[2]
    return _strip_latex(fields.get("year", "")), _strip_latex(fields.get("month", "")), fields.get("day", "")


def _is_arxiv(fields: dict[str, str]) -> bool:
    archive = fields.get("archiveprefix") or fields.get("eprinttype") or "arxiv"
    return archive.lower() == "arxiv"


def _authors(field: str) -> list[str]:
    from bibtexparser.middlewares.names import split_multiple_persons_names

    names = split_multiple_persons_names(" ".join(field.split()))
    plain = [_strip_latex(name if name.startswith("{") else given_name_first(name)) for name in names]
    return [name for name in plain if name.lower() != "others"]


def _strip_latex(text: str) -> str:
    """A field's text without LaTeX markup."""
    if not _MARKUP.search(text) and "\\" not in text:
        return text.strip()
    from pylatexenc.latexwalker import LatexWalkerError

    try:
        return str(_decoder().latex_to_text(_PERCENT.sub(r"\\%", text))).strip()
    except (LatexWalkerError, ValueError, IndexError, RecursionError):
        return _strip_braces(text).strip()


def _strip_braces(text: str) -> str:
    """Remove braces that only protect capitals: ``{BERT}``, but not ``\\'{e}``."""
    return re.sub(r"(?<![\\\w'\"`^~=.}])\{([^{}\\]*)\}", r"\1", text)


@lru_cache(maxsize=1)
def _decoder() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="verbatim", keep_comments=True)


def _name(block: Block) -> str:
    """An entry's type and key, for messages."""
    first = re.match(r"\s*@\s*\w+\s*[{(]\s*[^\s,={}\"]*", block.raw or "")
    return f"the entry {first[0].strip()}" if first else "a broken entry"
