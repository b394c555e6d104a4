"""The nearest spelling of a text's words among the words of the papers at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST = 5
"""Letters from which a word is looked up: shorter ones are near to too many others."""
_NEAR = 0.8
"""Similarity (0 to 1, ``difflib``) from which a known word is offered for an unknown one."""
_WORDS_AT_MOST = 30


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """All words of the texts that are long enough to be looked up, in lower case."""
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text) if len(word) >= _SHORTEST)


def nearest_spelling(text: str, known: frozenset[str]) -> str | None:
    """The text with its unknown words as known ones spell them; ``None`` when nothing is to be changed.

    A word is unknown when neither the papers nor the English dictionary have it.
    """
    from difflib import get_close_matches

    changes: dict[str, str] = {}
    for word in _WORD.findall(text)[:_WORDS_AT_MOST]:
        lower = word.lower()
        if len(lower) >= _SHORTEST and lower not in known and not _is_english(lower):
            alike = sorted(one for one in known if abs(len(one) - len(lower)) <= 2)
            if found := get_close_matches(lower, alike, 1, _NEAR):
                changes[word] = found[0]
    return _WORD.sub(lambda match: changes.get(match[0], match[0]), text) if changes else None


def _is_english(word: str) -> bool:
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(word))
