"""Remove the thinking of a model from its reply."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict

from ideagora.models.parsing.json_text import TruncatedJSON

_THINKING = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_THOUGHT = re.compile(rf"^[^\S\n]*+<({_THINKING})>", re.I | re.M)
_THOUGHT_ENDS = re.compile(rf"</({_THINKING})>", re.I)
_THOUGHT_BEFORE = re.compile(rf"</(?:{_THINKING})>[ \t]*+(?=\n|\Z|[{{\[`<])", re.I)


def without_thinking(text: str) -> str:
    """Remove thinking blocks, also if a chat template dropped the opening tag.

    Tags count only at the start of a line, since an answer may mention ``<think>`` tokens.
    """
    text = _without_thoughts(text)
    ends = [thought.end() for thought in _THOUGHT_BEFORE.finditer(text)]
    text = text[ends[-1] :] if ends else text
    if _THOUGHT.search(text):
        raise TruncatedJSON("the reply ends inside its thinking")
    return text


def _without_thoughts(text: str) -> str:
    """Remove the blocks that have both tags."""
    ends: dict[str, list[int]] = defaultdict(list)
    for tag in _THOUGHT_ENDS.finditer(text):
        ends[tag[1].casefold()].append(tag.end())
    left, position = list[str](), 0
    while opening := _THOUGHT.search(text, position):
        of_name = ends[opening[1].casefold()]
        place = bisect_left(of_name, opening.end() + len("</>"))
        is_closed = place < len(of_name)
        left.append(text[position : opening.start() if is_closed else opening.end()])
        position = of_name[place] if is_closed else opening.end()
    return "".join([*left, text[position:]])
