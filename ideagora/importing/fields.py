"""Fields of foreign records: their types checked, their texts taken as they are."""

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
    """A text; ``None`` where it is missing, null or blank.

    Raises:
        Unusable: something else stands there.
    """
    found = value.get(name)
    if found is None:
        return None
    if not isinstance(found, str):
        raise FieldError(name, f"it is {json_type_name(found)}, where text is needed")
    return found.strip() or None


def required_text(value: JsonObject, name: str) -> str:
    """A text that must be there.

    Raises:
        Unusable: it is missing, empty, or no text.
    """
    found = optional_text(value, name)
    if found is None:
        raise FieldError(name, why_missing(value, name))
    return found


def why_missing(value: JsonObject, name: str) -> str:
    """Why there is nothing under a name: it is missing, null or empty."""
    if name not in value:
        return "it is missing"
    return "it is null (a run that failed?)" if value[name] is None else "it is empty"


def first_text(value: JsonObject, *names: str) -> str | None:
    """The first of several names under which there is a text."""
    return next((found for name in names if (found := optional_text(value, name))), None)


def json_as_text(value: Any) -> str | None:
    """Any JSON value as text with every word of it: lists by lines, objects as ``name: value``."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, Mapping):
        parts = [f"{name}: {told}" for name, entry in value.items() if (told := json_as_text(entry))]
        return "\n".join(parts) or None
    if isinstance(value, Sequence):
        return "\n".join(told for entry in value if (told := json_as_text(entry))) or None
    return None if value is None else str(value)


def join_fields(value: JsonObject, *names: str) -> str | None:
    """Several texts of a record as paragraphs; each under its own name if there is more than one."""
    parts = [(name, told) for name in names if (told := json_as_text(value.get(name)))]
    if len(parts) == 1:
        return parts[0][1]
    return "\n\n".join(f"{name}: {told}" for name, told in parts) or None


def string_list(value: Any) -> tuple[str, ...]:
    """The strings of a list; nothing where there is none."""
    entries = value if isinstance(value, list) else []
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip())


def numeric_fields(value: JsonObject, *names: str) -> dict[str, float | int | bool]:
    """Those of the named fields that hold a number (or yes and no): scores that the file kept."""
    return {name: found for name in names if isinstance(found := value.get(name), bool | int | float)}


def decode_field(value: JsonObject, name: str) -> Any:
    """A field that some writers left as a string of JSON or of Python.

    Raises:
        Unusable: the string is neither.
    """
    found = value.get(name)
    if not isinstance(found, str):
        return found
    try:
        return json_or_literal(found)
    except UnreadableJSON as error:
        raise FieldError(name, str(error)) from None


# --- experiments ------------------------------------------------------------------------------

_STEP_NUMBER = re.compile(r"^\s*(?:(?:\*\*|#{1,6}\s*)?[Ss]tep\s*)?\(?(\d{1,3})[.):]\s*(?=\S)")


def parse_experiment(plan: Any, *further: tuple[str, Any], risks: Any = None) -> Experiment | None:
    """An experiment plan of any make as steps, with every word of it.

    Args:
        plan: a text (cut at its own numbers, else at its paragraphs), a list, or an object.
        further: (name, text) of parts that come after the steps.
        risks: what may go wrong, likewise text or list.
    """
    steps = (
        *parse_steps(plan),
        *(f"{name}: {told}" for name, part in further if (told := json_as_text(part))),
    )
    return Experiment(steps=steps, risks=parse_steps(risks)) if steps else None


def parse_steps(plan: Any) -> tuple[str, ...]:
    """The steps of a plan; numbers that only count them are left to whoever shows them."""
    if isinstance(plan, Mapping):
        steps = [f"{name}: {told}" for name, entry in plan.items() if (told := json_as_text(entry))]
    elif isinstance(plan, list):
        steps = [told for entry in plan if (told := json_as_text(entry))]
    else:
        steps = _split_steps(json_as_text(plan) or "")
    return tuple(_strip_step_numbers(steps))


def _split_steps(text: str) -> list[str]:
    """A text at the lines that begin with 1, 2, 3 …; without them, at its paragraphs."""
    lines = text.split("\n")
    starts, wanted = [], 1
    for number, line in enumerate(lines):
        if (mark := _STEP_NUMBER.match(line)) and int(mark[1]) == wanted:
            starts.append(number)
            wanted += 1
    if len(starts) < 2:
        return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    bounds = [0, *starts, len(lines)]
    parts = ["\n".join(lines[a:b]).strip() for a, b in pairwise(bounds)]
    return [part for part in parts if part]


def _strip_step_numbers(steps: list[str]) -> list[str]:
    """Steps without their numbers, if the numbers say no more than their place."""
    marks = [_STEP_NUMBER.match(step) for step in steps]
    ends = [mark.end() for place, mark in enumerate(marks, 1) if mark and int(mark[1]) == place]
    has_stars = any(mark and "**" in mark[0] for mark in marks)
    if len(ends) < len(steps) or has_stars:
        return steps
    return [step[end:] for step, end in zip(steps, ends, strict=True)]
