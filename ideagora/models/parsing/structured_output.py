"""Parse a model's reply as a typed answer. Pure functions.

Accepts other spellings of field names, wrappers around the object, and numbers and choices written as text.
Nothing is filled in: a missing, ``null`` or empty required field, a cut-off reply, a refusal, or the
answer form or schema sent back raises ``UnreadableReply``, whose reason is sent to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ideagora.models.call import Answer, FreeText, Reply
from ideagora.models.parsing.coercion import coerce_object, fold_name, list_field, match_fields
from ideagora.models.parsing.json_extract import extract_values
from ideagora.models.parsing.json_text import AmbiguousJSON, TruncatedJSON, decode_exact
from ideagora.models.parsing.thinking import without_thinking

A = TypeVar("A", bound=Answer)

_REFUSAL = re.compile(
    r"""^\W*(
        (i['’]?m|i\ am)\ (very\ |so\ |really\ |truly\ )?sorry\b
      | (sorry|apologies|unfortunately)\b[,.]?\ (but\ )?(i|as\ an\ ai)\b
      | (i['’]?m|i\ am)\ (not\ able|unable)\ to\b
      | i\ (can['’]?t|cannot|can\ not|won['’]?t|will\ not)\ (help|assist|comply|provide|fulfil|answer
            |do|support|continue|create|generate|write|engage|discuss|complete|judge|rate|evaluate)
      | as\ an\ ai\b(?!-)
    )""",
    re.I | re.X,
)
_SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_SCHEMA_WORDS = frozenset({"$ref", "anyOf", "allOf", "oneOf", "enum", "const"})
MAX_REPLY = 1_000_000
"""Characters, several times what any model writes in one reply. Longer replies are rejected."""
_MAX_VALUES = 200
"""How many JSON values of a reply are tried, from its end."""
_MAX_WRAPPING = 6
_MAX_COMPLAINTS = 5
_PLACEHOLDER = re.compile(r"<[^<>\n]{0,80}>|\.\.\.|…|string")
_STOPPED_SHORT = {
    "length": "it was cut off at the token limit: answer in fewer words",
    "max_tokens": "it was cut off at the token limit: answer in fewer words",
    "content_filter": "the provider's content filter withheld it",
}


class UnreadableReply(ValueError):
    """A reply contains no typed answer; ``reason`` is a clause that tells the model what to change."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_answer(text: str | None, answer_type: type[A], finish_reason: str | None = None) -> A:
    """The last complete answer of the given type in a reply.

    Raises:
        UnreadableReply: there is none.
    """
    if finish_reason in _STOPPED_SHORT:
        raise UnreadableReply(_STOPPED_SHORT[finish_reason])
    if text is None or not text.strip():
        raise UnreadableReply("it was empty")
    if len(text) > MAX_REPLY:
        raise UnreadableReply(
            f"it has {len(text):,} characters, more than the {MAX_REPLY:,} allowed: be brief"
        )
    if issubclass(answer_type, FreeText):
        return cast("A", _reply(text) if answer_type is Reply else _free_text(text))
    try:
        return _last_answer(text, extract_values(text), answer_type)
    except (TruncatedJSON, AmbiguousJSON) as error:
        raise UnreadableReply(str(error)) from None
    except RecursionError:
        raise UnreadableReply("its JSON is too deeply nested") from None


def _last_answer(text: str, values: Sequence[Any], answer_type: type[A]) -> A:
    complaints = []
    # Objects first: a bare list may be part of the prose ("see [1, 2]").
    for value in [
        *islice((v for v in reversed(values) if isinstance(v, dict)), _MAX_VALUES),
        *islice((v for v in reversed(values) if isinstance(v, list)), _MAX_VALUES),
    ]:
        try:
            return _answer_in(value, answer_type)
        except UnreadableReply as error:
            complaints.append(error.reason)
    if not complaints and not is_refusal(text):
        read = getattr(answer_type, "fields_of_prose", None)  # an external agent's schema is no ``Answer``
        fields = None if read is None else read(without_thinking(text))
        if fields is not None:
            return _validated(fields, answer_type)
    raise UnreadableReply(complaints[0] if complaints else _no_answer_reason(text))


def _free_text(text: str) -> FreeText:
    """The whole reply; raises if it is only thinking, or a refusal."""
    content = _reply(text).text
    if is_refusal(content):
        raise UnreadableReply(_no_answer_reason(content))
    return FreeText(text=content)


def _reply(text: str) -> Reply:
    """The whole reply without its thinking, and what was left out; raises if it is only thinking."""
    try:
        content = without_thinking(text).strip()
    except TruncatedJSON as error:
        raise UnreadableReply(str(error)) from None
    if not content:
        raise UnreadableReply("it was empty")
    thinking = text.strip().removesuffix(content).strip()
    return Reply(text=content, reasoning="" if thinking == text.strip() else thinking)


def is_refusal(text: str) -> bool:
    """Whether a text begins like a refusal."""
    return _REFUSAL.match(text) is not None


def _no_answer_reason(text: str) -> str:
    if is_refusal(text):
        return f"it was a refusal ({_short(text)})"
    return "it contained no readable JSON object"


def _answer_in(value: Any, answer_type: type[A]) -> A:
    complaint = f"the JSON has none of the fields {', '.join(answer_type.model_fields)}"
    for number, candidate in enumerate(_objects(value, answer_type)):
        try:
            return _validated(candidate, answer_type)
        except UnreadableReply as error:
            complaint = complaint if number else error.reason
    raise UnreadableReply(complaint)


def _objects(value: Any, answer_type: type[BaseModel], depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects that may be the answer: the value itself, then objects inside it."""
    if depth > _MAX_WRAPPING:
        return
    if isinstance(value, str):
        yield from (
            _objects(decode_exact(value), answer_type, depth + 1) if decode_exact(value) is not None else ()
        )
    elif isinstance(value, list):
        yield from _objects_of_list(value, answer_type, depth)
    elif isinstance(value, dict):
        if _is_schema(value, answer_type):
            raise UnreadableReply("it was the JSON schema itself, not an answer that matches it")
        known = match_fields(value, answer_type)
        if known:
            yield value
        alone = len(value) == 1
        names_a_field = any(fold_name(key) in map(fold_name, answer_type.model_fields) for key in value)
        inner = [] if names_a_field and not alone else [v for v in value.values() if alone or _may_wrap(v)]
        for wrapped in inner:
            yield from _objects(wrapped, answer_type, depth + 1)


def _may_wrap(value: Any) -> bool:
    """Whether a value may contain the answer: an object, a list of one object, or either as JSON text."""
    if isinstance(value, str):
        return value.lstrip()[:1] in ("{", "[") and _may_wrap(decode_exact(value))
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
    coerced = coerce_object(value, answer_type)
    for place, text in _texts_in(coerced):
        if is_refusal(text):
            raise UnreadableReply(f"the field {place!r} is a refusal ({_short(text)})")
    echoed = [place for place, text in _texts_in(coerced) if _is_echo(text, answer_type)]
    try:
        answer = answer_type.model_validate(coerced)
    except ValidationError as error:
        raise UnreadableReply(_complaints(echoed, error)) from None
    if echoed:
        raise UnreadableReply(_complaints(echoed))
    return answer


def _texts_in(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON value with its path, as in ``sources.0.quote``."""
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
    """Whether a text repeats the answer form: a placeholder, a field's description, or its choices."""
    text = " ".join(text.split())
    if _PLACEHOLDER.fullmatch(text):
        return True
    meanings, choices = _form_of(answer_type)
    if any(text.casefold().startswith(choice) for choice in choices):
        return True
    folded = fold_name(text)
    bracketed = text.startswith("<") and text.endswith(">")
    return folded in meanings or (bracketed and any(meaning in folded for meaning in meanings))


@cache
def _form_of(model: type[BaseModel]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The texts of an answer form: folded descriptions of fields, and choices as "a | b | c"."""
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
    """A type annotation and the annotations inside it."""
    yield kind
    for inner in get_args(kind) if get_origin(kind) is not Literal else ():
        yield from _kinds(inner)


def _complaints(echoed: list[str], error: ValidationError | None = None) -> str:
    """The first complaints about an answer, worded for the model."""
    by_place = {place: f"{_field(place)} repeats the form instead of answering it" for place in echoed}
    for detail in error.errors(include_url=False) if error else ():
        place = ".".join(str(part) for part in detail["loc"])
        if not any(f"{other}.".startswith(f"{place}.") for other in echoed):
            by_place.setdefault(place, _complaint(place, detail["type"], detail["msg"], detail["input"]))
    complaints = list(by_place.values())
    more = len(complaints) - _MAX_COMPLAINTS
    return "; ".join(complaints[:_MAX_COMPLAINTS] + ([f"and {more} more"] if more > 0 else []))


def _complaint(place: str, kind: str, message: str, value: Any) -> str:
    if kind == "missing" or value is None:
        return f"{_field(place)} is missing, null or empty"
    message = (
        _short(message, 200).replace("a valid tuple", "a list").replace("a valid dictionary", "an object")
    )
    return f"{_field(place)}: {message[:1].lower()}{message[1:]} (got {_quote(value)})"


def _field(place: str) -> str:
    return f"the field {_short(place)!r}" if place else "the answer"


def _quote(value: Any) -> str:
    if not isinstance(value, str):
        return _short(repr(value))
    return "'" + re.sub(r"[\"'“”‘’`]", "", _short(value)) + "'"


def _short(text: str, max_length: int = 80) -> str:
    """One line without angle brackets, so that model output does not look like a part of the prompt."""
    shown = "".join(c if c.isprintable() and c not in "<>" else " " for c in text[: 4 * max_length])
    line = " ".join(shown.split())
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"
