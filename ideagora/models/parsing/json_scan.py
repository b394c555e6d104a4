"""Find the ends of JSON values in a text by their brackets and quotes, in linear time.

A scan examines each position a bounded number of times, and stops when it has used up its limit
(``MAX_STEPS_PER_CHARACTER``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ideagora.models.parsing.json_text import DECODER, unescaped, whole_characters

OPENERS = {"{": "}", "[": "]"}
QUOTES = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’'", "’": "’'"}
MAX_DEPTH = 100
"""Maximum nesting of brackets."""
MAX_STEPS_PER_CHARACTER, MIN_STEPS = 8, 100_000
"""Step limit of a scan: per character, and the minimum for short texts."""
_SLICE = 16_384
"""Characters between slices of the text."""
_SPACE = re.compile(r"\s*+")
_PLAIN = re.compile(r"[^{}\[\]\"'“”‘’/#]++")
"""Characters that open and close nothing."""
_BARE_KEY = re.compile(r"\w++\s*+:")
_FIRST_QUOTES = {"{": "\"'“‘”", "[": "\"'“‘{["}
"""First characters of JSON inside a bracket."""
WORD = r"(?:true|false|null|undefined|NaN|-?Infinity|True|False|None)\b"
_KEY = r"""(?:["'“”‘’}\]/#]|[A-Za-z_*][\w*-]*+\s*+:|$)"""
_VALUE = rf"""(?:["'“”‘’{{\[}}\]/#]|\.\.\.|-?\d|{WORD}|$)"""
_NEW_LINE = r"[^\S\n]*+\n\s*+"
_AFTER_STRING = {
    "}": re.compile(
        rf"\s*+(?:[:}}\]/#]|,\s*+{_KEY}|\+\s*+[\"'])|{_NEW_LINE}{_KEY}|\s++[\"'“‘][\w -]++[\"'”’]\s*+:"
    ),
    "]": re.compile(rf"\s*+(?:[}}\]/#]|,\s*+{_VALUE}|\+\s*+[\"'])|{_NEW_LINE}[\"'“‘]"),
}
"""What follows the closing quote of a string, in an object and in a list."""


@dataclass(frozen=True)
class ClosedValue:
    """A value whose brackets and quotes are closed."""

    end: int
    shape: str
    """The value without comments, with placeholders ``"§0"``, ``"§1"``, … for its strings."""
    strings: list[str]


class TextScan:
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
        value, end = DECODER.raw_decode(self._rest, start - self._start)
        return whole_characters(value), self._start + end

    def begins_json(self, start: int) -> bool:
        """Whether a key, a string or a bracket follows an opening bracket (and comments)."""
        place = self._after_comments(start + 1)
        self.steps -= place - start
        opener, first = self.text[start], self.text[place : place + 1]
        is_key = opener == "{" and _BARE_KEY.match(self.text, place) is not None
        return is_key or (first != "" and first in _FIRST_QUOTES[opener])

    def closed(self, start: int) -> ClosedValue | None:
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
                shape.append(f'"§{strings.setdefault(unescaped(inside), len(strings))}"')
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
                return ClosedValue(position, "".join(shape), list(strings))
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
