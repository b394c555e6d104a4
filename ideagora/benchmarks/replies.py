"""Read letters and numbers as judges write them, if they have one reading. Pure functions, linear time."""

from __future__ import annotations

import re
from functools import partial
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
_SCALE = re.compile(r"\bon (?:a|the) scale (?:of|from) \d{1,3} ?(?:to|[-–—]) ?(\d{1,3})\b[\s,:]*+", re.I)
_SCORE = re.compile(
    r"(?:(?:i|i['’]d|would|rate|give|it|this|the|my|a|an|as|with|at|idea|final|overall|score|rating|similarity"
    r"|coherence|alignment|overlap|match|relevance|is|of)\b[\s:=*_]*+)*"
    r"[(\[*_]*+([-+]?\d{1,9}+(?:\.\d{1,9}+)?)"
    r"(?:\s*+(?:/|out of)\s*+(?P<highest>\d{1,9}+)(?:\.0)?|\s?(?P<percent>%))?[*_\])]*+"
    r"(?:\s*+[(:;,–—-](?P<rest>[^\d]*+))?",
    re.I | re.S,
)
_OTHER_NUMBER = re.compile(
    r"\W*+(?:(?:to|or|and|maybe|perhaps)\s)?(?:zero|half|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred)\b"
    r"(?!\s[a-z])",
    re.I,
)
"""A number as a word at the beginning of the text after a number, unless it counts something."""


def read_letter(value: Any) -> Any:
    """The letter that a judge states: "B", "b)", "Option B", "Answer: B", "B: it is about …".

    Other values are returned as they are, for validation to reject: two letters, none, a number.
    """
    text = only_text(value)
    found = _LETTER.fullmatch(text) if text else None
    if found is None or _OTHER_LETTER.search(found["after"] or found["rest"] or ""):
        return value
    return found[1].upper()


def read_closing_letter(text: str) -> tuple[str, str] | None:
    """What precedes the last line of a text, and the letter that it states alone: "Answer: B", "**B**"."""
    before, _, line = text.rstrip().rpartition("\n")
    found = _LETTER.fullmatch(only_text(line))
    if found is None or found["after"] or found["rest"]:
        return None
    return before.strip(), found[1].upper()


def only_text(value: Any) -> str:
    """A text without marks around it; also the only element of a list. Empty if there is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip(_MARKS) if isinstance(value, str) and len(value) <= MAX_TEXT else ""


def read_score(value: Any, highest: int) -> Any:
    """The number that a judge states on a scale to ``highest``: 4, "4/5", "Score: 4", "4 (same problem)".

    The number is the whole reply, or followed by its reason.

    >>> read_score("**85/100**", 100), read_score("On a scale of 1 to 10 I rate 8", 10)
    (85.0, 8.0)

    Raises:
        ValueError: it states no number, several, a range, a bound, a word, or a number on another scale.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = " ".join(only_text(value).split())
    scale = _SCALE.search(text)
    found = _SCORE.fullmatch(only_text(_SCALE.sub("", text)))
    is_other = scale is not None and int(scale[1]) != highest
    if found is None or is_other or _OTHER_NUMBER.match(found["rest"] or "") or not _is_scale(found, highest):
        raise ValueError(f"must be one number up to {highest}, in digits")
    return float(found[1]) + 0.0  # no negative zero


def _is_scale(found: re.Match[str], highest: int) -> bool:
    stated = 100 if found["percent"] else int(found["highest"] or highest)
    return stated == highest


Rating = Annotated[float, BeforeValidator(partial(read_score, highest=10))]
"""The type of a rating up to 10, also as text that gives one number."""
