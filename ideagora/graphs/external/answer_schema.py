"""Build a pydantic model from the JSON schema of a class in another process."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

from ideagora.models.redact import one_line

MAX_DEPTH = 20
MAX_SCHEMA_LENGTH = 200_000
"""Characters of a schema."""
_BOUNDS = {
    "minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of", "minLength": "min_length", "maxLength": "max_length",
    "minItems": "min_length", "maxItems": "max_length",
}  # fmt: skip
_PLAIN: dict[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "null": None, "object": dict[str, Any],
    "array": list[Any],
}  # fmt: skip


def build_model(schema: object) -> type[BaseModel]:
    """A pydantic model with the fields of a JSON schema, in order; cached by schema.

    It covers the field types that models are asked for: strings, numbers, choices, lists, objects and
    optional fields. The original class checks any further constraints.

    Raises:
        ValueError: the schema is not an object's, too large, or recursive.
    """
    text = json.dumps(schema, ensure_ascii=False)
    if not isinstance(schema, dict) or len(text) > MAX_SCHEMA_LENGTH:
        raise ValueError(f"schema has {len(text):,} characters or is not an object: use a smaller class")
    return _build_model(text)


@lru_cache(maxsize=64)
def _build_model(text: str) -> type[BaseModel]:
    schema = json.loads(text)
    try:
        return _Builder(schema.get("$defs", {})).model(schema, "Answer", 0)
    except (TypeError, AttributeError, LookupError, RuntimeError) as error:
        raise ValueError(f"schema cannot be used: {one_line(str(error), 200)}") from None


class _Builder:
    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._models: dict[str, type[BaseModel]] = {}

    def model(self, schema: Mapping[str, Any], name: str, depth: int) -> type[BaseModel]:
        if "$ref" in schema:
            return self._model_of(*self._resolve(schema), depth)
        return self._model_of(schema, str(schema.get("title", name)), depth)

    def _resolve(self, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
        key = str(schema["$ref"]).removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        if key not in self._definitions:
            raise ValueError(f"schema refers to {key:.80}, which it does not define")
        return self._definitions[key], key

    def _model_of(self, schema: Mapping[str, Any], name: str, depth: int) -> type[BaseModel]:
        if depth > MAX_DEPTH:
            raise ValueError("schema is recursive or nested too deeply")
        required = schema.get("required", ())
        fields = {}
        for number, (key, part) in enumerate(schema.get("properties", {}).items()):
            kind = self.kind(part, depth + 1)
            options: dict[str, Any] = {"description": _description(part)}
            options |= {_BOUNDS[bound]: part[bound] for bound in _BOUNDS if bound in part}
            if key not in required:
                options["default"] = part.get("default")
                kind = kind if "default" in part else Optional[kind]  # noqa: UP045  (a value)
            field = key if _is_usable(key) else f"field_{number}"
            if field != key:
                options["alias"] = key
            fields[field] = (kind, Field(**options))
        extra = schema.get("additionalProperties")
        config = ConfigDict(extra="forbid" if extra is False else "allow" if extra is True else "ignore")
        model: type[BaseModel] = create_model(name, __config__=config, **fields)  # type: ignore[call-overload]
        model.__doc__ = schema.get("description")
        return model

    def kind(self, schema: Any, depth: int) -> Any:
        """The type of a value."""
        if not isinstance(schema, Mapping):
            return Any
        if "$ref" in schema:
            inner, name = self._resolve(schema)
            if "properties" not in inner:
                return self.kind(inner, depth + 1) if depth <= MAX_DEPTH else Any
            if name not in self._models:
                self._models[name] = self._model_of(inner, name, depth + 1)
            return self._models[name]
        if "const" in schema or "enum" in schema:
            return _choice(schema.get("enum", [schema.get("const")]))
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return Union[tuple(self.kind(option, depth + 1) for option in schema[word])]  # noqa: UP007
        if len(schema.get("allOf", ())) == 1:
            return self.kind(schema["allOf"][0], depth + 1)
        return self._by_type(schema, depth)

    def _by_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if kind == "array" and isinstance(schema.get("items"), Mapping):
            return list[self.kind(schema["items"], depth + 1)]  # type: ignore[misc]
        if kind == "object" and "properties" in schema:
            return self._model_of(schema, str(schema.get("title", "Part")), depth + 1)
        if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
            return dict[str, self.kind(schema["additionalProperties"], depth + 1)]  # type: ignore[misc]
        return _PLAIN.get(str(kind), Any)


def _choice(values: list[Any]) -> Any:
    plain = tuple(value for value in values if isinstance(value, str | int | bool) or value is None)
    return Literal[plain] if plain and len(plain) == len(values) else Any


def _description(part: Any) -> str | None:
    text = part.get("description") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def _is_usable(name: str) -> bool:
    return (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith(("_", "model_"))
        and not hasattr(BaseModel, name)
    )
