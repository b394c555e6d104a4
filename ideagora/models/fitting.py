"""Fit a JSON value to the types of a pydantic model, where only one reading is possible.

Every function returns the value in the form that the type asks for, or leaves it as it is so that
pydantic refuses it. ``None`` stands for "nothing was said" (null, empty text, NaN, a placeholder).
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ideagora.models.json_text import exact

Metadata = tuple[Any, ...]

_NOTHING = frozenset({"", "...", "…", "null", "undefined", "string"})
_PLACEHOLDER = re.compile(r"<[^<>\n]{1,80}>")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#39|#34);")
_PERCENT = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*%")
_OUT_OF = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*(?:/|out of)\s*(\d+(?:\.\d+)?)")
_LISTS = (list, tuple, set, frozenset, Sequence, Iterable)


def fitted_object(value: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The model's fields out of an object, under the model's own names; unknown keys fall away."""
    fitted: dict[str, Any] = {}
    for name, key in fields_named(value, model).items():
        field = model.model_fields[name]
        said = _said(value[key], field)
        if said is None and not field.is_required() and not _takes_none(field.annotation):
            continue
        fitted[field.alias or name] = said
    return fitted


def fields_named(value: Mapping[str, Any], model: type[BaseModel]) -> dict[str, str]:
    """Field name -> the object's key that names it: exactly, or alone up to case and punctuation."""
    named: dict[str, str] = {}
    for name, field in model.model_fields.items():
        exactly = [key for key in (name, field.alias) if key is not None and key in value]
        nearly = [key for key in value if folded(key) == folded(name)]
        if exactly:
            named[name] = exactly[0]
        elif len(nearly) == 1 and nearly[0] not in model.model_fields:
            named[name] = nearly[0]
    return named


def list_field(model: type[BaseModel]) -> str | None:
    """The model's one list field, when a bare list can only be that: no other field is required."""
    lists = [name for name, field in model.model_fields.items() if _is_list(field.annotation)]
    others = [n for n, f in model.model_fields.items() if f.is_required() and n not in lists]
    return lists[0] if len(lists) == 1 and not others else None


def folded(name: str) -> str:
    """A name without case, spaces and punctuation."""
    return "".join(character for character in name.casefold() if character.isalnum())


def _said(value: Any, field: FieldInfo) -> Any:
    if isinstance(value, str) and field.description and value.strip() == field.description.strip():
        return None  # the schema's own words sent back
    return fitted(value, field.annotation, tuple(field.metadata))


def fitted(value: Any, kind: Any, metadata: Metadata = ()) -> Any:
    """A value in the form that a type annotation asks for."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *more = get_args(kind)
        return fitted(value, inner, metadata + _flat(more))
    if origin in (Union, UnionType):
        return _fitted_union(value, get_args(kind), metadata)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if origin is Literal:
        return _choice(value, get_args(kind))
    if origin in _LISTS or kind in _LISTS:
        return _fitted_list(value, origin, get_args(kind))
    if origin in (dict, Mapping):
        return _fitted_mapping(value, get_args(kind))
    return _fitted_plain(value, kind, metadata) if isinstance(kind, type) else value


def _flat(metadata: Iterable[Any]) -> Metadata:
    """Bounds as such: inside ``Annotated`` pydantic leaves them in a ``Field``."""
    return tuple(
        part for item in metadata for part in (item.metadata if isinstance(item, FieldInfo) else [item])
    )


def _fitted_plain(value: Any, kind: type, metadata: Metadata) -> Any:
    if issubclass(kind, BaseModel):
        return _fitted_model(value, kind)
    if issubclass(kind, Enum):
        return _choice(value, tuple(member.value for member in kind))
    if kind is str:
        return _text(value)
    if kind is bool:
        return _truth(value)
    if kind in (int, float):
        return _number(value, metadata)
    return value


def _fitted_union(value: Any, kinds: tuple[Any, ...], metadata: Metadata) -> Any:
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1:
        return fitted(value, others[0], metadata)
    return value


def _fitted_model(value: Any, model: type[BaseModel]) -> Any:
    value = _decoded(value)
    if not isinstance(value, Mapping):
        return value
    known = fitted_object(value, model)
    return known if known or not model.model_fields else None


def _fitted_list(value: Any, origin: Any, kinds: tuple[Any, ...]) -> Any:
    value = _decoded(value)
    if not isinstance(value, list) or not kinds:
        return value
    if origin is tuple and Ellipsis not in kinds:
        if len(kinds) != len(value):
            return value
        return [fitted(item, kind) for item, kind in zip(value, kinds, strict=True)]
    return [fitted(item, kinds[0]) for item in value]


def _fitted_mapping(value: Any, kinds: tuple[Any, ...]) -> Any:
    value = _decoded(value)
    if not isinstance(value, Mapping) or not kinds:
        return value
    if value.get("type") == "object" and {"properties", "additionalProperties"} & value.keys():
        return None  # a schema sent back
    keys = [fitted(key, kinds[0]) for key in value]
    if len(set(keys)) < len(keys):
        return value
    return {key: fitted(item, kinds[1]) for key, item in zip(keys, value.values(), strict=True)}


def _decoded(value: Any) -> Any:
    """A list or an object that came as JSON text inside the JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        inner = exact(value)
        return value if inner is None else inner
    return value


def _text(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    if value.strip() in _NOTHING or _PLACEHOLDER.fullmatch(value.strip()):
        return None
    return html.unescape(value) if _ENTITY.search(value) else value


def _choice(value: Any, options: tuple[Any, ...]) -> Any:
    """The option that is meant, up to case and punctuation; a doubtful one is left to be refused."""
    if any(value == option and type(value) is type(option) for option in options):
        return value
    if not isinstance(value, str | int) or isinstance(value, bool):
        return value
    if _text(value) is None:
        return None
    meant = [option for option in options if folded(str(option)) == folded(str(value)) != ""]
    return meant[0] if len(meant) == 1 else value


def _truth(value: Any) -> Any:
    if isinstance(value, str):
        if _text(value) is None:
            return None
        return {"true": True, "yes": True, "false": False, "no": False}.get(folded(value), value)
    return value


def _number(value: Any, metadata: Metadata) -> Any:
    """A number, also one written as text; ``80%`` and ``8/10`` only where the bound says of what."""
    if isinstance(value, bool):
        return str(value)  # pydantic would read true as 1
    if not isinstance(value, str):
        return value
    text = value.strip().rstrip(".")
    if _text(value) is None or text.casefold() in ("nan", "inf", "-inf", "infinity", "-infinity"):
        return None
    most = next((bound.le for bound in metadata if isinstance(bound, Le)), None)
    if (percent := _PERCENT.fullmatch(text)) and most in (1, 100):
        return float(percent[1]) * float(str(most)) / 100
    if (fraction := _OUT_OF.fullmatch(text)) and most == float(fraction[2]):
        return float(fraction[1])
    return text


def _takes_none(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _is_list(kind: Any) -> bool:
    kinds = [part for part in get_args(kind) if part is not NoneType] if _takes_none(kind) else [kind]
    return any(get_origin(part) in _LISTS or part in _LISTS for part in kinds)
