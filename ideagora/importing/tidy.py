"""Foreign values made safe to keep: no control characters, no half characters, no NaN, no abysses."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from typing import Any

DEEPEST = 40
"""Levels of lists and objects; released files of any system have fewer than ten."""
LONGEST_LITERAL = 1_000_000
"""Characters of a Python literal in a cell."""
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(ValueError):
    """A value cannot be read; the message says why, in half a sentence."""


def tidy_text(text: str) -> str:
    """The text without control characters, with plain line ends; half characters become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _UNPRINTABLE.sub("", text))


def tidy(value: Any, depth: int = 0) -> Any:
    """A JSON value with tidy strings; NaN and infinities become ``None``.

    Raises:
        Unreadable: nested deeper than ``DEEPEST``, or something that JSON does not have.
    """
    if depth > DEEPEST:
        raise Unreadable(f"it is nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        return tidy_text(value)
    if isinstance(value, dict):
        return {tidy_text(str(key)): tidy(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [tidy(entry, depth + 1) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    raise Unreadable(f"it holds {type(value).__name__}, which is no JSON")


def json_value(text: str | bytes) -> Any:
    """The tidy value of a JSON text.

    Raises:
        Unreadable: it is none.
    """
    try:
        return tidy(json.loads(text, parse_constant=_nothing))
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is no JSON ({error.msg.lower()} at character {error.pos + 1})") from None
    except Unreadable:
        raise
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is no UTF-8 text (byte {error.start + 1})") from None
    except RecursionError:
        raise Unreadable("it is nested beyond measure") from None
    except ValueError:  # a number with thousands of digits
        raise Unreadable("it holds a number beyond measure") from None


def literal_value(text: str) -> Any:
    """The tidy value of a Python literal in a cell, as pandas writes lists; nothing is ever executed.

    Raises:
        Unreadable: it is more than a literal, too long or broken.
    """
    if len(text) > LONGEST_LITERAL:
        raise Unreadable(f"it is longer than {LONGEST_LITERAL:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes: the text is another's
            tree = ast.parse(text.strip(), mode="eval")
        return tidy(ast.literal_eval(_Numbers().visit(tree)))
    except Unreadable:
        raise
    except SyntaxError:
        raise Unreadable("it is no Python literal") from None
    except (ValueError, TypeError):
        raise Unreadable("it is more than a Python literal, so it was not read") from None
    except (RecursionError, MemoryError):
        raise Unreadable("it is nested beyond measure") from None


class _Numbers(ast.NodeTransformer):
    """``nan`` and ``inf``, which pandas writes bare, mean that there is no number."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(None) if node.id in ("nan", "inf") else node


def loose_value(text: str) -> Any:
    """The value of a cell or string that holds JSON or a Python literal.

    Raises:
        Unreadable: it is neither.
    """
    try:
        return json_value(text)
    except Unreadable:
        return literal_value(text)


def _nothing(_: str) -> None:
    return None
