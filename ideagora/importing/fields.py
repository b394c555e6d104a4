"""Fields of foreign records: their types checked, their texts taken as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ideagora.importing.drafts import Unusable
from ideagora.importing.file_rows import described
from ideagora.importing.python_literals import loose_value
from ideagora.retrieval.untrusted_json import UnreadableJSON
from ideagora.schema import Experiment

Value = Mapping[str, Any]


def text_or_none(value: Value, name: str) -> str | None:
    """A text; ``None`` where it is missing, null or blank.

    Raises:
        Unusable: something else stands there.
    """
    found = value.get(name)
    if found is None:
        return None
    if not isinstance(found, str):
        raise Unusable(name, f"it is {described(found)}, where text is needed")
    return found.strip() or None


def needed_text(value: Value, name: str) -> str:
    """A text that must be there.

    Raises:
        Unusable: it is missing, empty, or no text.
    """
    found = text_or_none(value, name)
    if found is None:
        raise Unusable(name, missing(value, name))
    return found


def missing(value: Value, name: str) -> str:
    """Why there is nothing under a name: it is missing, null or empty."""
    if name not in value:
        return "it is missing"
    return "it is null (a run that failed?)" if value[name] is None else "it is empty"


def first_text(value: Value, *names: str) -> str | None:
    """The first of several names under which there is a text."""
    return next((found for name in names if (found := text_or_none(value, name))), None)


def plain_text(value: Any) -> str | None:
    """Any JSON value as text with every word of it: lists by lines, objects as ``name: value``."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, Mapping):
        parts = [f"{name}: {told}" for name, entry in value.items() if (told := plain_text(entry))]
        return "\n".join(parts) or None
    if isinstance(value, Sequence):
        return "\n".join(told for entry in value if (told := plain_text(entry))) or None
    return None if value is None else str(value)


def labelled(value: Value, *names: str) -> str | None:
    """Several texts of a record as paragraphs; each under its own name if there is more than one."""
    parts = [(name, told) for name in names if (told := plain_text(value.get(name)))]
    if len(parts) == 1:
        return parts[0][1]
    return "\n\n".join(f"{name}: {told}" for name, told in parts) or None


def names_in(value: Any) -> tuple[str, ...]:
    """The strings of a list; nothing where there is none."""
    entries = value if isinstance(value, list) else []
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip())


def numbers_of(value: Value, *names: str) -> dict[str, float | int | bool]:
    """Those of the named fields that hold a number (or yes and no): scores that the file kept."""
    return {name: found for name in names if isinstance(found := value.get(name), bool | int | float)}


def unpacked(value: Value, name: str) -> Any:
    """A field that some writers left as a string of JSON or of Python.

    Raises:
        Unusable: the string is neither.
    """
    found = value.get(name)
    if not isinstance(found, str):
        return found
    try:
        return loose_value(found)
    except UnreadableJSON as error:
        raise Unusable(name, str(error)) from None


# --- experiments ------------------------------------------------------------------------------

_MARK = re.compile(r"^\s*(?:(?:\*\*|#{1,6}\s*)?[Ss]tep\s*)?\(?(\d{1,3})[.):]\s*(?=\S)")


def experiment_of(plan: Any, *further: tuple[str, Any], risks: Any = None) -> Experiment | None:
    """An experiment plan of any make as steps, with every word of it.

    Args:
        plan: a text (cut at its own numbers, else at its paragraphs), a list, or an object.
        further: (name, text) of parts that come after the steps.
        risks: what may go wrong, likewise text or list.
    """
    steps = (*steps_of(plan), *(f"{name}: {told}" for name, part in further if (told := plain_text(part))))
    return Experiment(steps=steps, risks=steps_of(risks)) if steps else None


def steps_of(plan: Any) -> tuple[str, ...]:
    """The steps of a plan; numbers that only count them are left to whoever shows them."""
    if isinstance(plan, Mapping):
        steps = [f"{name}: {told}" for name, entry in plan.items() if (told := plain_text(entry))]
    elif isinstance(plan, list):
        steps = [told for entry in plan if (told := plain_text(entry))]
    else:
        steps = _cut(plain_text(plan) or "")
    return tuple(_uncounted(steps))


def _cut(text: str) -> list[str]:
    """A text at the lines that begin with 1, 2, 3 …; without them, at its paragraphs."""
    lines = text.split("\n")
    starts, wanted = [], 1
    for number, line in enumerate(lines):
        if (mark := _MARK.match(line)) and int(mark[1]) == wanted:
            starts.append(number)
            wanted += 1
    if len(starts) < 2:
        return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    bounds = [0, *starts, len(lines)]
    parts = ["\n".join(lines[a:b]).strip() for a, b in pairwise(bounds)]
    return [part for part in parts if part]


def _uncounted(steps: list[str]) -> list[str]:
    """Steps without their numbers, if the numbers say no more than their place."""
    marks = [_MARK.match(step) for step in steps]
    ends = [mark.end() for place, mark in enumerate(marks, 1) if mark and int(mark[1]) == place]
    has_stars = any(mark and "**" in mark[0] for mark in marks)
    if len(ends) < len(steps) or has_stars:
        return steps
    return [step[end:] for step, end in zip(steps, ends, strict=True)]
