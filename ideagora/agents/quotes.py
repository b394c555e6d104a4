"""Quotes are checked against what was shown: a model may put words into a paper's mouth."""

from __future__ import annotations

import re

_LOOSE = re.compile(r"[\W_]+")


def is_quoted(quote: str, text: str) -> bool:
    """Whether the quote stands in the text, up to case, punctuation and white space."""
    wanted = _loose(quote)
    return bool(wanted) and wanted in _loose(text)


def honest_quote(quote: str, text: str) -> str:
    """The quote, marked when the text does not contain it."""
    return quote if is_quoted(quote, text) else f"(not verbatim) {quote}"


def _loose(text: str) -> str:
    return _LOOSE.sub(" ", text.lower()).strip()
