"""Separate ideas from refusals and from reasoning in a model's reply. Pure functions, linear time."""

from __future__ import annotations

import re
from typing import NamedTuple

from ideagora.models.parsing.structured_output import is_refusal

_HEAD = 400
"""Characters in which a refusal shows."""
_REFUSAL = re.compile(
    r"""(?:^|[.!?:](?=\s)|\n)\W{0,6}(?:but\ |however,?\ |unfortunately,?\ )?(?:
        i(?:['’]?m|\ am)\ (?:(?:very|so|really)\ )?sorry\b
      | i\ apologi[sz]e\b
      | as\ an?\ (?:ai|assistant|(?:large\ )?language\ model)\b(?![-–])
      | i(?:['’]?m|\ am)\ (?:unable|not\ able)\ to\b
      | i\ (?:can['’]?t|cannot|can\ not|won['’]?t)\b
    )""",
    re.I | re.X,
)
_FINAL = re.compile(r"^[\s#*_]{0,8}final\ idea\b[*_\s]{0,6}:[*_]{0,4}", re.I | re.X | re.M)


class Parts(NamedTuple):
    """An idea and what the model wrote before it."""

    idea: str
    reasoning: str


def refuses(text: str) -> bool:
    """Whether a reply is a refusal: one of its first sentences begins like one.

    The phrases are those of supplementary note 5, which the released code looks for anywhere in the reply.
    """
    return is_refusal(text) or _REFUSAL.search(text[:_HEAD]) is not None


def split_reply(text: str, thinking: str = "") -> Parts:
    """The idea after the last "Final idea:", or the whole text; ``thinking`` belongs to the reasoning."""
    marks = list(_FINAL.finditer(text))
    if not marks or not (idea := text[marks[-1].end() :].strip()):
        return Parts(text.strip(), thinking)
    before = text[: marks[-1].start()].strip()
    return Parts(idea, "\n\n".join(part for part in (thinking, before) if part))
