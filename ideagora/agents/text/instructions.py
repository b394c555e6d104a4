"""Which sentences of a method say what to do. Pure functions, patterns of English.

A plan instructs ("Collect the cases …") or proposes ("the retriever would …"); an abstract reports what
others did. The offline judge needs the difference, and it is all that it knows of it.
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
"""Base forms with which a step begins; forms that are as often nouns or adjectives are left out."""
_OPENERS = frozenset({"first", "second", "third", "then", "next", "finally", "instead", "step", "also"})
_PROPOSED = re.compile(r"\b(?:would|should|shall|will|we propose|we plan|is to be|are to be)\b", re.I)


def count_instructions(text: str) -> int:
    """How many sentences of a text say what to do."""
    return sum(_is_instruction(sentence) for sentence in sentences(text))


def _is_instruction(sentence: str) -> bool:
    said = [word.casefold() for word in words(sentence[:200])[:4]]
    begin = next((word for word in said if word not in _OPENERS and not word.isdigit()), "")
    return begin in _VERBS or _PROPOSED.search(sentence) is not None
