"""Quotes are checked against what was shown: a model may put words into a paper's mouth."""

from __future__ import annotations

import re

_OMISSION = re.compile(r"\[?(?:…|\.\.\.)\]?")
_LOOSE = re.compile(r"[\W_]+")


def is_quoted(quote: str, text: str) -> bool:
    """Whether the quote stands in the text, up to case, punctuation and white space.

    A quote with omissions ("…") stands in the text when its pieces do, in their order.
    """
    pieces = [piece for piece in map(_normalize, _OMISSION.split(quote)) if piece]
    whole, position = f" {_normalize(text)} ", 0
    for piece in pieces:
        found = whole.find(f" {piece} ", position)
        if found < 0:
            return False
        position = found + len(piece) + 1  # the blank behind it may stand before the next
    return bool(pieces)


def verify_quote(quote: str, text: str) -> str:
    """The quote, marked when the text does not contain it."""
    return quote if is_quoted(quote, text) else f"(not verbatim) {quote}"


def _normalize(text: str) -> str:
    return _LOOSE.sub(" ", text.lower()).strip()
