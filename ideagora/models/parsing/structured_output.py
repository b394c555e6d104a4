"""A typed answer out of a model's reply. Pure functions.

What can be read is read: other spellings of a field's name, a wrapper around the object, numbers
and choices written as text. What is not there is not made up: a missing, ``null`` or empty required
field, a cut-off reply, a refusal, or the form or the schema sent back makes the reply ``UnreadableReply``,
and the reason is told to the model when it is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ideagora.models.call import FreeText
from ideagora.models.parsing.coercion import coerce_object, fields_named, fold_name, list_field
from ideagora.models.parsing.json_extract import (
    AmbiguousJSON,
    TruncatedJSON,
    exact,
    extract_values,
    without_thinking,
)

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
LONGEST_REPLY = 1_000_000
"""Characters; several times what any model can write in one reply. A longer one is not read."""
_MOST_VALUES = 200
"""How many JSON values of a reply may be the answer, counted from its end."""
_DEEPEST_WRAPPING = 6
_MOST_COMPLAINTS = 5
_PLACEHOLDER = re.compile(r"<[^<>\n]{0,80}>|\.\.\.|…|string")
_STOPPED_SHORT = {
    "length": "it was cut off at the token limit: answer in fewer words",
    "max_tokens": "it was cut off at the token limit: answer in fewer words",
    "content_filter": "the provider's content filter withheld it",
}


class UnreadableReply(ValueError):
    """A reply holds no typed answer; ``reason`` is one clause that the model can act on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_answer(text: str | None, answer_type: type[A], finish_reason: str | None = None) -> A:
    """The last complete answer of the wanted type that the reply holds.

    Raises:
        Unreadable: there is none; nothing was filled in.
    """
    if finish_reason in _STOPPED_SHORT:
        raise UnreadableReply(_STOPPED_SHORT[finish_reason])
    if text is None or not text.strip():
        raise UnreadableReply("it was empty")
    if len(text) > LONGEST_REPLY:
        raise UnreadableReply(
            f"it has {len(text):,} characters, and over {LONGEST_REPLY:,} are not read: be brief"
        )
    if answer_type is FreeText:
        return cast("A", _free_text(text))
    try:
        return _last_answer(text, extract_values(text), answer_type)
    except (TruncatedJSON, AmbiguousJSON) as error:
        raise UnreadableReply(str(error)) from None
    except RecursionError:
        raise UnreadableReply("its JSON is too deeply nested") from None


def _last_answer(text: str, values: Sequence[Any], answer_type: type[A]) -> A:
    complaints = []
    # An object names its fields; a bare list may be anybody's ("see [1, 2]"), so it comes after them.
    for value in [
        *islice((v for v in reversed(values) if isinstance(v, dict)), _MOST_VALUES),
        *islice((v for v in reversed(values) if isinstance(v, list)), _MOST_VALUES),
    ]:
        try:
            return _answer_in(value, answer_type)
        except UnreadableReply as error:
            complaints.append(error.reason)
    raise UnreadableReply(complaints[0] if complaints else _why_nothing(text))


def _free_text(text: str) -> FreeText:
    """The whole reply; a refusal or thinking alone is no text that was asked for."""
    try:
        said = without_thinking(text).strip()
    except TruncatedJSON as error:
        raise UnreadableReply(str(error)) from None
    if not said:
        raise UnreadableReply("it was empty")
    if is_refusal(said):
        raise UnreadableReply(_why_nothing(said))
    return FreeText(text=said)


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
        except UnreadableReply as error:
            complaint = complaint if number else error.reason
    raise UnreadableReply(complaint)


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
            raise UnreadableReply("it was the JSON schema itself, not an answer that fits it")
        known = fields_named(value, answer_type)
        if known:
            yield value
        alone = len(value) == 1
        inner = [] if known and not alone else [v for v in value.values() if alone or _may_wrap(v)]
        for wrapped in inner:
            yield from _objects(wrapped, answer_type, depth + 1)


def _may_wrap(value: Any) -> bool:
    """Whether the answer may stand inside: an object, one in a list, or one written as text."""
    if isinstance(value, str):
        return value.lstrip()[:1] in ("{", "[") and _may_wrap(exact(value))
    if isinstance(value, list):
        return len(value) == 1 and isinstance(value[0], dict)
    return isinstance(value, dict)


def _objects_of_list(values: list[Any], answer_type: type[BaseModel], depth: int) -> Iterator[dict[str, Any]]:
    if len(values) == 1 and isinstance(values[0], dict):
        yield from _objects(values[0], answer_type, depth + 1)
    if field := list_field(answer_type):
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
    fitted = coerce_object(value, answer_type)
    for place, text in _texts_in(fitted):
        if is_refusal(text):
            raise UnreadableReply(f"the field {place!r} is a refusal ({_short(text)})")
    echoed = [place for place, text in _texts_in(fitted) if _is_echo(text, answer_type)]
    try:
        answer = answer_type.model_validate(fitted)
    except ValidationError as error:
        raise UnreadableReply(_told(echoed, error)) from None
    if echoed:
        raise UnreadableReply(_told(echoed))
    return answer


def _texts_in(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON value with its place, as in ``sources.0.quote``."""
    if isinstance(value, str):
        yield place, value
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, item in inner:
        yield from _texts_in(item, f"{place}.{key}" if place else str(key))


def _is_echo(text: str, answer_type: type[BaseModel]) -> bool:
    """Whether a text is the form that was to be filled in: a placeholder, a field's meaning, its choices."""
    text = " ".join(text.split())
    if _PLACEHOLDER.fullmatch(text):
        return True
    meanings, choices = _form_of(answer_type)
    if any(text.casefold().startswith(choice) for choice in choices):
        return True
    said = fold_name(text)
    bracketed = text.startswith("<") and text.endswith(">")
    return said in meanings or (bracketed and any(meaning in said for meaning in meanings))


@cache
def _form_of(model: type[BaseModel]) -> tuple[frozenset[str], tuple[str, ...]]:
    """What the form for an answer is made of: descriptions of fields (folded), and "a | b | c"."""
    meanings, choices = set[str](), list[str]()
    for field in model.model_fields.values():
        meanings.add(fold_name(field.description or ""))
        for kind in _kinds(field.annotation):
            if get_origin(kind) is Literal and len(get_args(kind)) > 1:
                choices.append(" | ".join(str(option) for option in get_args(kind)).casefold())
            elif isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not model:
                inner = _form_of(kind)
                meanings |= inner[0]
                choices += inner[1]
    return frozenset(meanings - {""}), tuple(choices)


def _kinds(kind: Any) -> Iterator[Any]:
    """A type annotation and those inside it."""
    yield kind
    for inner in get_args(kind) if get_origin(kind) is not Literal else ():
        yield from _kinds(inner)


def _told(echoed: list[str], error: ValidationError | None = None) -> str:
    """The first complaints about an answer, in words for a model."""
    told = {place: f"{_field(place)} holds the form's own words instead of an answer" for place in echoed}
    for detail in error.errors(include_url=False) if error else ():
        place = ".".join(str(part) for part in detail["loc"])
        if not any(f"{other}.".startswith(f"{place}.") for other in echoed):
            told.setdefault(place, _complaint(place, detail["type"], detail["msg"], detail["input"]))
    complaints = list(told.values())
    more = len(complaints) - _MOST_COMPLAINTS
    return "; ".join(complaints[:_MOST_COMPLAINTS] + ([f"and {more} more"] if more > 0 else []))


def _complaint(place: str, kind: str, message: str, said: Any) -> str:
    if kind == "missing" or said is None:
        return f"{_field(place)} is missing, null or empty"
    message = (
        _short(message, 200).replace("a valid tuple", "a list").replace("a valid dictionary", "an object")
    )
    return f"{_field(place)}: {message[:1].lower()}{message[1:]} (got {_quoted(said)})"


def _field(place: str) -> str:
    return f"the field {_short(place)!r}" if place else "the answer"


def _quoted(said: Any) -> str:
    if not isinstance(said, str):
        return _short(repr(said))
    return "'" + re.sub(r"[\"'“”‘’`]", "", _short(said)) + "'"


def _short(text: str, longest: int = 80) -> str:
    """One line without angle brackets: what a model said must not look like a part of the prompt."""
    shown = "".join(c if c.isprintable() and c not in "<>" else " " for c in text[: 4 * longest])
    line = " ".join(shown.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
