"""JSON and text from strangers, made safe to keep.

Control characters, lone surrogates, NaN, deep nesting, numbers beyond measure and documents of millions
of values never reach a record. Time and memory grow with the text, not faster.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_DEPTH = 40
"""Levels of lists and objects; what services and idea generators write has fewer than ten."""
MAX_VALUES = 2_000_000
"""Values of one document: some 400 MB of memory at worst."""
MAX_INTEGER = 2**53
"""Whole numbers beyond it are damage: no reader of JSON has to keep them exactly."""
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class UnreadableJSON(ValueError):
    """A value cannot be read; the message says why, in half a sentence."""


class TooDeep(UnreadableJSON):
    """Lists and objects are nested deeper than ``MAX_DEPTH``."""

    def __init__(self) -> None:
        super().__init__(f"it is nested deeper than {MAX_DEPTH} levels")


def clean_text(text: str) -> str:
    """The text without control characters, with plain line ends; lone surrogates become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _UNPRINTABLE.sub("", text))


def clean_value(value: Any, depth: int = 0) -> Any:
    """A JSON value with tidy strings; NaN, infinities and numbers beyond measure become ``None``.

    Raises:
        TooDeep: nested deeper than ``MAX_DEPTH``.
        Unreadable: it is something that JSON does not have.
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
    raise UnreadableJSON(f"it holds {type(value).__name__}, which is no JSON")


def parse_json(text: str | bytes, most_values: int = MAX_VALUES) -> Any:
    """The tidy value of a JSON text.

    Raises:
        Unreadable: it is none, or has more than ``most_values`` values.
    """
    try:
        document = _decoded(text)
        _demand_few(document, most_values)
        return clean_value(json.loads(document, parse_constant=_nothing, parse_int=_whole))
    except json.JSONDecodeError as error:
        raise UnreadableJSON(f"it is no JSON ({error.msg.lower()} at character {error.pos + 1})") from None
    except UnicodeDecodeError as error:
        raise UnreadableJSON(f"it is no UTF-8 text (byte {error.start + 1})") from None
    except RecursionError:
        raise TooDeep from None


def parse_pruned_json(text: str | bytes, most_values: int = MAX_VALUES) -> Any:
    """As ``parse_json``, but what is nested too deep becomes ``None`` and leaves the rest readable."""
    try:
        return parse_json(text, most_values)
    except TooDeep:
        return parse_json(_pruned(_decoded(text)), most_values)


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8-sig") if isinstance(text, bytes) else text


def _pruned(text: str) -> str:
    """The document with null in place of what is nested too deep."""
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


def _demand_few(text: str, most: int) -> None:
    """Refuse a document of too many values before each of them takes 50 bytes and more."""
    number = text.count(",") + text.count("[") + text.count("{")
    if number > most:
        raise UnreadableJSON(f"it has {number:,} values, more than {most:,} are not read")


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= len(str(MAX_INTEGER)) + 1 else None


def _nothing(_: str) -> None:
    return None
