"""The answer in a contestant's reply. Pure functions, linear time."""

from __future__ import annotations

import re

_FENCE = re.compile(r"</?material \w{1,32}>")
"""What stands around the earlier answers in the prompt, and is sometimes written around the new one, too."""
_LABEL = re.compile(
    r"\A[\s*_#]{0,8}(?:(?:(?:my|new|next|further|final)\s){0,2}answer(?:\s?\d{1,3})?[*_]{0,3}\s?:"
    r"|\d{1,3}[.)](?=\s))[\s*_]{0,8}",
    re.I,
)


def plain_answer(reply: str) -> str:
    """The answer without tags, label or number, which would make all answers more similar than they are.

    >>> plain_answer("<answer>Melt it.</answer>"), plain_answer("**Answer 3:** Melt it.")
    ('Melt it.', 'Melt it.')
    """
    reply = _FENCE.sub("", reply).strip()
    inside, end, _ = reply.partition("<answer>")[2].partition("</answer>")
    return _LABEL.sub("", inside if end else reply).strip()
