"""Read letters and numbers as judges write them, if they have one reading. Pure functions, linear time."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

Letter = Literal["A", "B", "C", "D"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D")
MAX_TEXT = 2_000
"""Characters of a reply."""

_MARKS = " \t\n.*_`\"'"
_LETTER = re.compile(
    r"(?:(?:the|my|final|correct|best|closest|answer|choice|option|candidate|letter|is)\b[\s:=*_-]*+)*"
    r"[(\[*_]*+([a-d])[)\]*_]*+"
    r"(?:(?<=[)\]])\s*+(?P<after>.++)|\s*+[:.,;–—-]\s*+(?P<rest>.++))?",
    re.I | re.S,
)
_OTHER_LETTER = re.compile(
    r"\b[B-Db-d]\b|\b(?:or|and|option|choice|answer|candidate)\s+a\b|\ba\b(?!\s+[a-z])"
    r"|(?!\A)(?<![.!?]\s)\bA\b|\bA\b(?!\s[a-z])"
    r"|\bA\s(?:also|and|but|could|fits|is|may|might|not|or|seems|was|would)\b"
)
"""Another option in the text after a letter; "a" as an article is none, nor is "A" that begins a sentence."""
_SCORE = re.compile(
    r"(?:(?:the|my|a|final|overall|score|rating|similarity|coherence|alignment|match|is|of)\b[\s:=*_]*+)*"
    r"[(\[*_]*+([-+]?\d{1,9}+(?:\.\d{1,9}+)?)"
    r"(?:\s*+(?:/|out of)\s*+(?P<highest>\d{1,9}+)(?:\.0)?|\s?(?P<percent>%))?[*_\])]*+"
    r"(?:\s*+[(:;,–—-](?P<rest>[^\d]*+))?",
    re.I | re.S,
)
_NUMBER_WORD = re.compile(r"\b(?:zero|one|two|three|four|five|half)\b", re.I)
_SCALE = re.compile(r"\b1 ?(?:to|through|and|[-–—]) ?10\b|(?:/|\bout of) ?10\b")
_FIGURE = r"(?<![\w.-])(\d{1,4}(?:\.\d{1,4})?)(?!\.?\w)"
_FIGURES = re.compile(_FIGURE)
_LABELLED = re.compile(rf"\b(?:rat(?:e|ed|ing)|score)\b[^\d]{{0,20}}{_FIGURE}(?! ?(?:-|–|—|to|or|and) ?\d)")
_RANGE = re.compile(r"\d ?[-–—] ?(?=\d)")


def read_letter(value: Any) -> Any:
    """The letter that a judge states: "B", "b)", "Option B", "Answer: B", "B: it is about …".

    Other values are returned as they are, for validation to reject: two letters, none, a number.
    """
    text = only_text(value)
    found = _LETTER.fullmatch(text) if text else None
    if found is None or _OTHER_LETTER.search(found["after"] or found["rest"] or ""):
        return value
    return found[1].upper()


def only_text(value: Any) -> str:
    """A text without marks around it; also the only element of a list. Empty if there is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip(_MARKS) if isinstance(value, str) and len(value) <= MAX_TEXT else ""


def read_score(value: Any, highest: int) -> Any:
    """The number that a judge states on a scale to ``highest``: 4, "4/5", "Score: 4", "4 (same problem)".

    It is stricter than ``read_rating``: the number is the whole reply, or followed by its reason.

    >>> read_score("**85/100**", 100), read_score("Score: 3.5", 5)
    (85.0, 3.5)

    Raises:
        ValueError: it states no number, several, a range, a word, or a number on another scale.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = only_text(value)
    found = _SCORE.fullmatch(text) if text else None
    if found is None or _NUMBER_WORD.search(found["rest"] or "") or not _is_scale(found, highest):
        raise ValueError(f"must be one number up to {highest}, in digits")
    return float(found[1])


def _is_scale(found: re.Match[str], highest: int) -> bool:
    stated = 100 if found["percent"] else int(found["highest"] or highest)
    return stated == highest


def read_rating(value: Any) -> Any:
    """Return the number that a text gives as its rating: 8 for ``on a scale of 1 to 10 I rate 8``.

    Raises:
        ValueError: the text gives no number, several, or a range.
    """
    if not isinstance(value, str):
        return value
    text = _SCALE.sub(" ", " ".join(value[:MAX_TEXT].lower().split()))
    figures = set(map(float, _LABELLED.findall(text) or _FIGURES.findall(text)))
    if len(figures) == 1 and not (_RANGE.search(text) and not _LABELLED.search(text)):
        return figures.pop()
    raise ValueError("give one number from 1 to 10")


Rating = Annotated[float, BeforeValidator(read_rating)]
"""The type of a rating from 1 to 10, also as text that gives one number."""
