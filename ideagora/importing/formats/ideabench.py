"""IdeaBench's generated and evaluated tables: one row per target paper, with its hypotheses in one cell.

Lists in cells are Python literals, which are parsed but not executed. Failed calls appear in the list as
error messages in place of hypotheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import decode_field, required_text
from ideagora.importing.python_literals import json_or_literal
from ideagora.importing.records import FieldError, Format, ParsedIdea, ParsedItem, Row, read_each
from ideagora.retrieval.untrusted_json import UnreadableJSON

_FAILED = re.compile(r"^\s*Error generating hypothes[ie]s for paper ID\b", re.IGNORECASE)
_SCORES = re.compile(r"^metrics$|^llm_.*ranking_eval$")


def _matches(value: Mapping[str, Any]) -> bool:
    return {"paperId", "hypotheses"} <= value.keys()


def _read(row: Row) -> Iterator[ParsedItem]:
    title, paper = required_text(row.value, "title"), required_text(row.value, "paperId")
    if row.value["hypotheses"] is None:
        raise FieldError("hypotheses", "empty: nothing was generated for this paper")
    hypotheses = decode_field(row.value, "hypotheses")
    if not isinstance(hypotheses, list) or not hypotheses:
        raise FieldError("hypotheses", "expected a list of hypotheses")
    scores = {
        name: _decode_cell(cell)
        for name, cell in row.value.items()
        if _SCORES.match(name) and cell is not None
    }
    for number, text in enumerate(hypotheses, 1):
        place = f"hypotheses[{number - 1}]"
        if not isinstance(text, str) or not text.strip():
            yield row.problem(place, "empty or not text")
        elif _FAILED.match(text):
            yield row.problem(place, "error message of a failed call, not a hypothesis")
        else:
            yield ParsedIdea(
                row=row.nested(f"hypothesis {number}", row.value),
                topic=title,
                method=text.strip(),
                scores={"of the row": scores} if scores else {},
                notes={"target": paper, "sample": paper},
                original={**row.value, "hypotheses": text},
            )


def _decode_cell(cell: Any) -> Any:
    """Return the value in a cell of scores, or the cell's text if it has none."""
    try:
        return json_or_literal(cell) if isinstance(cell, str) else cell
    except UnreadableJSON:
        return cell


FORMATS = (
    Format(
        name="ideabench",
        about="IdeaBench: target papers with generated hypotheses",
        looks_for="'paperId' and 'hypotheses'",
        matches=_matches,
        read=read_each(_read),
    ),
)
