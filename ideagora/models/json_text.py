"""JSON values inside the text of a reply. Pure functions.

A value is found by its brackets, not by fences: fences, tags and prose around it need no rules of
their own, and a fence inside a string does no harm. Exact JSON is read exactly; near-JSON (single
quotes, trailing commas, comments, Python literals) goes through ``json_repair``. That library also
closes what was cut off, which would invent an ending, and guesses anew where a string ends, which
would cut one at a comma. So it only ever sees text whose brackets and quotes we have found to be
closed, without their strings, and it runs in its strict mode.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
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
_COMMENTS = r"\s*(?:(?://|#)[^\n]*\n\s*|/\*.*?\*/\s*)*"
_JSON_START = re.compile(rf"""\{{{_COMMENTS}(["'“‘”]|\w+\s*:)|\[{_COMMENTS}["'“‘{{\[]""", re.S)
_OPENER = re.compile(r"[{\[]")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.S)
_WORD = r"(?:true|false|null|undefined|NaN|-?Infinity|True|False|None)\b"
_KEY = r"""(?:["'“”‘’}}\]/#]|[A-Za-z_*][\w*-]*\s*:|$)"""
_VALUE = rf"""(?:["'“”‘’{{\[}}\]/#]|\.\.\.|-?\d|{_WORD}|$)"""
_AFTER_STRING = {
    "}": re.compile(rf"\s*(?:[:}}\]/#]|,\s*{_KEY}|\+\s*[\"'])|\s*\n\s*{_KEY}|\s+[\"'“‘][\w -]+[\"'”’]\s*:"),
    "]": re.compile(rf"\s*(?:[}}\]/#]|,\s*{_VALUE}|\+\s*[\"'])|\s*\n\s*[\"'“‘]"),
}
"""What follows a string's last quote, inside an object and inside a list."""
_BETWEEN = re.compile(rf"""(?:[\s{{}}\[\],:]|""|-?\d[\d.eE+-]*|{_WORD}|[A-Za-z_*][\w*-]*(?=\s*:))*""")
_STAND_IN = re.compile(r'"§\d+"')
_COMMAND = re.compile(
    r"""(?<!\\)((?:\\\\)*)\\(?=
        (?: tau|theta|times|text|textbf|textit|texttt|tilde|top|triangle
          | beta|bar|begin|big|Big|bigl|bigr|binom|bmod|boldsymbol|bot|bullet
          | frac|forall|fbox|nabla|neq|notin|rho|rangle|right|rightarrow|rceil|rfloor )
        (?![A-Za-z]) )""",
    re.X,
)
"""A command of a formula whose backslash nobody escaped, and which JSON would read as a tab, a line
break or the like and a rest (``\\tau``, ``\\beta``, ``\\frac``)."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", "_": "_"} | {
    c: c for c in "\"'/\\"
}


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
    text = with_commands(text.replace("\ufeff", "").replace("\u200b", "").strip())
    whole = exact(text)
    if whole is not None:
        return values_in(whole) if isinstance(whole, str) else [whole]
    spoken = without_thinking(text)
    if "&quot;" in spoken and '"' not in spoken:  # escaped by a tool on the way
        spoken = html.unescape(spoken)
    return _scanned(spoken)


def exact(text: str) -> Any | None:
    """The text as one exact JSON value; ``None`` when it is something else (or is ``null``).

    Line breaks inside strings are let through; NaN and the infinities become ``null``; half a surrogate
    pair, which no file could hold, becomes U+FFFD.
    """
    try:
        return _whole_characters(_DECODER.decode(with_commands(text)))
    except (ValueError, RecursionError):
        return None


def with_commands(text: str) -> str:
    """JSON text in which the commands of formulas keep their backslash."""
    return _COMMAND.sub(r"\1\\\\", text)


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
        value, end = _DECODER.raw_decode(text, start)
        return _whole_characters(value), end
    except Ambiguous:
        raise
    except (ValueError, RecursionError):
        pass
    found = _closed(text, start)
    is_json = _JSON_START.match(text, start) is not None
    if found is not None:
        return (_repaired(found), found.end) if is_json else (None, start + 1)
    if is_json:
        raise CutOff("the JSON is not complete: a bracket or a quote is never closed")
    return None, start + 1


def _repaired(found: _Closed) -> Any | None:
    import json_repair

    if not _BETWEEN.fullmatch(_STAND_IN.sub('""', found.shape)):
        return None  # an ellipsis, an operator, a stray word: there is no one reading
    try:
        value = json_repair.loads(found.shape, strict=True, skip_json_loads=True)
        return _filled(value, found.strings) if isinstance(value, dict | list) else None
    except (ValueError, RecursionError):
        return None


def _filled(value: Any, strings: list[str]) -> Any:
    """The value with its strings back in their places.

    Raises:
        ValueError: the repair has run two of them together.
    """
    if isinstance(value, dict):
        return {_filled(key, strings): _filled(item, strings) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, strings) for item in value]
    stands_in = isinstance(value, str) and "§" in value
    return strings[int(value[1:])] if stands_in else value


@dataclass(frozen=True)
class _Closed:
    """A value whose brackets and quotes are closed."""

    end: int
    shape: str
    """The value without comments; ``"§0"``, ``"§1"``, … stand in for its strings, equal ones for equal."""
    strings: list[str]


def end_of(text: str, start: int) -> int | None:
    """Where the value that begins at ``start`` ends; ``None`` when brackets or quotes don't close."""
    found = _closed(text, start)
    return None if found is None else found.end


def _closed(text: str, start: int) -> _Closed | None:
    expected: list[str] = []
    shape: list[str] = []
    strings: dict[str, int] = {}
    position = start
    while position < len(text) and len(expected) <= MOST_NESTED:
        character = text[position]
        if expected and _opens_string(text, position):
            inside, end = _string(text, position, expected[-1])
            if end is None:
                return None
            shape.append(f'"§{strings.setdefault(_unescaped(inside), len(strings))}"')
            position = end
            continue
        if comment := _COMMENT.match(text, position):
            position = comment.end()
            continue
        if character in OPENERS:
            expected.append(OPENERS[character])
        elif character in "}]" and expected.pop() != character:
            return None
        shape.append(character)
        position += 1
        if not expected:
            return _Closed(position, "".join(shape), list(strings))
    return None


def _opens_string(text: str, position: int) -> bool:
    """Straight double quotes always do; the others only where a key or value may begin."""
    if text[position] not in QUOTES:
        return False
    if text[position] == '"':
        return True
    before = position - 1
    while before > 0 and text[before].isspace():
        before -= 1
    return text[before] in "{[,:"


def _string(text: str, start: int, closing: str) -> tuple[str, int | None]:
    """A string's raw content and where it ends: at the first quote that something of JSON's own follows.

    So a quotation inside a string that somebody forgot to escape does not end it.
    """
    if text.startswith('"""', start):
        end = text.find('"""', start + 3)
        return text[start + 3 : end], None if end < 0 else end + 3
    closers = QUOTES[text[start]]
    if closers[0] != text[start] and closers[0] in text:
        closers = closers[0]  # quotes that come in pairs: a straight one belongs to the text
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] in closers and _AFTER_STRING[closing].match(text, position + 1):
            return text[start + 1 : position], position + 1
        else:
            position += 1
    return "", None


def _unescaped(text: str) -> str:
    """A string's content; a backslash before what nobody escapes is a backslash (``\\alpha``)."""
    read = _ESCAPE.sub(lambda found: _escaped(found[1]), text)
    return _paired(read)


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _paired(value)
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def _paired(text: str) -> str:
    """The text with surrogate pairs joined, and U+FFFD for half a pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(code: str) -> str:
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, f"\\{code}")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read and read[key] != value:
            raise Ambiguous(f"the field {key!r} is given twice with different values")
        read[key] = value
    return read


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=lambda _: None)
