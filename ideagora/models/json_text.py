"""JSON values inside the text of a reply. Pure functions.

A value is found by its brackets, not by fences: fences, tags and prose around it need no rules of
their own, and a fence inside a string does no harm. Exact JSON is read exactly; near-JSON (single
quotes, trailing commas, comments, Python literals) goes through ``json_repair``. That library also
closes what was cut off, which would invent an ending, so it only ever sees text whose brackets and
quotes we have found to be closed, and it runs in its strict mode.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

OPENERS = {"{": "}", "[": "]"}
QUOTES = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’'", "’": "’'"}
MOST_NESTED = 100
MOST_UNCLOSED = 50
"""Bounds on hostile text: brackets inside brackets, and brackets that never close."""

_THINKING = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_THOUGHT = re.compile(rf"^\s*<({_THINKING})>.*?</\1>", re.I | re.S | re.M)
_THOUGHT_BEFORE = re.compile(rf"\A.*</({_THINKING})>[ \t]*(?=\n|\Z|[{{\[`<])", re.I | re.S)
_THOUGHT_UNCLOSED = re.compile(rf"^\s*<({_THINKING})>", re.I | re.M)
_JSON_START = re.compile(r"""\{\s*(["'“”‘]|\w+\s*:)|\[\s*["'“‘{\[]""")
_OPENER = re.compile(r"[{\[]")
_SPACE = re.compile(r"\s*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.S)


class CutOff(ValueError):
    """A JSON value begins in the text and never ends."""


class Ambiguous(ValueError):
    """One object gives the same key two different values."""


def values_in(text: str) -> list[Any]:
    """All JSON objects and lists that the text holds outside of its thinking, in order.

    Raises:
        CutOff: a value begins and never ends, or the reply ends inside its thinking.
        Ambiguous: there is nothing but an object that contradicts itself.
    """
    text = text.replace("\ufeff", "").replace("\u200b", "").strip()
    whole = exact(text)
    if whole is not None:
        return values_in(whole) if isinstance(whole, str) else [whole]
    spoken = without_thinking(text)
    values = _scanned(spoken)
    if not values and "&quot;" in spoken:  # escaped by a tool on the way
        values = _scanned(html.unescape(spoken))
    return values


def exact(text: str) -> Any | None:
    """The text as one exact JSON value; ``None`` when it is something else (or is ``null``).

    Line breaks inside strings are let through; NaN and the infinities become ``null``.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def without_thinking(text: str) -> str:
    """The reply without its thinking blocks; also where a chat template ate the opening tag.

    Tags count only at the start of a line: an answer may well speak about ``<think>`` tokens.
    """
    text = _THOUGHT.sub("", text)
    text = _THOUGHT_BEFORE.sub("", text)
    if _THOUGHT_UNCLOSED.search(text):
        raise CutOff("the reply ends inside its thinking")
    return text


def _scanned(text: str) -> list[Any]:
    found: list[Any] = []
    contradiction: Ambiguous | None = None
    position = unclosed = 0
    while unclosed < MOST_UNCLOSED and (opener := _OPENER.search(text, position)):
        start = opener.start()
        try:
            value, position = _value_at(text, start)
        except Ambiguous as error:
            value, position, contradiction = None, end_of(text, start) or start + 1, error
        if value is not None:
            found.append(value)
        elif position == start + 1:
            unclosed += 1
    if contradiction is not None and not found:
        raise contradiction
    return found


def _value_at(text: str, start: int) -> tuple[Any | None, int]:
    """The value that begins at an opening bracket, or ``None``, and where to look on."""
    try:
        return _DECODER.raw_decode(text, start)
    except Ambiguous:
        raise
    except (ValueError, RecursionError):
        pass
    end = end_of(text, start)
    is_json = _JSON_START.match(text, start) is not None
    if end is not None:
        return (_repaired(text[start:end]), end) if is_json else (None, start + 1)
    if is_json:
        raise CutOff("the JSON is not complete: a bracket or a quote is never closed")
    return None, start + 1


def _repaired(text: str) -> Any | None:
    import json_repair

    try:
        value = json_repair.loads(text, strict=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def end_of(text: str, start: int) -> int | None:
    """Where the value that begins at ``start`` ends; ``None`` when brackets or quotes don't close."""
    expected: list[str] = []
    position = start
    while position < len(text) and len(expected) <= MOST_NESTED:
        character = text[position]
        if character in OPENERS:
            expected.append(OPENERS[character])
        elif character in "}]":
            if expected.pop() != character:
                return None
            if not expected:
                return position + 1
        elif character in QUOTES and _opens_string(text, position):
            string_end = _string_end(text, position)
            if string_end is None:
                return None
            position = string_end
            continue
        elif comment := _COMMENT.match(text, position):
            position = comment.end()
            continue
        position += 1
    return None


def _opens_string(text: str, position: int) -> bool:
    """Straight double quotes always do; the others only where a key or value may begin."""
    if text[position] == '"':
        return True
    before = position - 1
    while before > 0 and text[before].isspace():
        before -= 1
    return text[before] in "{[,:"


def _string_end(text: str, start: int) -> int | None:
    """After the closing quote: the first one that something of JSON's own follows.

    So a quotation inside a string that somebody forgot to escape does not end it.
    """
    closers = QUOTES[text[start]]
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        if text[position] in closers and _ends_string(text, position):
            return position + 1
        position += 1
    return None


def _ends_string(text: str, position: int) -> bool:
    space = _SPACE.match(text, position + 1)
    following = text[space.end() : space.end() + 1] if space else ""
    return following in tuple(",:}]/#")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read and read[key] != value:
            raise Ambiguous(f"the field {key!r} is given twice with different values")
        read[key] = value
    return read


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=lambda _: None)
