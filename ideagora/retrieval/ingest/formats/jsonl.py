"""Reader for JSON Lines files with one paper record per line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ideagora.retrieval.ingest.documents import Document, Problem, ReadResult
from ideagora.retrieval.ingest.file_types import decode
from ideagora.retrieval.ingest.identifiers import Identifiers, find_doi, make_paper_id, parse_arxiv_id
from ideagora.retrieval.untrusted_json import UnreadableJSON, parse_json
from ideagora.schema import Paper

MAX_LINE_BYTES = 4_000_000
"""Longest line read, in bytes."""
_STEP = "Fix this line and add the file again."


def read_jsonl(path: str, file_path: Path) -> Iterator[ReadResult]:
    """The records of a JSON Lines file, read line by line, so that its size does not matter.

    A missing ``id`` is derived from ``arxiv_id``, ``doi``, or title and year.

    Raises:
        OSError: the file cannot be read.
    """
    size = max(1, file_path.stat().st_size)
    done = number = 0
    with file_path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            number += 1
            done += len(line)
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                done += _skip_line(file)
                what = f"the line is longer than {MAX_LINE_BYTES // 10**6} MB"
                yield Problem(path=path, place=f"line {number}", what=what, step="Is it a record? " + _STEP)
            elif line.strip():
                result = _parse_line(path, f"line {number}", decode(line).strip())
                if isinstance(result, Document):
                    result = result.model_copy(update={"done": done / size})
                yield result


FIELD_ALIASES = {
    "year": "date",
    "published": "date",
    "summary": "abstract",
    "journal": "venue",
    "author": "authors",
}
"""Other names for the fields, suggested in messages."""


def _skip_line(file: Any) -> int:
    skipped = 0
    while rest := file.readline(MAX_LINE_BYTES):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped


def _parse_line(path: str, place: str, line: str) -> ReadResult:
    try:
        value = parse_json(line)
    except UnreadableJSON as error:
        return Problem(path=path, place=place, what=str(error), step=_STEP)
    if not isinstance(value, dict):
        return Problem(path=path, place=place, what="it is not a JSON object", step=_STEP)
    try:
        return Document(paper=_paper(value))
    except ValidationError as error:
        return Problem(path=path, place=place, what=_describe(error), step=_STEP)


def _paper(value: dict[str, Any]) -> Paper:
    if not any(character.isalnum() for character in str(value.get("title") or "")):
        value = {**value, "title": None}  # an empty title is a missing one
    paper = Paper.model_validate({"id": "", "source": "jsonl", **value})
    ids = Identifiers(parse_arxiv_id(paper.arxiv_id or ""), find_doi(paper.doi or ""))
    paper_id = paper.id or make_paper_id(paper.title, paper.date[:4] if paper.date else None, ids)
    return paper.model_copy(update={"id": paper_id, "arxiv_id": ids.arxiv_id, "doi": ids.doi})


def _describe(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] != "extra_forbidden":
        return f"field {name!r}: {first['msg'].lower()}"
    near = (
        [FIELD_ALIASES[name]]
        if name in FIELD_ALIASES
        else difflib.get_close_matches(name, Paper.model_fields, n=1)
    )
    hint = f", did you mean {near[0]!r}?" if near else f"; known: {', '.join(Paper.model_fields)}"
    return f"unknown field {name!r}{hint}"
