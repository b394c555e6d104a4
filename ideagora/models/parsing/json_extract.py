"""JSON values inside the text of a reply. Pure functions.

A value is found by its brackets, not by fences: fences, tags and prose around it need no rules of
their own, and a fence inside a string does no harm. Exact JSON is read exactly; near-JSON (single
quotes, trailing commas, comments, Python literals) goes through ``json_repair``. That library also
closes what was cut off, which would invent an ending, and guesses anew where a string ends, which
would cut one at a comma. So it only ever sees text whose brackets and quotes we have found to be
closed, without their strings, and it runs in its strict mode.

The work grows in proportion to the text: every position is looked at a bounded number of times, and a
scan that has used up its share (``MOST_LOOKS``) finds nothing more.
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
MOST_NESTED = 100
"""Brackets inside brackets."""
MOST_LOOKS, LEAST_LOOKS = 8, 100_000
"""How often a scan may look at a character on average, and how often in all in a short text."""
_DEEP, _SHORT, _STRETCH = 2_000, 20, 16_384
"""What a value that is too deeply nested counts as, and one that is none; how far a rest of a text serves."""

_THINKING = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_THOUGHT = re.compile(rf"^[^\S\n]*+<({_THINKING})>", re.I | re.M)
_THOUGHT_ENDS = re.compile(rf"</({_THINKING})>", re.I)
_THOUGHT_BEFORE = re.compile(rf"</(?:{_THINKING})>[ \t]*+(?=\n|\Z|[{{\[`<])", re.I)
_OPENER = re.compile(r"[{\[]")
_SPACE = re.compile(r"\s*+")
_PLAIN = re.compile(r"[^{}\[\]\"'“”‘’/#]++")
"""Characters of JSON that neither open nor close anything."""
_BARE_KEY = re.compile(r"\w++\s*+:")
_FIRST_QUOTES = {"{": "\"'“‘”", "[": "\"'“‘{["}
"""What JSON begins with inside its bracket."""
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
"""What follows a string's last quote, inside an object and inside a list."""
_BETWEEN = re.compile(rf"""(?:[\s{{}}\[\],:]++|""|-?\d[\d.eE+-]*+|{_WORD}|[A-Za-z_*][\w*-]*+(?=\s*+:))*+""")
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


class TruncatedJSON(ValueError):
    """A JSON value begins in the text and never ends."""


class AmbiguousJSON(ValueError):
    """One object gives the same key two different values."""


def extract_values(text: str) -> list[Any]:
    """All JSON objects and lists that the text holds outside of its thinking, in order.

    Raises:
        CutOff: a value begins and never ends, or the reply ends inside its thinking.
        Ambiguous: there is nothing but an object that contradicts itself.
    """
    text = with_commands(text.replace("\ufeff", "").replace("\u200b", "").strip())
    whole = exact(text)
    if whole is not None:
        return extract_values(whole) if isinstance(whole, str) else [whole]
    spoken = without_thinking(text)
    if "&quot;" in spoken and '"' not in spoken:  # escaped by a tool on the way
        spoken = html_unescaped(spoken)
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
    text = _without_thoughts(text)
    ends = [found.end() for found in _THOUGHT_BEFORE.finditer(text)]
    text = text[ends[-1] :] if ends else text
    if _THOUGHT.search(text):
        raise TruncatedJSON("the reply ends inside its thinking")
    return text


def _without_thoughts(text: str) -> str:
    """Without the blocks that begin and end."""
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
    """The text with its character references resolved; as it is when one is no character at all."""
    try:
        return html.unescape(text)
    except ValueError:  # a number of thousands of digits
        return text


_NUMBER = re.compile(r"[\d.eE/_+,-]++")
"""What the repair takes for one number."""
_LONGEST_NUMBER = 20_000
"""Characters."""


def _scanned(text: str) -> list[Any]:
    scan = _Scan(text)
    found: list[Any] = []
    contradiction: AmbiguousJSON | None = None
    position = 0
    while scan.looks > 0 and (opener := _OPENER.search(text, position)):
        start = opener.start()
        scan.looks -= _SHORT
        try:
            value, position = _value_at(scan, start)
        except AmbiguousJSON as error:
            value, contradiction = None, error
            closed = scan.closed(start)
            position = start + 1 if closed is None else closed.end
        if value is not None:
            found.append(value)
    if contradiction is not None and not found:
        raise contradiction
    return found


def _value_at(scan: _Scan, start: int) -> tuple[Any | None, int]:
    """The value that begins at an opening bracket, or ``None``, and where to look on."""
    try:
        return scan.decoded(start)
    except AmbiguousJSON:
        raise
    except RecursionError:
        scan.looks -= _DEEP
    except ValueError:
        scan.looks -= _SHORT
    found = scan.closed(start)
    is_json = scan.begins_json(start)
    if found is not None:
        return (_repaired(found), found.end) if is_json else (None, start + 1)
    if is_json:
        raise TruncatedJSON("the JSON is not complete: a bracket or a quote is never closed")
    return None, start + 1


def _repaired(found: _Closed) -> Any | None:
    import json_repair

    if not _BETWEEN.fullmatch(_STAND_IN.sub('""', found.shape)):
        return None  # an ellipsis, an operator, a stray word: there is no one reading
    if any(len(number[0]) > _LONGEST_NUMBER for number in _NUMBER.finditer(found.shape)):
        return None  # the repair takes time quadratic in a number's length
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


class _Scan:
    """Looks through a text for values, and counts how much it looks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.looks = MOST_LOOKS * len(text) + LEAST_LOOKS
        self._start, self._rest = 0, text
        self._last_comment_end = text.rfind("*/")
        self._has = {quote: quote in text for quote in "”’"}

    def decoded(self, start: int) -> tuple[Any, int]:
        """The exact JSON value that begins at ``start``, and its end.

        Raises:
            ValueError: there is none. Ambiguous, RecursionError: as it says.
        """
        if start - self._start > _STRETCH:  # an error's message counts the lines before it
            self._start, self._rest = start, self.text[start:]
        value, end = _DECODER.raw_decode(self._rest, start - self._start)
        return _whole_characters(value), self._start + end

    def begins_json(self, start: int) -> bool:
        """Whether a key, a string or a bracket follows an opening bracket, comments aside."""
        place = self._after_comments(start + 1)
        self.looks -= place - start
        opener, first = self.text[start], self.text[place : place + 1]
        is_key = opener == "{" and _BARE_KEY.match(self.text, place) is not None
        return is_key or (first != "" and first in _FIRST_QUOTES[opener])

    def closed(self, start: int) -> _Closed | None:
        """The value that begins at ``start``; ``None`` when brackets or quotes don't close."""
        expected, shape, strings = list[str](), list[str](), dict[str, int]()
        position = start
        while position < len(self.text) and len(expected) <= MOST_NESTED:
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
                self.looks -= position - start
                return _Closed(position, "".join(shape), list(strings))
        self.looks -= position - start
        return None

    def _after_comments(self, position: int) -> int:
        while True:
            position = _SPACE.match(self.text, position).end()  # type: ignore[union-attr]  # always matches
            end = self._comment_end(position)
            if end is None:
                return position
            position = end

    def _comment_end(self, position: int) -> int | None:
        """Where the comment that begins here ends; ``None``: none begins, or none that ends."""
        if self.text.startswith(("//", "#"), position):
            end = self.text.find("\n", position)
            return len(self.text) if end < 0 else end
        if self.text.startswith("/*", position) and position + 2 <= self._last_comment_end:
            return self.text.find("*/", position + 2) + 2
        return None

    def _opens_string(self, position: int) -> bool:
        """Straight double quotes always do; the others only where a key or value may begin."""
        if self.text[position] not in QUOTES:
            return False
        if self.text[position] == '"':
            return True
        before = position - 1
        while before > 0 and self.text[before].isspace():
            before -= 1
        return self.text[before] in "{[,:"

    def _string(self, start: int, closing: str) -> tuple[str, int | None]:
        """A string's raw content and where it ends: at the first quote that something of JSON's own follows.

        So a quotation inside a string that somebody forgot to escape does not end it.
        """
        text = self.text
        if text.startswith('"""', start):
            end = text.find('"""', start + 3)
            return text[start + 3 : end], None if end < 0 else end + 3
        closers = QUOTES[text[start]]
        if closers[0] != text[start] and self._has[closers[0]]:
            closers = closers[0]  # quotes that come in pairs: a straight one belongs to the text
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
    """A backslash, or a quote that may end a string."""
    return re.compile(rf"\\|[{re.escape(closers)}]")


def _unescaped(text: str) -> str:
    """A string's content; a backslash before what nobody escapes is a backslash (``\\alpha``)."""
    read = _ESCAPE.sub(lambda found: _escaped(found[1]), text)
    return paired(read)


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else paired(value)
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def paired(text: str) -> str:
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
            raise AmbiguousJSON(f"the field {key!r} is given twice with different values")
        read[key] = value
    return read


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=lambda _: None)
