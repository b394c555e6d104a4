"""What an answer says that its source does not: figures and names, compared loosely. Pure functions.

A check by form, not by meaning: it finds a figure or a name that came from nowhere, not a claim in
plain words.
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
    """Figures and names of the answer that the source lacks, in their order.

    An acronym is known when it, or words with its initials, stand in the source; the numbers of steps
    are no figures.
    """
    known = _normalize(source)
    initials = "".join(word[0] for word in re.findall(r"[a-z0-9]+", source.lower()))
    named = [name.name for name in texts.names(_STEP_NUMBER.sub("", answer))]
    strange = [name for name in named if not _is_known(name, known, initials)]
    figures = _numbers(source)
    new = [figure for figure in _written_numbers(answer) if figure.replace(",", "") not in figures]
    return list(dict.fromkeys([*new, *strange]))


def quote_first(items: Iterable[str], count: int = 4) -> str:
    """Some of the items, in quotes, for a complaint."""
    return ", ".join(f"“{item}”" for item in list(items)[:count])


def _is_known(name: str, known: str, initials: str) -> bool:
    plain = _normalize(name)
    if plain in known or plain.rstrip("s") in known:
        return True
    return name.rstrip("s").isupper() and plain.rstrip("s") in initials


def _normalize(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _written_numbers(text: str) -> list[str]:
    return _NUMBER.findall(_STEP_NUMBER.sub("", text))


def _numbers(text: str) -> set[str]:
    """All numbers of a text, also those in words and inside names."""
    in_words = {_NUMBER_WORDS[word] for word in texts.words(text) if word in _NUMBER_WORDS}
    return {n.replace(",", "") for n in re.findall(r"\d+(?:[.,]\d+)*", text)} | in_words
