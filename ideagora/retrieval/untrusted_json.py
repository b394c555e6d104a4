"""Parses and sanitizes untrusted JSON and text, in linear time and memory.

Removes control characters, lone surrogates, NaN and huge numbers; rejects deep nesting and documents
with millions of values.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_DEPTH = 40
"""Levels of lists and objects; services and idea generators use fewer than ten."""
MAX_VALUES = 2_000_000
"""Values per document; at worst some 400 MB of memory."""
MAX_INTEGER = 2**53
"""Larger integers are not exact in every JSON parser and are treated as invalid."""
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class UnreadableJSON(ValueError):
    """A value cannot be parsed; the message gives the reason as a clause."""


class TooDeep(UnreadableJSON):
    """Lists and objects are nested deeper than ``MAX_DEPTH``."""

    def __init__(self) -> None:
        super().__init__(f"it is nested deeper than {MAX_DEPTH} levels")


def clean_text(text: str) -> str:
    """The text without control characters, with \\n line ends; lone surrogates become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _UNPRINTABLE.sub("", text))


def clean_value(value: Any, depth: int = 0) -> Any:
    """A JSON value with clean strings; NaN, infinities and huge numbers become ``None``.

    Raises:
        TooDeep: it is nested deeper than ``MAX_DEPTH``.
        UnreadableJSON: it has a type that JSON does not have.
    """
    if depth > MAX_DEPTH:
        raise TooDeep
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [clean_value(entry, depth + 1) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    raise UnreadableJSON(f"it contains {type(value).__name__}, which is not a JSON type")


def parse_json(text: str | bytes, max_values: int = MAX_VALUES) -> Any:
    """The sanitized value of a JSON text.

    Raises:
        UnreadableJSON: it is not valid JSON, or has more than ``max_values`` values.
    """
    try:
        document = _decode(text)
        _check_size(document, max_values)
        return clean_value(json.loads(document, parse_constant=_parse_constant, parse_int=_parse_int))
    except json.JSONDecodeError as error:
        raise UnreadableJSON(
            f"it is not valid JSON ({error.msg.lower()} at character {error.pos + 1})"
        ) from None
    except UnicodeDecodeError as error:
        raise UnreadableJSON(f"it is not UTF-8 text (byte {error.start + 1})") from None
    except RecursionError:
        raise TooDeep from None


def parse_pruned_json(text: str | bytes, max_values: int = MAX_VALUES) -> Any:
    """As ``parse_json``, but replaces values that are nested too deep with ``None``."""
    try:
        return parse_json(text, max_values)
    except TooDeep:
        return parse_json(_prune(_decode(text)), max_values)


def _decode(text: str | bytes) -> str:
    return text.decode("utf-8-sig") if isinstance(text, bytes) else text


def _prune(text: str) -> str:
    """The document with null in place of values that are nested too deep."""
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == MAX_DEPTH:
                parts.append(text[start : token.start()])
        elif token[0] in "]}":
            if depth == MAX_DEPTH:
                parts.append("null")
                start = token.end()
            depth -= 1
    return "".join(parts) + text[start:] if depth < MAX_DEPTH else text[:0]


def _check_size(text: str, limit: int) -> None:
    """Reject a document with too many values before parsing it, which takes 50 bytes or more per value."""
    number = text.count(",") + text.count("[") + text.count("{")
    if number > limit:
        raise UnreadableJSON(f"it has {number:,} values; the limit is {limit:,}")


def _parse_int(digits: str) -> int | None:
    return int(digits) if len(digits) <= len(str(MAX_INTEGER)) + 1 else None


def _parse_constant(_: str) -> None:
    return None
