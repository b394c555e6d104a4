"""A typed answer out of a model's reply. Pure functions.

What can be read is read: other spellings of a field's name, a wrapper around the object, numbers
and choices written as text. What is not there is not made up: a missing, ``null`` or empty required
field, a cut-off reply, a refusal, or the schema itself sent back makes the reply ``Unreadable``, and
the reason is told to the model when it is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ideagora.models.fitting import fields_named, fitted_object, list_field
from ideagora.models.json_text import CutOff, exact, values_in

A = TypeVar("A", bound=BaseModel)

_REFUSAL = re.compile(
    r"""^\W*(
        (i['’]?m|i\ am)\ (very\ |so\ |really\ |truly\ )?sorry\b
      | (sorry|apologies|unfortunately)\b[,.]?\ (but\ )?(i|as\ an\ ai)\b
      | (i['’]?m|i\ am)\ (not\ able|unable)\ to\b
      | i\ (can['’]?t|cannot|can\ not|won['’]?t|will\ not)\ (help|assist|comply|provide|fulfil|answer
            |do|support|continue|create|generate|write|engage|discuss|complete|judge|rate|evaluate)
      | as\ an\ ai\b
    )""",
    re.I | re.X,
)
_SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_SCHEMA_WORDS = frozenset({"$ref", "anyOf", "allOf", "oneOf", "enum", "const"})
_WRAPPERS = ("answer", "properties", "arguments", "parameters", "output", "result", "response")
_DEEPEST_WRAPPING = 4
_STOPPED_SHORT = {
    "length": "it was cut off at the token limit: answer in fewer words",
    "max_tokens": "it was cut off at the token limit: answer in fewer words",
    "content_filter": "the provider's content filter withheld it",
}


class Unreadable(ValueError):
    """A reply holds no typed answer; ``reason`` is one clause that the model can act on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_answer(text: str | None, answer_type: type[A], finish_reason: str | None = None) -> A:
    """The last complete answer of the wanted type that the reply holds.

    Raises:
        Unreadable: there is none; nothing was filled in.
    """
    if finish_reason in _STOPPED_SHORT:
        raise Unreadable(_STOPPED_SHORT[finish_reason])
    if text is None or not text.strip():
        raise Unreadable("it was empty")
    try:
        values = values_in(text)
    except CutOff as error:
        raise Unreadable(str(error)) from None
    complaints = []
    for value in reversed(values):
        try:
            return _answer_in(value, answer_type)
        except Unreadable as error:
            complaints.append(error.reason)
    raise Unreadable(complaints[0] if complaints else _why_nothing(text))


def is_refusal(text: str) -> bool:
    """Whether a text begins as refusals do."""
    return _REFUSAL.match(text) is not None


def _why_nothing(text: str) -> str:
    if is_refusal(text):
        return f"it was a refusal ({_short(text)})"
    return "it held no JSON object that can be read"


def _answer_in(value: Any, answer_type: type[A]) -> A:
    complaint = f"the JSON has none of the fields {', '.join(answer_type.model_fields)}"
    for number, candidate in enumerate(_objects(value, answer_type)):
        try:
            return _validated(candidate, answer_type)
        except Unreadable as error:
            complaint = complaint if number else error.reason
    raise Unreadable(complaint)


def _objects(value: Any, answer_type: type[BaseModel], depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects that could be the answer: the value itself, then what it wraps."""
    if depth > _DEEPEST_WRAPPING:
        return
    if isinstance(value, str):
        yield from _objects(exact(value), answer_type, depth + 1) if exact(value) is not None else ()
    elif isinstance(value, list):
        yield from _objects_of_list(value, answer_type, depth)
    elif isinstance(value, dict):
        if _is_schema(value, answer_type):
            raise Unreadable("it was the JSON schema itself, not an answer that fits it")
        known = fields_named(value, answer_type)
        if known:
            yield value
        inner = list(value.values()) if len(value) == 1 else []
        if not known:
            inner = inner or [value[key] for key in _WRAPPERS if key in value]
        for wrapped in inner:
            yield from _objects(wrapped, answer_type, depth + 1)


def _objects_of_list(values: list[Any], answer_type: type[BaseModel], depth: int) -> Iterator[dict[str, Any]]:
    only = values[0] if len(values) == 1 else None
    if isinstance(only, dict) and (not list_field(answer_type) or fields_named(only, answer_type)):
        yield from _objects(only, answer_type, depth + 1)
    elif field := list_field(answer_type):
        yield {field: values}


def _is_schema(value: dict[str, Any], answer_type: type[BaseModel]) -> bool:
    if "$defs" in value or "$schema" in value:
        return True
    properties = value.get("properties")
    if "properties" in answer_type.model_fields or not isinstance(properties, dict):
        return False
    return any(_describes_a_type(described) for described in properties.values())


def _describes_a_type(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return bool(_SCHEMA_WORDS & value.keys()) or (isinstance(kind, str) and kind in _SCHEMA_TYPES)


def _validated(value: dict[str, Any], answer_type: type[A]) -> A:
    fitted = fitted_object(value, answer_type)
    for name, field in answer_type.model_fields.items():
        text = fitted.get(name)
        if field.annotation is str and isinstance(text, str) and is_refusal(text):
            raise Unreadable(f"the field {name!r} is a refusal ({_short(text)})")
    try:
        return answer_type.model_validate(fitted)
    except ValidationError as error:
        raise Unreadable(_told(error)) from None


def _told(error: ValidationError) -> str:
    """The first complaints of a validation, in words for a model."""
    complaints = []
    for detail in error.errors(include_url=False)[:3]:
        place = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "missing" or detail["input"] is None:
            complaints.append(f"the field {place!r} is missing, null or empty")
        else:
            said = detail["msg"][:1].lower() + detail["msg"][1:]
            complaints.append(f"the field {place!r}: {said} (got {_short(repr(detail['input']))})")
    return "; ".join(complaints)


def _short(text: str, longest: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
