"""Ballots as files that people can fill in: CSV for a spreadsheet, JSON lines for a program."""

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
"""In the cell of a criterion that is not for this ballot: designs and ideas have their own."""
FORMULA = ("=", "+", "-", "@", "\N{MINUS SIGN}")
"""What makes a spreadsheet take a cell for a formula: such a cell gets an apostrophe in front."""
_IGNORED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*")
"""What may stand before such a sign: a spreadsheet trims it, or it is not seen."""


def shown(idea: Idea, kind: str) -> str:
    """What a voter reads of an idea: its parts by name, or its experiment. Nothing of who made it."""
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
    """One row a ballot: its number, the topic, both ideas, an empty cell a criterion, a comment."""
    return [
        {
            "ballot": ballot.id,
            "topic": ballot.topic,
            "first": shown(ideas[ballot.subject[0]], ballot.kind),
            "second": shown(ideas[ballot.subject[1]], ballot.kind),
            **dict.fromkeys(ballot.criteria, ""),
            "comment": "",
        }
        for ballot in ballots
    ]


def ballot_text(rows: Sequence[Mapping[str, str]], path: Path) -> str:
    """The rows as the file's ending says: ``.csv`` or ``.jsonl``.

    Raises:
        UsageError: another ending.
    """
    if path.suffix == ".jsonl":
        return "".join(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)
    if path.suffix != ".csv":
        raise UsageError(f"{path} has to end in .csv (for a spreadsheet) or .jsonl (for a program).")
    file = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(file, columns, restval=NOT_ASKED)
    writer.writeheader()
    writer.writerows({name: _harmless(value) for name, value in row.items()} for row in rows)
    return "\ufeff" + file.getvalue()  # the mark by which spreadsheets know UTF-8


def _harmless(cell: str) -> str:
    """The cell as text: no sign at its start, in whatever width, makes a formula of it."""
    begin = _IGNORED.sub("", cell, count=1)[:1]
    is_control = cell[:1] in ("\t", "\r", "\n")
    return f"'{cell}" if is_control or unicodedata.normalize("NFKC", begin).startswith(FORMULA) else cell


def read_ballot_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a filled-in file, CSV (comma, semicolon or tab) or JSON lines.

    Raises:
        UsageError: it cannot be read, or is no ballot file; says what to do.
    """
    rows = [{name: str(value) for name, value in row.items()} for row in read_table(path)]
    if not any("ballot" in row for row in rows):
        raise UsageError(f"{path} has no column “ballot”. Give the file of: ideagora vote export.")
    return rows
