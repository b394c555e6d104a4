"""Extract JSON values from the text of a reply. Pure functions.

Values are found by their brackets, so fences, tags and prose around them need no rules. Exact JSON is
decoded exactly; near-JSON (single quotes, trailing commas, comments, Python literals) is repaired with
``json_repair``. That library also closes cut-off values and guesses where strings end. So it only gets
values whose brackets and quotes are known to be closed, with placeholders for their strings, and it
runs in strict mode.
"""

from __future__ import annotations

import re
from typing import Any

from ideagora.models.parsing.json_scan import WORD, ClosedValue, TextScan
from ideagora.models.parsing.json_text import (
    AmbiguousJSON,
    TruncatedJSON,
    decode_exact,
    escape_latex,
    html_unescaped,
)
from ideagora.models.parsing.thinking import without_thinking

_DEEP_STEPS, _FAILED_STEPS = 2_000, 20
"""Steps of a value that is too deeply nested and of a failed one."""
_OPENER = re.compile(r"[{\[]")
_BETWEEN = re.compile(
    rf"""(?:[\s{{}}\[\],:]++|""|-?\d[\d.eE+-]*+|{WORD}(?![\w*-]*+\s*+:)|[A-Za-z_*][\w*-]*+(?=\s*+:))*"""
)
_STAND_IN = re.compile(r'"§\d+"')
_NUMBER = re.compile(r"[\d.eE/_+,-]++")
"""What ``json_repair`` reads as one number."""
_MAX_NUMBER = 20_000
"""Characters."""


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


def _scan_values(text: str) -> list[Any]:
    scan = TextScan(text)
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


def _value_at(scan: TextScan, start: int) -> tuple[Any | None, int]:
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


def _repaired(closed: ClosedValue) -> Any | None:
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
