"""Coerce JSON values to the field types of a pydantic model, where only one reading is possible.

Every function returns the value in the form that the type requires, or leaves it unchanged so that pydantic
rejects it. ``None`` stands for an empty value (null, blank text, "N/A"). NaN and the infinities are no value
of any type, not even of an optional one: where null is an answer, a failed computation must not become it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ideagora.models.parsing.json_text import decode_exact, html_unescaped

_EMPTY = re.compile(
    r"""[\s("'*`\[]*+(none|null|undefined|n/a|not[ ](available|applicable)|[-–—]++)?[\s)"'*`\]]*+\.?\s*+""",
    re.I,
)
_PLACEHOLDER = re.compile(r"<[^<>\n]*>|\.\.\.|…|string")
"""Placeholders of the answer form: lines that must not be joined into a text, where they would be hidden."""
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#\d{2,6}|#x[0-9a-fA-F]{2,5});")
_NUMBER = re.compile(r"[-+]?\d++(?:\.\d++)?(?:[eE][-+]?\d++)?")
_BRACKETED = re.compile(r"\[(\d++)\]")
"""The number of a paper as prompts write it."""
_MAX_EMPTY, _MAX_NAME, _MAX_NUMBER = 30, 200, 300
"""Maximum characters of a text that may be empty, of a cached field name, and of a number written as text."""
_LISTS = (list, tuple, set, frozenset, Sequence, Iterable)
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def coerce_object(value: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The model's fields of an object, under the model's own names; unknown keys are dropped."""
    fields: dict[str, Any] = {}
    for name, key in match_fields(value, model).items():
        field = model.model_fields[name]
        coerced = coerce_value(value[key], field.annotation)
        if coerced is None and not field.is_required() and not _is_optional(field.annotation):
            continue
        fields[field.alias or name] = coerced
    return fields


def match_fields(value: Mapping[str, Any], model: type[BaseModel]) -> dict[str, str]:
    """Field name -> the object's key for it: the same, or the only one up to case and punctuation."""
    keys: dict[str, str] = {}
    for name, field in model.model_fields.items():
        exact_keys = [key for key in (name, field.alias) if key is not None and key in value]
        similar = [key for key in value if fold_name(key) == fold_name(name)]
        if exact_keys:
            keys[name] = exact_keys[0]
        elif len(similar) == 1 and similar[0] not in model.model_fields:
            keys[name] = similar[0]
    return keys


def list_field(model: type[BaseModel]) -> str | None:
    """The field that a bare list must be: the model's only list, if no other field is required."""
    lists = [name for name, field in model.model_fields.items() if _is_list(field.annotation)]
    others = [n for n, f in model.model_fields.items() if f.is_required() and n not in lists]
    return lists[0] if len(lists) == 1 and not others else None


def fold_name(name: str) -> str:
    """A name in lower case without spaces and punctuation."""
    return _fold_cached(name) if len(name) <= _MAX_NAME else _fold(name)


@lru_cache(maxsize=4096)  # every reply has the same few field names
def _fold_cached(name: str) -> str:
    return _fold(name)


def _fold(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def coerce_value(value: Any, kind: Any) -> Any:
    """A value in the form that a type annotation requires."""
    if isinstance(value, float) and not math.isfinite(value):
        return value  # ``Answer`` rejects it
    origin = get_origin(kind)
    if origin is Annotated:
        return coerce_value(value, get_args(kind)[0])
    if origin in (Union, UnionType):
        kinds = [each for each in get_args(kind) if each is not NoneType]
        return coerce_value(value, kinds[0]) if len(kinds) == 1 else value
    if origin is Literal:
        return _coerce_choice(value, get_args(kind))
    if origin in _LISTS or kind in _LISTS:
        return _coerce_list(value, origin, get_args(kind))
    if origin in (dict, Mapping):
        return _coerce_mapping(value, get_args(kind))
    return _coerce_plain(value, kind) if isinstance(kind, type) else value


def _coerce_plain(value: Any, kind: type) -> Any:
    if issubclass(kind, BaseModel):
        return _coerce_model(value, kind)
    if issubclass(kind, Enum):
        return _coerce_choice(value, tuple(member.value for member in kind))
    if kind is str:
        return _coerce_text(value)
    if kind is bool:
        return _coerce_truth(value)
    if kind in (int, float):
        return _coerce_number(value, kind)
    return value


def _coerce_model(value: Any, model: type[BaseModel]) -> Any:
    value = _decode(value)
    if not isinstance(value, Mapping):
        return value
    fields = coerce_object(value, model)
    return fields if fields or not model.model_fields else None


def _coerce_list(value: Any, origin: Any, kinds: tuple[Any, ...]) -> Any:
    value = _decode(value)
    if not isinstance(value, list) or not kinds:
        return value
    if origin is tuple and Ellipsis not in kinds:
        if len(kinds) != len(value):
            return value
        return [coerce_value(item, kind) for item, kind in zip(value, kinds, strict=True)]
    if _is_text(kinds[0]):
        return [_clean_text(item) for item in value if not _is_empty(item)]
    return [coerce_value(item, kinds[0]) for item in value]


def _coerce_mapping(value: Any, kinds: tuple[Any, ...]) -> Any:
    value = _decode(value)
    if not isinstance(value, Mapping) or not kinds:
        return value
    if value.get("type") == "object" and {"properties", "additionalProperties"} & value.keys():
        return None  # the schema itself
    keys = [coerce_value(key, kinds[0]) for key in value]
    if len(set(keys)) < len(keys):
        return value
    return {key: coerce_value(item, kinds[1]) for key, item in zip(keys, value.values(), strict=True)}


def _decode(value: Any) -> Any:
    """Decode a list or an object that is JSON text inside the JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        inner = decode_exact(value)
        return value if inner is None else inner
    return value


def _is_empty(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    text = value.strip()
    return len(text) <= _MAX_EMPTY and _EMPTY.fullmatch(text) is not None


def _coerce_text(value: Any) -> Any:
    """A text; a list of texts becomes its lines."""
    if not isinstance(value, list):
        return _clean_text(value)
    lines = [_clean_text(line) for line in value if not _is_empty(line)]
    if any(not isinstance(line, str) or _PLACEHOLDER.fullmatch(line.strip()) for line in lines):
        return value
    return "\n".join(lines) or None


def _clean_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if _is_empty(value):
        return None
    return html_unescaped(value) if _ENTITY.search(value) else value


def _coerce_choice(value: Any, options: tuple[Any, ...]) -> Any:
    """The option that equals the value up to case, spaces and punctuation."""
    if any(value == option and type(value) is type(option) for option in options):
        return value
    if isinstance(value, list) and [type(item) for item in value] == [int]:
        return value[0]  # as prompts write numbers: [0]
    if not isinstance(value, str | int) or isinstance(value, bool):
        return value
    matches = [option for option in options if fold_name(str(option)) == fold_name(str(value)) != ""]
    if len(matches) == 1:
        return matches[0]
    return None if _is_empty(value) else value


def _coerce_truth(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return None if _is_empty(value) else _TRUTH.get(fold_name(value), value)


def _coerce_number(value: Any, kind: type) -> Any:
    """A number, also one written as text; other texts in a form that pydantic rejects."""
    if isinstance(value, bool):
        return str(value)  # pydantic reads true as 1
    if kind is int and isinstance(value, list) and [type(item) for item in value] == [int]:
        return value[0]  # prompts write the number of a paper as [0]
    if not isinstance(value, str) or len(value) > _MAX_NUMBER:
        return value
    if _is_empty(value):
        return None
    text = value.strip().rstrip(".")
    if kind is int and (number := _BRACKETED.fullmatch(text)):
        return number[1]
    return text if _NUMBER.fullmatch(text) else repr(text)  # pydantic reads 0-2 as -2


def _is_text(kind: Any) -> bool:
    return kind is str or (get_origin(kind) is Annotated and get_args(kind)[0] is str)


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _is_list(kind: Any) -> bool:
    kinds = [part for part in get_args(kind) if part is not NoneType] if _is_optional(kind) else [kind]
    return any(get_origin(part) in _LISTS or part in _LISTS for part in kinds)
