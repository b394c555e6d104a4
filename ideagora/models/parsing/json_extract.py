"""Extract JSON values from the text of a reply. Pure functions.

Values are found by their brackets, so fences, tags and prose around them need no rules. Exact JSON is
decoded exactly; near-JSON (single quotes, trailing commas, comments, Python literals) is repaired with
``json_repair``. That library also closes cut-off values and guesses where strings end. So it only gets
values whose brackets and quotes are known to be closed, with placeholders for their strings, and it
runs in strict mode.

Takes linear time: a scan examines each position a bounded number of times, and stops when it has used up
its limit (``MAX_STEPS_PER_CHARACTER``).
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

OPENERS = {"{": "}", "[": "]"}
QUOTES = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’'", "’": "’'"}
MAX_DEPTH = 100
"""Maximum nesting of brackets."""
MAX_STEPS_PER_CHARACTER, MIN_STEPS = 8, 100_000
"""Step limit of a scan: per character, and the minimum for short texts."""
_DEEP_STEPS, _FAILED_STEPS, _SLICE = 2_000, 20, 16_384
"""Steps of a value that is too deeply nested and of a failed one; characters between slices of the text."""

_THINKING = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_THOUGHT = re.compile(rf"^[^\S\n]*+<({_THINKING})>", re.I | re.M)
_THOUGHT_ENDS = re.compile(rf"</({_THINKING})>", re.I)
_THOUGHT_BEFORE = re.compile(rf"</(?:{_THINKING})>[ \t]*+(?=\n|\Z|[{{\[`<])", re.I)
_OPENER = re.compile(r"[{\[]")
_SPACE = re.compile(r"\s*+")
_PLAIN = re.compile(r"[^{}\[\]\"'“”‘’/#]++")
"""Characters that open and close nothing."""
_BARE_KEY = re.compile(r"\w++\s*+:")
_FIRST_QUOTES = {"{": "\"'“‘”", "[": "\"'“‘{["}
"""First characters of JSON inside a bracket."""
_WORD = r"(?:true|false|null|undefined|NaN|-?Infinity|True|False|None)\b"
_KEY = r"""(?:["'“”‘’}\]/#]|[A-Za-z_*][\w*-]*+\s*+:|$)"""
_VALUE = rf"""(?:["'“”‘’{{\[}}\]/#]|\.\.\.|-?\d|{_WORD}|$)"""
_NEW_LINE = r"[^\S\n]*+\n\s*+"
_AFTER_STRING = {
    "}": re.compile(
        rf"\s*+(?:[:}}\]/#]|,\s*+{_KEY}|\+\s*+[\"'])|{_NEW_LINE}{_KEY}|\s++[\"'“‘][\w -]++[\"'”’]\s*+:"
    ),
    "]": re.compile(rf"\s*+(?:[}}\]/#]|,\s*+{_VALUE}|\+\s*+[\"'])|{_NEW_LINE}[\"'“‘]"),
}
"""What follows the closing quote of a string, in an object and in a list."""
_BETWEEN = re.compile(
    rf"""(?:[\s{{}}\[\],:]++|""|-?\d[\d.eE+-]*+|{_WORD}(?![\w*-]*+\s*+:)|[A-Za-z_*][\w*-]*+(?=\s*+:))*"""
)
_STAND_IN = re.compile(r'"§\d+"')
_COMMAND = re.compile(
    r"""(?<!\\)((?:\\\\)*)\\(?=
        (?: tau|theta|times|text|textbf|textit|texttt|tilde|top|triangle
          | beta|bar|begin|big|Big|bigl|bigr|binom|bmod|boldsymbol|bot|bullet
          | frac|forall|fbox|nabla|neq|notin|rho|rangle|right|rightarrow|rceil|rfloor )
        (?![A-Za-z]) )""",
    re.X,
)
"""A LaTeX command with an unescaped backslash, which JSON reads as a control character and a rest
(``\\tau``, ``\\beta``, ``\\frac``)."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", "_": "_"} | {
    c: c for c in "\"'/\\"
}


class TruncatedJSON(ValueError):
    """A JSON value in the text is not complete."""


class AmbiguousJSON(ValueError):
    """An object has two different values for the same key."""


def extract_values(text: str) -> list[Any]:
    """All JSON objects and lists in a text, thinking excluded, in order.

    Raises:
        TruncatedJSON: a value is not complete, or the text ends inside its thinking.
        AmbiguousJSON: the only object has two different values for the same key.
    """
    text = escape_latex(text.replace("\ufeff", "").replace("\u200b", "").strip())
    whole = decode_exact(text)
    if whole is not None:
        return extract_values(whole) if isinstance(whole, str) else [whole]
    answer = without_thinking(text)
    if "&quot;" in answer and '"' not in answer:  # escaped by some proxy
        answer = html_unescaped(answer)
    return _scan_values(answer)


def decode_exact(text: str) -> Any | None:
    """Decode a text that is exactly one JSON value; ``None`` if it is not (or is ``null``).

    Allows line breaks inside strings. NaN and the infinities stay floats, since they are not ``null``; lone
    surrogates, which cannot be encoded, become U+FFFD.
    """
    try:
        return _whole_characters(_DECODER.decode(escape_latex(text)))
    except (ValueError, RecursionError):
        return None


def escape_latex(text: str) -> str:
    """Escape the backslashes of LaTeX commands in JSON text."""
    return _COMMAND.sub(r"\1\\\\", text)


def without_thinking(text: str) -> str:
    """Remove thinking blocks, also if a chat template dropped the opening tag.

    Tags count only at the start of a line, since an answer may mention ``<think>`` tokens.
    """
    text = _without_thoughts(text)
    ends = [thought.end() for thought in _THOUGHT_BEFORE.finditer(text)]
    text = text[ends[-1] :] if ends else text
    if _THOUGHT.search(text):
        raise TruncatedJSON("the reply ends inside its thinking")
    return text


def _without_thoughts(text: str) -> str:
    """Remove the blocks that have both tags."""
    ends: dict[str, list[int]] = defaultdict(list)
    for tag in _THOUGHT_ENDS.finditer(text):
        ends[tag[1].casefold()].append(tag.end())
    left, position = list[str](), 0
    while opening := _THOUGHT.search(text, position):
        of_name = ends[opening[1].casefold()]
        place = bisect_left(of_name, opening.end() + len("</>"))
        is_closed = place < len(of_name)
        left.append(text[position : opening.start() if is_closed else opening.end()])
        position = of_name[place] if is_closed else opening.end()
    return "".join([*left, text[position:]])


def html_unescaped(text: str) -> str:
    """Resolve the character references of a text; returns it unchanged if one is invalid."""
    try:
        return html.unescape(text)
    except ValueError:  # a number of thousands of digits
        return text


_NUMBER = re.compile(r"[\d.eE/_+,-]++")
"""What ``json_repair`` reads as one number."""
_MAX_NUMBER = 20_000
"""Characters."""


def _scan_values(text: str) -> list[Any]:
    scan = _Scan(text)
    values: list[Any] = []
    contradiction: AmbiguousJSON | None = None
    position = 0
    while scan.steps > 0 and (opener := _OPENER.search(text, position)):
        start = opener.start()
        scan.steps -= _FAILED_STEPS
        try:
            value, position = _value_at(scan, start)
        except AmbiguousJSON as error:
            value, contradiction = None, error
            closed = scan.closed(start)
            position = start + 1 if closed is None else closed.end
        if value is not None:
            values.append(value)
    if contradiction is not None and not values:
        raise contradiction
    return values


def _value_at(scan: _Scan, start: int) -> tuple[Any | None, int]:
    """The value that begins at an opening bracket, or ``None``, and where to continue."""
    try:
        return scan.decoded(start)
    except AmbiguousJSON:
        raise
    except RecursionError:
        scan.steps -= _DEEP_STEPS
    except ValueError:
        scan.steps -= _FAILED_STEPS
    closed = scan.closed(start)
    is_json = scan.begins_json(start)
    if closed is not None:
        return (_repaired(closed), closed.end) if is_json else (None, start + 1)
    if is_json:
        raise TruncatedJSON("the JSON is not complete: a bracket or a quote is never closed")
    return None, start + 1


def _repaired(closed: _Closed) -> Any | None:
    import json_repair

    if not _BETWEEN.fullmatch(_STAND_IN.sub('""', closed.shape)):
        return None  # an ellipsis, an operator, a stray word: ambiguous
    if any(len(number[0]) > _MAX_NUMBER for number in _NUMBER.finditer(closed.shape)):
        return None  # json_repair takes quadratic time for a number
    try:
        value = json_repair.loads(closed.shape, strict=True, skip_json_loads=True)
        return _filled(value, closed.strings) if isinstance(value, dict | list) else None
    except (ValueError, RecursionError):
        return None


def _filled(value: Any, strings: list[str]) -> Any:
    """Put the strings back in place of their placeholders.

    Raises:
        ValueError: the repair has merged two placeholders.
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
    """The value without comments, with placeholders ``"§0"``, ``"§1"``, … for its strings."""
    strings: list[str]


class _Scan:
    """Searches a text for values, with a limit on the steps."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps = MAX_STEPS_PER_CHARACTER * len(text) + MIN_STEPS
        self._start, self._rest = 0, text
        self._last_comment_end = text.rfind("*/")
        self._has = {quote: quote in text for quote in "”’"}

    def decoded(self, start: int) -> tuple[Any, int]:
        """The exact JSON value that begins at ``start``, and its end.

        Raises:
            ValueError: there is none.
            AmbiguousJSON: it has two different values for the same key.
            RecursionError: it is too deeply nested.
        """
        if start - self._start > _SLICE:  # decoding errors count the lines before the position
            self._start, self._rest = start, self.text[start:]
        value, end = _DECODER.raw_decode(self._rest, start - self._start)
        return _whole_characters(value), self._start + end

    def begins_json(self, start: int) -> bool:
        """Whether a key, a string or a bracket follows an opening bracket (and comments)."""
        place = self._after_comments(start + 1)
        self.steps -= place - start
        opener, first = self.text[start], self.text[place : place + 1]
        is_key = opener == "{" and _BARE_KEY.match(self.text, place) is not None
        return is_key or (first != "" and first in _FIRST_QUOTES[opener])

    def closed(self, start: int) -> _Closed | None:
        """The value that begins at ``start``; ``None`` if its brackets or quotes are not closed."""
        expected, shape, strings = list[str](), list[str](), dict[str, int]()
        position = start
        while position < len(self.text) and len(expected) <= MAX_DEPTH:
            character = self.text[position]
            if expected and self._opens_string(position):
                inside, end = self._string(position, expected[-1])
                if end is None:
                    position = len(self.text)
                    break
                shape.append(f'"§{strings.setdefault(_unescaped(inside), len(strings))}"')
                position = end
                continue
            if (end := self._comment_end(position)) is not None:
                position = end
                continue
            if character in OPENERS:
                expected.append(OPENERS[character])
            elif character in "}]" and expected.pop() != character:
                break
            plain = _PLAIN.match(self.text, position)
            shape.append(plain[0] if plain else character)
            position = plain.end() if plain else position + 1
            if not expected:
                self.steps -= position - start
                return _Closed(position, "".join(shape), list(strings))
        self.steps -= position - start
        return None

    def _after_comments(self, position: int) -> int:
        while True:
            position = _SPACE.match(self.text, position).end()  # type: ignore[union-attr]  # always matches
            end = self._comment_end(position)
            if end is None:
                return position
            position = end

    def _comment_end(self, position: int) -> int | None:
        """The end of the comment that begins here; ``None``: there is none, or it is not closed."""
        if self.text.startswith(("//", "#"), position):
            end = self.text.find("\n", position)
            return len(self.text) if end < 0 else end
        if self.text.startswith("/*", position) and position + 2 <= self._last_comment_end:
            return self.text.find("*/", position + 2) + 2
        return None

    def _opens_string(self, position: int) -> bool:
        """Whether a string begins here: at a double quote, or at others where a key or a value may begin."""
        if self.text[position] not in QUOTES:
            return False
        if self.text[position] == '"':
            return True
        before = position - 1
        while before > 0 and self.text[before].isspace():
            before -= 1
        return self.text[before] in "{[,:"

    def _string(self, start: int, closing: str) -> tuple[str, int | None]:
        """The raw content of a string and its end: the first quote that JSON syntax follows.

        So an unescaped quotation inside a string does not end it.
        """
        text = self.text
        if text.startswith('"""', start):
            end = text.find('"""', start + 3)
            return text[start + 3 : end], None if end < 0 else end + 3
        closers = QUOTES[text[start]]
        if closers[0] != text[start] and self._has[closers[0]]:
            closers = closers[0]  # paired quotes: a straight one is part of the text
        position = start + 1
        while stop := _stop(closers).search(text, position):
            position = stop.end()
            if stop[0] == "\\":
                position += 1
            elif _AFTER_STRING[closing].match(text, position):
                return text[start + 1 : stop.start()], position
        return "", None


@cache
def _stop(closers: str) -> re.Pattern[str]:
    """Matches a backslash, or a quote that may end a string."""
    return re.compile(rf"\\|[{re.escape(closers)}]")


def _unescaped(text: str) -> str:
    """Unescape a string; a backslash that escapes nothing is kept (``\\alpha``)."""
    read = _ESCAPE.sub(lambda found: _escaped(found[1]), text)
    return fix_surrogates(read)


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else fix_surrogates(value)
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def fix_surrogates(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(code: str) -> str:
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, f"\\{code}")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read and read[key] != value:
            raise AmbiguousJSON(f"the field {key!r} is given twice with different values")
        read[key] = value
    return read


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=float)
