"""Find figures and names in an answer that its source lacks.

The check compares strings, not meaning: it finds invented figures and names, not invented claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ideagora.models.offline import text as texts

_STEP_NUMBER = re.compile(
    r"(?im)(?:^[^\S\n]*+|(?<=[.:;,] ))\(?\d{1,2}[.):]\s+|\bstep\s++\d{1,2}\b[.):]?|\(\d{1,2}\)(?=\s)"
)
_NUMBER = re.compile(r"(?<![\w.])(?<![A-Za-z]-)\d++(?:[.,]\d++)*(?!\w)")
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ROUND = {"hundred": "100", "thousand": "1000", "dozen": "12", "half": "0.5"}
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_WORDS)} | _ROUND


def find_unsupported(answer: str, source: str) -> list[str]:
    """Return the figures and names of the answer that the source lacks, in order.

    An acronym counts as known if the source has it or words with its initials. Step numbers are ignored.
    """
    known = _normalize(source)
    initials = "".join(word[0] for word in re.findall(r"[a-z0-9]+", source.lower()))
    names = [name.name for name in texts.names(_STEP_NUMBER.sub("", answer))]
    unknown = [name for name in names if not _is_known(name, known, initials)]
    figures = _numbers(source)
    new = [figure for figure in _written_numbers(answer) if figure.replace(",", "") not in figures]
    return list(dict.fromkeys([*new, *unknown]))


def quote_first(items: Iterable[str], count: int = 4) -> str:
    """Return the first items in quotation marks, for an error message."""
    return ", ".join(f"“{item}”" for item in list(items)[:count])


def _is_known(name: str, known: str, initials: str) -> bool:
    normalized = _normalize(name)
    if normalized in known or normalized.rstrip("s") in known:
        return True
    return name.rstrip("s").isupper() and normalized.rstrip("s") in initials


def _normalize(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _written_numbers(text: str) -> list[str]:
    return _NUMBER.findall(_STEP_NUMBER.sub("", text))


def _numbers(text: str) -> set[str]:
    """Return all numbers of a text, including number words and numbers within names."""
    in_words = {_NUMBER_WORDS[word] for word in texts.words(text) if word in _NUMBER_WORDS}
    return {n.replace(",", "") for n in re.findall(r"\d+(?:[.,]\d+)*", text)} | in_words
