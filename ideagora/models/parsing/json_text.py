"""Text of JSON: exact decoding, escapes, and characters that cannot be encoded. Pure functions."""

from __future__ import annotations

import html
import json
import re
from typing import Any

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


def decode_exact(text: str) -> Any | None:
    """Decode a text that is exactly one JSON value; ``None`` if it is not (or is ``null``).

    Allows line breaks inside strings. NaN and the infinities stay floats, since they are not ``null``; lone
    surrogates, which cannot be encoded, become U+FFFD.
    """
    try:
        return whole_characters(DECODER.decode(escape_latex(text)))
    except (ValueError, RecursionError):
        return None


def escape_latex(text: str) -> str:
    """Escape the backslashes of LaTeX commands in JSON text."""
    return _COMMAND.sub(r"\1\\\\", text)


def html_unescaped(text: str) -> str:
    """Resolve the character references of a text; returns it unchanged if one is invalid."""
    try:
        return html.unescape(text)
    except ValueError:  # a number of thousands of digits
        return text


def unescaped(text: str) -> str:
    """Unescape a string; a backslash that escapes nothing is kept (``\\alpha``)."""
    read = _ESCAPE.sub(lambda found: _escaped(found[1]), text)
    return fix_surrogates(read)


def whole_characters(value: Any) -> Any:
    """A JSON value with ``fix_surrogates`` applied to its strings."""
    if isinstance(value, str):
        return value if value.isascii() else fix_surrogates(value)
    if isinstance(value, list):
        return [whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
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


DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=float)
