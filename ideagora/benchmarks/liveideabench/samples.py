"""Samples of LiveIdeaBench: a keyword is one sample (Methods, Scientific Keyword Selection).

Reads lists of keywords: JSON lines with ``keyword`` and ``category`` (the shipped list, 22 sciences), the
published list (a CSV with the column ``Keyword``), and result files of the released code (SQLite or CSV),
whose distinct ``keywords`` are the samples. The published file of categories is not read: it is wrong for
many keywords.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import Samples
from ideagora.errors import IdeasFileError
from ideagora.importing.file_rows import open_rows
from ideagora.importing.records import FieldError, Problem, Row
from ideagora.schema import Record

COLUMNS = ("keyword", "Keyword", "keywords")
"""Names of the column: of our list, of the published list, of result files."""
MAX_KEYWORD = 100
"""Characters of a keyword."""


class Sample(Record):
    """A keyword."""

    keyword: str
    category: str | None = None
    """The science that it belongs to, if the list says so."""

    @property
    def id(self) -> str:
        """The keyword itself."""
        return self.keyword


def shipped_samples() -> Samples[Sample]:
    """The list that ships with ideagora: 11 keywords for each of 22 sciences, which take turns."""
    file = importlib.resources.files("ideagora.benchmarks.liveideabench") / "keywords.jsonl"
    with importlib.resources.as_file(file) as path:
        return read_samples(path)


def read_samples(path: Path) -> Samples[Sample]:
    """Read a list of keywords or a result file.

    Raises:
        IdeasFileError: the file is unreadable, or has no usable keyword.
    """
    problems: list[Problem] = []
    samples: dict[str, Sample] = {}
    for row in open_rows(path, path.name).rows():
        if isinstance(row, Problem):
            problems.append(row)
            continue
        problems += _add(row, samples)
    if not samples:
        why = f" First problem: {problems[0]}." if problems else ""
        raise IdeasFileError(
            f"{path} has no keyword.{why} Expected: a column Keyword, JSON lines with keyword and category, "
            "or a result file of LiveIdeaBench."
        )
    return Samples(samples, tuple(problems))


def _add(row: Row, samples: dict[str, Sample]) -> Iterator[Problem]:
    """Add a row's sample; a keyword again is a problem, except in a result file, with a row per critic."""
    try:
        sample = _read_row(row.value)
    except FieldError as error:
        yield row.problem(error.field, error.why)
        return
    if sample.id not in samples:
        samples[sample.id] = sample
    elif "keywords" not in row.value:
        yield row.problem("keyword", f"{sample.keyword!r} occurs again; the first one is used")


def _read_row(value: Mapping[str, Any]) -> Sample:
    column = next((name for name in COLUMNS if name in value), None)
    if column is None:
        raise FieldError("keyword", f"missing; the row has {', '.join(map(repr, list(value)[:5]))}")
    return Sample(keyword=_text(value, column, True) or "", category=_text(value, "category", False))


def _text(value: Mapping[str, Any], name: str, is_required: bool) -> str | None:
    found = value.get(name)
    if found is None and not is_required:
        return None
    if not isinstance(found, str):
        raise FieldError(name, f"must be text, not {found!r}"[:80])
    text = " ".join(found.split())
    if not text and is_required:
        raise FieldError(name, "is empty")
    if len(text) > MAX_KEYWORD:
        raise FieldError(name, f"has {len(text)} characters; the limit is {MAX_KEYWORD}")
    return text or None
