"""Team files of VirSci: a topic, the team's idea as a string of JSON, and an abstract.

The model's JSON is often not valid (a key with two strings), so the idea's fields are found by their names.
``abstract`` reports results that nobody measured; the idea is what competes, and the original keeps both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import (
    JsonObject,
    json_as_text,
    numeric_fields,
    optional_text,
    parse_experiment,
)
from ideagora.importing.python_literals import json_or_literal
from ideagora.importing.records import FieldError, Format, ParsedIdea, Row, read_each
from ideagora.importing.sections import split_sections
from ideagora.retrieval.untrusted_json import UnreadableJSON

RATINGS = ("Clarity", "Feasibility", "Novelty", "Excitement", "Interestingness")
_FIELD = re.compile(rf'"(Idea|Title|Experiment|{"|".join(RATINGS)})"\s{{0,20}}:')
_ESCAPE = re.compile(r"\\(.)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": ""}
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)', re.S)
"""A string; one that is not closed ends with the text, so that no position is read twice."""


def _matches(value: Mapping[str, Any]) -> bool:
    return {"idea", "topic"} <= value.keys() and ("teammate" in value or "abstract" in value)


def _read(row: Row) -> Iterator[ParsedIdea]:
    text = optional_text(row.value, "idea")
    if text is None:
        raise FieldError("idea", "no idea (failed run?)")
    fields = _fields(text)
    if not fields:
        parts = split_sections(text)
        fields = {"Idea": parts.method, "Title": parts.title}
    idea, steps = json_as_text(fields.get("Idea")), fields.get("Experiment")
    title = json_as_text(fields.get("Title"))
    yield ParsedIdea(
        row=row,
        topic=optional_text(row.value, "topic"),
        title=title,
        method=idea,
        experiment=parse_experiment(steps),
        scores=numeric_fields(fields, *RATINGS),
        notes={"method_from": "Idea"},
    )


def _fields(text: str) -> JsonObject:
    """The fields of the idea's JSON, valid or not; empty if it has none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        value = json_or_literal(text[start : end + 1])
        return value if isinstance(value, dict) else {}
    except UnreadableJSON:
        return _by_name(text)


def _by_name(text: str) -> JsonObject:
    """The strings, or the number, between a field's name and the next one's."""
    names = list(_FIELD.finditer(text))
    ends = [*(name.start() for name in names[1:]), len(text)]
    return {name[1]: _loose_value(text[name.end() : end]) for name, end in zip(names, ends, strict=True)}


def _loose_value(text: str) -> str | float | list[str] | None:
    strings = [_ESCAPE.sub(lambda mark: _ESCAPED.get(mark[1], mark[1]), one) for one in _STRING.findall(text)]
    if strings:
        return strings[0] if len(strings) == 1 else strings
    number = re.match(r"\s{0,20}(\d{1,3}(?:\.\d+)?)", text)
    return float(number[1]) if number else None


FORMATS = (
    Format(
        name="virsci",
        about="VirSci: a team's file",
        looks_for="'idea', 'topic' and 'teammate' or 'abstract'",
        matches=_matches,
        read=read_each(_read),
    ),
)
