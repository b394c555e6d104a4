"""Remove the scores that an idea gives itself ("Novelty: 9/10"), which must never reach a judge.

Some systems ask the model to rate its own idea and leave the rating in the text. Only what is clearly a
rating is removed: a criterion with a number and nothing else, or with a number "out of" a scale.
"""

from __future__ import annotations

import re
from typing import Any

from ideagora.schema import Experiment, Idea

_CRITERION = (
    r"(?:novelty|originality|feasib(?:ility|leness)|interesting(?:ness)?|clarity|excitement|significance|impact"
    r"|effectiveness|soundness|validity|valid(?:ness)?|relevance|quality|confidence|overall|contribution"
    r"|innovation|innovativeness|self[- ](?:assessment|evaluation|rating|score)"
    r"|(?:total |final )?(?:rating|score))"
)
_WORD = r"(?: (?:score|rating|level|assessment))?"
_NUMBER = r"\d{1,3}(?:\.\d{1,2})?"
_SCALE = r"(?: ?(?:/|out of|of) ?(?:5|10|100)\b| ?%| points?\b| stars?\b)"
_RATING = re.compile(
    rf"(?:\d{{1,2}}[.)] )?(?:overall )?{_CRITERION}{_WORD} ?[:=|–-] ?{_NUMBER}{_SCALE}?", re.I
)
"""One rating, with its formatting removed."""
_PARENTHESES = re.compile(r"[ \t]?[(\[]([^()\[\]\n]{1,200})[)\]]")
_INLINE = re.compile(
    rf",? ?\b(?:with (?:an? )?)?{_CRITERION}{_WORD} (?:of|is|at|=) {_NUMBER} ?(?:/|out of) ?(?:5|10|100)\b"
    rf"|\b(?:we|I) (?:would )?(?:rate|give|score|assess|assign|estimate)\b[^.;\n]{{0,60}}?"
    rf"\b{_NUMBER} ?(?:/|out of) ?(?:5|10|100)\b[^.;\n]{{0,40}}[.;]?",
    re.I,
)
_FORMATTING = re.compile(r"""[*_"'`>#•+{}\[\]()\s]{1,40}""")
_BETWEEN = re.compile(r"[,;]| and | - ")
_LONGEST_LINE = 400
"""A longer line is text, whatever it begins with."""


def remove_self_scores(text: str) -> str:
    """The text without the ratings that it gives itself; unchanged if there are none."""
    lines = [line for line in text.split("\n") if not _is_rating(line)]
    kept = "\n".join(_INLINE.sub("", _PARENTHESES.sub(_without_ratings, line)) for line in lines)
    return text if kept == text else kept.strip()


def without_self_scores(idea: Idea) -> Idea:
    """The idea, the same object if no part of it rates itself."""
    changed: dict[str, Any] = {}
    for name in ("title", "motivation", "novelty", "method", "summary"):
        text = getattr(idea, name)
        if text and (kept := remove_self_scores(text)) != text:
            changed[name] = kept or (None if name in ("motivation", "novelty", "summary") else text)
    plan = idea.experiment
    if plan is not None and (steps := remove_from_plan(plan)) is not plan:
        changed["experiment"] = steps
    return idea.model_copy(update=changed) if changed else idea


def remove_from_plan(plan: Experiment) -> Experiment:
    """The plan, the same object if no step rates the idea."""
    steps = tuple(kept for step in plan.steps if (kept := remove_self_scores(step)))
    return plan if steps == plan.steps else plan.model_copy(update={"steps": steps})


def _is_rating(line: str) -> bool:
    """Whether a line, list entry or table row holds ratings and nothing else."""
    if len(line) > _LONGEST_LINE or not any(char.isdigit() for char in line):
        return False
    plain = _FORMATTING.sub(" ", line).strip(" |-.,;")
    parts = [part.strip(" .|") for part in _BETWEEN.split(plain)]
    return all(_RATING.fullmatch(part) for part in parts if part)


def _without_ratings(enclosed: re.Match[str]) -> str:
    return "" if _is_rating(enclosed[1]) else enclosed[0]
