"""Reads and writes ballot files: CSV for spreadsheets, JSON lines for programs."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from ideagora.errors import UsageError
from ideagora.evaluators.agreement.ballots import Ballot
from ideagora.evaluators.agreement.table_files import read_table
from ideagora.schema import Idea

NOT_ASKED = "–"
"""Cell of a criterion that does not apply to the ballot: designs and ideas have different criteria."""
FORMULA = ("=", "+", "-", "@", "\N{MINUS SIGN}")
"""Characters that start a formula in spreadsheets; such cells are prefixed with an apostrophe."""
_IGNORED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*")
"""Characters before them that spreadsheets trim or do not show."""


def ballot_view(idea: Idea, kind: str) -> str:
    """The idea (or its experiment) as text for a voter, without its author."""
    if kind == "experiment":
        plan = idea.experiment
        if plan is None:
            raise UsageError(f"the idea {idea.id} has no experiment to vote on.")
        lists = {
            name.capitalize(): getattr(plan, name)
            for name in ("datasets", "baselines", "metrics", "ablations")
        }
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(plan.steps, 1))
        extra = "\n".join(f"{name}: {', '.join(values)}" for name, values in lists.items() if values)
        return f"{idea.title}\n\n{steps}" + (f"\n\n{extra}" if extra else "")
    parts = {"Motivation": idea.motivation, "Novelty": idea.novelty, "Method": idea.method}
    return "\n\n".join([idea.title, *(f"{name}: {text}" for name, text in parts.items() if text)])


def ballot_rows(ballots: Sequence[Ballot], ideas: Mapping[str, Idea]) -> list[dict[str, str]]:
    """One row per ballot: id, topic, both ideas, an empty cell per criterion, a comment."""
    return [
        {
            "ballot": ballot.id,
            "topic": ballot.topic,
            "first": ballot_view(ideas[ballot.subject[0]], ballot.kind),
            "second": ballot_view(ideas[ballot.subject[1]], ballot.kind),
            **dict.fromkeys(ballot.criteria, ""),
            "comment": "",
        }
        for ballot in ballots
    ]


def ballot_text(rows: Sequence[Mapping[str, str]], path: Path) -> str:
    """The content of a ballot file, by its suffix: ``.csv`` or ``.jsonl``.

    Raises:
        UsageError: the suffix is another.
    """
    if path.suffix == ".jsonl":
        return "".join(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)
    if path.suffix != ".csv":
        raise UsageError(f"{path} has to end in .csv (for a spreadsheet) or .jsonl (for a program).")
    file = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(file, columns, restval=NOT_ASKED)
    writer.writeheader()
    writer.writerows({name: _escape(value) for name, value in row.items()} for row in rows)
    return "\ufeff" + file.getvalue()  # the byte order mark tells spreadsheets that it is UTF-8


def _escape(cell: str) -> str:
    """The cell, prefixed with an apostrophe if a spreadsheet would read it as a formula."""
    start = _IGNORED.sub("", cell, count=1)[:1]
    is_control = cell[:1] in ("\t", "\r", "\n")
    return f"'{cell}" if is_control or unicodedata.normalize("NFKC", start).startswith(FORMULA) else cell


def read_ballot_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a filled-in file, CSV (comma, semicolon or tab) or JSON lines.

    Raises:
        UsageError: it cannot be read, or is not a ballot file.
    """
    rows = [{name: str(value) for name, value in row.items()} for row in read_table(path)]
    if not any("ballot" in row for row in rows):
        raise UsageError(f"{path} has no column “ballot”. Give the file of: ideagora vote export.")
    return rows
