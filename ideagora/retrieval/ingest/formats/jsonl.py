"""JSON lines with the fields of our own records, one paper a line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ideagora.retrieval.ingest.documents import Document, Found, Problem
from ideagora.retrieval.ingest.file_types import decoded
from ideagora.retrieval.ingest.identifiers import Identifiers, arxiv_named, doi_in, own_id
from ideagora.retrieval.untrusted_json import UnreadableJSON, json_value
from ideagora.schema import Paper

LONGEST_LINE = 4_000_000
"""Bytes; a longer line is no record of a paper."""
_STEP = "Mend this line and add the file again."


def read_jsonl(path: str, file_path: Path) -> Iterator[Found]:
    """The records of a JSONL file, line by line, so that its size doesn't matter.

    ``id`` may be left out; it is then made from ``arxiv_id``, ``doi``, or title and year.

    Raises:
        OSError: the file cannot be read.
    """
    size = max(1, file_path.stat().st_size)
    done = number = 0
    with file_path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            number += 1
            done += len(line)
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                done += _skip_line(file)
                what = f"the line is longer than {LONGEST_LINE // 10**6} MB"
                yield Problem(path=path, place=f"line {number}", what=what, step="Is it a record? " + _STEP)
            elif line.strip():
                found = _of_line(path, f"line {number}", decoded(line).strip())
                yield found.model_copy(update={"done": done / size}) if isinstance(found, Document) else found


MEANT = {"year": "date", "published": "date", "summary": "abstract", "journal": "venue", "author": "authors"}
"""What others call fields of ours."""


def _skip_line(file: Any) -> int:
    skipped = 0
    while rest := file.readline(LONGEST_LINE):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped


def _of_line(path: str, place: str, line: str) -> Found:
    try:
        value = json_value(line)
    except UnreadableJSON as error:
        return Problem(path=path, place=place, what=str(error), step=_STEP)
    if not isinstance(value, dict):
        return Problem(path=path, place=place, what="it is no JSON object", step=_STEP)
    try:
        return Document(paper=_paper(value))
    except ValidationError as error:
        return Problem(path=path, place=place, what=_told(error), step=_STEP)


def _paper(value: dict[str, Any]) -> Paper:
    if not any(character.isalnum() for character in str(value.get("title") or "")):
        value = {**value, "title": None}  # an empty title is a missing one
    paper = Paper.model_validate({"id": "", "source": "jsonl", **value})
    ids = Identifiers(arxiv_named(paper.arxiv_id or ""), doi_in(paper.doi or ""))
    made = paper.id or own_id(paper.title, paper.date[:4] if paper.date else None, ids)
    return paper.model_copy(update={"id": made, "arxiv_id": ids.arxiv_id, "doi": ids.doi})


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] != "extra_forbidden":
        return f"field {name!r}: {first['msg'].lower()}"
    near = [MEANT[name]] if name in MEANT else difflib.get_close_matches(name, Paper.model_fields, n=1)
    hint = f", did you mean {near[0]!r}?" if near else f"; known: {', '.join(Paper.model_fields)}"
    return f"unknown field {name!r}{hint}"
