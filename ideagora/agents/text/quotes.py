"""Check whether quotes occur in the text that they are attributed to."""

from __future__ import annotations

import re

_OMISSION = re.compile(r"\[?(?:…|\.\.\.)\]?")
_LOOSE = re.compile(r"[\W_]+")


def is_quoted(quote: str, text: str) -> bool:
    """Return whether the text contains the quote, ignoring case, punctuation and white space.

    For a quote with omissions ("…"), the text must contain its pieces in order.
    """
    pieces = [piece for piece in map(_normalize, _OMISSION.split(quote)) if piece]
    haystack, position = f" {_normalize(text)} ", 0
    for piece in pieces:
        found = haystack.find(f" {piece} ", position)
        if found < 0:
            return False
        position = found + len(piece) + 1  # the trailing space may precede the next piece
    return bool(pieces)


def verify_quote(quote: str, text: str) -> str:
    """Return the quote, marked "(not verbatim)" if the text does not contain it."""
    return quote if is_quoted(quote, text) else f"(not verbatim) {quote}"


def _normalize(text: str) -> str:
    return _LOOSE.sub(" ", text.lower()).strip()
