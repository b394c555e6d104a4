"""Corrects the spelling of a text with the words of the papers."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
_MIN_LETTERS = 5
"""Letters from which a word is corrected; shorter words resemble too many others."""
_MIN_SIMILARITY = 0.8
"""Similarity (0 to 1, ``difflib``) from which a known word replaces an unknown one."""
_MAX_WORDS = 30


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of the texts that are long enough to be corrected, in lower case."""
    return frozenset(
        word.lower() for text in texts for word in _WORD.findall(text) if len(word) >= _MIN_LETTERS
    )


def nearest_spelling(text: str, known: frozenset[str]) -> str | None:
    """The text with unknown words replaced by similar known words; ``None`` if nothing changes.

    A word is unknown if it is neither in the papers nor in the English dictionary.
    """
    from difflib import get_close_matches

    changes: dict[str, str] = {}
    for word in _WORD.findall(text)[:_MAX_WORDS]:
        lower = word.lower()
        if len(lower) >= _MIN_LETTERS and lower not in known and not _is_english(lower):
            candidates = sorted(other for other in known if abs(len(other) - len(lower)) <= 2)
            if matches := get_close_matches(lower, candidates, 1, _MIN_SIMILARITY):
                changes[word] = matches[0]
    return _WORD.sub(lambda match: changes.get(match[0], match[0]), text) if changes else None


def _is_english(word: str) -> bool:
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(word))
