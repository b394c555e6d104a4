"""Reading a file of any supported type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ideagora.retrieval.ingest.documents import Problem, ReadResult
from ideagora.retrieval.ingest.file_types import UnknownFileType, decode, file_type_of
from ideagora.retrieval.ingest.formats.bibtex import read_bibtex
from ideagora.retrieval.ingest.formats.csl import read_csl
from ideagora.retrieval.ingest.formats.jsonl import read_jsonl
from ideagora.retrieval.ingest.formats.pdf import read_pdf
from ideagora.retrieval.ingest.formats.ris import read_ris

MAX_TEXT_BYTES = 64_000_000
"""Largest bibliography read, in bytes; JSON Lines files have no limit."""
READERS_VERSION = "1"
"""Version of the readers; files read by another version are read again."""


def read_file(path: Path) -> Iterator[ReadResult]:
    """Documents and problems in a file, in order. Errors of the file are returned as problems."""
    name = str(path)
    try:
        kind = file_type_of(path)
        if isinstance(kind, UnknownFileType):
            yield Problem(path=name, what=kind.what, step=kind.step)
        elif kind == "pdf":
            yield from read_pdf(name, path)
        elif kind == "jsonl":
            yield from read_jsonl(name, path)
        elif path.stat().st_size > MAX_TEXT_BYTES:
            what = (
                f"its {path.stat().st_size / 1e6:,.0f} MB exceed the limit of {MAX_TEXT_BYTES / 1e6:,.0f} MB"
            )
            yield Problem(path=name, what=what, step="Split it, or export it as JSON Lines.")
        else:
            reader = {"bibtex": read_bibtex, "ris": read_ris, "csl": read_csl}[kind]
            yield from reader(name, decode(path.read_bytes()))
    except OSError as error:
        what = f"it cannot be read ({error.strerror or error})"
        yield Problem(path=name, what=what, step="Make it readable, and add it again.")
