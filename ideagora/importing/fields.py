"""Read fields of records made elsewhere with type checks, without changing their text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ideagora.importing.file_rows import json_type_name
from ideagora.importing.python_literals import json_or_literal
from ideagora.importing.records import FieldError
from ideagora.retrieval.untrusted_json import UnreadableJSON
from ideagora.schema import Experiment

JsonObject = Mapping[str, Any]


def optional_text(value: JsonObject, name: str) -> str | None:
    """Return a text field, or None if it is missing, null or blank.

    Raises:
        FieldError: the field is not text.
    """
    field = value.get(name)
    if field is None:
        return None
    if not isinstance(field, str):
        raise FieldError(name, f"expected text, got {json_type_name(field)}")
    return field.strip() or None


def required_text(value: JsonObject, name: str) -> str:
    """Return a required text field.

    Raises:
        FieldError: it is missing, empty or not text.
    """
    text = optional_text(value, name)
    if text is None:
        raise FieldError(name, why_missing(value, name))
    return text


def why_missing(value: JsonObject, name: str) -> str:
    """Return why a field has no value: it is missing, null or empty."""
    if name not in value:
        return "missing"
    return "null (failed run?)" if value[name] is None else "empty"


def first_text(value: JsonObject, *names: str) -> str | None:
    """Return the first non-empty text among the named fields."""
    return next((text for name in names if (text := optional_text(value, name))), None)


def json_as_text(value: Any) -> str | None:
    """Return any JSON value as text: lists as lines, objects as ``name: value``."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, Mapping):
        parts = [f"{name}: {text}" for name, entry in value.items() if (text := json_as_text(entry))]
        return "\n".join(parts) or None
    if isinstance(value, Sequence):
        return "\n".join(text for entry in value if (text := json_as_text(entry))) or None
    return None if value is None else str(value)


def join_fields(value: JsonObject, *names: str) -> str | None:
    """Join fields of a record as paragraphs, labelled by name if there is more than one."""
    parts = [(name, text) for name in names if (text := json_as_text(value.get(name)))]
    if len(parts) == 1:
        return parts[0][1]
    return "\n\n".join(f"{name}: {text}" for name, text in parts) or None


def string_list(value: Any) -> tuple[str, ...]:
    """Return the non-empty strings of a list; empty if the value is not a list."""
    entries = value if isinstance(value, list) else []
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip())


def numeric_fields(value: JsonObject, *names: str) -> dict[str, float | int | bool]:
    """Return those of the named fields that hold a number or a boolean."""
    return {name: number for name in names if isinstance(number := value.get(name), bool | int | float)}


def decode_field(value: JsonObject, name: str) -> Any:
    """Return a field's value, decoded if it is a string of JSON or a Python literal.

    Raises:
        FieldError: the string is neither.
    """
    field = value.get(name)
    if not isinstance(field, str):
        return field
    try:
        return json_or_literal(field)
    except UnreadableJSON as error:
        raise FieldError(name, str(error)) from None


# --- experiments ------------------------------------------------------------------------------

_STEP_NUMBER = re.compile(r"^\s*(?:(?:\*\*|#{1,6}\s*)?[Ss]tep\s*)?\(?(\d{1,3})[.):]\s*(?=\S)")


def parse_experiment(plan: Any, *further: tuple[str, Any], risks: Any = None) -> Experiment | None:
    """Return an experiment plan of any form as steps, with its full text; None if it is empty.

    Args:
        plan: a text (split at its numbers, else at its paragraphs), a list or an object.
        further: (name, text) of parts to append as steps.
        risks: risks, as text or list.
    """
    steps = (
        *parse_steps(plan),
        *(f"{name}: {text}" for name, part in further if (text := json_as_text(part))),
    )
    return Experiment(steps=steps, risks=parse_steps(risks)) if steps else None


def parse_steps(plan: Any) -> tuple[str, ...]:
    """Return the steps of a plan without numbers that only count them."""
    if isinstance(plan, Mapping):
        steps = [f"{name}: {text}" for name, entry in plan.items() if (text := json_as_text(entry))]
    elif isinstance(plan, list):
        steps = [text for entry in plan if (text := json_as_text(entry))]
    else:
        steps = _split_steps(json_as_text(plan) or "")
    return tuple(_strip_step_numbers(steps))


def _split_steps(text: str) -> list[str]:
    """Split a text at lines that begin with 1, 2, 3 …, or else at its paragraphs."""
    lines = text.split("\n")
    starts, expected = [], 1
    for number, line in enumerate(lines):
        if (mark := _STEP_NUMBER.match(line)) and int(mark[1]) == expected:
            starts.append(number)
            expected += 1
    if len(starts) < 2:
        return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    bounds = [0, *starts, len(lines)]
    parts = ["\n".join(lines[a:b]).strip() for a, b in pairwise(bounds)]
    return [part for part in parts if part]


def _strip_step_numbers(steps: list[str]) -> list[str]:
    """Return the steps without their numbers, if these only count them."""
    marks = [_STEP_NUMBER.match(step) for step in steps]
    ends = [mark.end() for place, mark in enumerate(marks, 1) if mark and int(mark[1]) == place]
    has_stars = any(mark and "**" in mark[0] for mark in marks)
    if len(ends) < len(steps) or has_stars:
        return steps
    return [step[end:] for step, end in zip(steps, ends, strict=True)]
