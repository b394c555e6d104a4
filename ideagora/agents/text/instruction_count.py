"""Count the instructions in an English text by patterns.

A plan instructs ("Collect the cases …") or proposes ("the retriever would …"); an abstract reports what
was done. The offline judge uses the count to tell them apart.
"""

from __future__ import annotations

import re

from ideagora.models.offline.text import sentences, words

_VERBS = frozenset(
    """
    add adapt align allow annotate apply ask assign build change check choose collect combine
    compare compute construct count define deploy derive design develop draw encode estimate
    evaluate extend extract feed filter fine-tune finetune fit fix freeze gather generate give hold
    identify implement infer initialise initialize insert introduce investigate join keep label
    learn let load make mask match measure mix modify move optimise optimize pair pick plug predict
    prepare propose prune put read record reduce release remove repeat replace report rerun restrict
    retrieve reward route run sample select send show split start state stop store swap take teach
    tell test train treat try tune turn update use validate vary verify weigh write
    """.split()
)
"""Verbs that begin a step, except those that are often nouns or adjectives."""
_OPENERS = frozenset({"first", "second", "third", "then", "next", "finally", "instead", "step", "also"})
_PROPOSED = re.compile(r"\b(?:would|should|shall|will|we propose|we plan|is to be|are to be)\b", re.I)


def count_instructions(text: str) -> int:
    """Return the number of sentences that say what to do."""
    return sum(_is_instruction(sentence) for sentence in sentences(text))


def _is_instruction(sentence: str) -> bool:
    opening = [word.casefold() for word in words(sentence[:200])[:4]]
    first = next((word for word in opening if word not in _OPENERS and not word.isdigit()), "")
    return first in _VERBS or _PROPOSED.search(sentence) is not None
