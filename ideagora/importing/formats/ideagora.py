"""ideagora's own records: ``ideas.jsonl``, and the output of ``ideagora generate --json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from ideagora.importing.records import (
    FieldError,
    Format,
    ParsedIdea,
    ParsedItem,
    Row,
    catch_field_errors,
    read_each,
)
from ideagora.schema import Idea

_MARKS = {"id", "topic", "agent", "title", "method"}


def _matches(value: Mapping[str, Any]) -> bool:
    if value.keys() >= _MARKS:
        return True
    ideas = value.get("ideas")
    return "run" in value and isinstance(ideas, list)


def _read(row: Row) -> Iterator[ParsedItem]:
    if "run" not in row.value or "ideas" not in row.value:
        yield _own(row)
        return
    for number, value in enumerate(row.value["ideas"], 1):
        if isinstance(value, dict):
            yield from catch_field_errors(lambda inner: [_own(inner)], row.nested(f"idea {number}", value))
        else:
            yield row.problem(f"ideas[{number - 1}]", "expected an object")


def _own(row: Row) -> ParsedIdea:
    """Return the record unchanged; fields of later versions go to ``extra``."""
    known = {name: value for name, value in row.value.items() if name in Idea.model_fields}
    later = {name: value for name, value in row.value.items() if name not in known}
    try:
        idea = Idea.model_validate_json(json.dumps(known), strict=True)  # reject "nan" as a number
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldError(".".join(map(str, first["loc"])), first["msg"].lower()) from None
    blank = next((name for name in sorted(_MARKS) if not str(row.value[name]).strip()), None)
    if blank:
        raise FieldError(blank, "empty")
    if later:
        idea = idea.model_copy(update={"extra": {**idea.extra, "later_fields": later}})
    return ParsedIdea(row=row, topic=idea.topic, title=idea.title, method=idea.method, complete=idea)


FORMATS = (
    Format(
        name="ideagora",
        about="ideagora: ideas.jsonl of a run, or the output of generate --json",
        looks_for="'id', 'topic', 'agent', 'title' and 'method'",
        matches=_matches,
        read=read_each(_read),
    ),
)
