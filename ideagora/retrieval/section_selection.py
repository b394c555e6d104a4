"""Sections of a full text, chosen to fit a number of tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ideagora.retrieval.store.fulltext import Section

READER_TOKENS = 6_000
"""Tokens of a paper that a reader is shown; about ten pages."""
_BYTES_A_TOKEN = 3.5
"""English text has some 4.5 bytes a token with today's tokenizers, other scripts fewer."""
_FIRST = ("introduction", "method", "experiment", "limitation")
_LEAST = 40
"""Tokens below which a cut section says nothing."""
_CUT = " […]"
_SENTENCE_END = re.compile(r"[.!?][)\]”\"]*(?=\s)|\n")


def estimate_tokens(text: str) -> int:
    """An upper estimate of a text's tokens, since each model counts in its own way."""
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_A_TOKEN)


def select_sections(sections: Sequence[Section], tokens: int) -> str:
    """The sections, each under its heading, in their order, within a number of tokens.

    What says most of a paper comes first: introduction, method, experiments and limitations share
    the room evenly, and what a short one leaves goes to the longer ones. What these four leave goes
    to related work, then to the rest, and the appendix is last.
    """
    lengths = [estimate_tokens(_told(section)) + 1 for section in sections]
    first = [place for place, section in enumerate(sections) if section.kind in _FIRST]
    shares = _shared(first, lengths, tokens)
    for kinds in (("related", "other"), ("appendix",)):
        places = [place for place, section in enumerate(sections) if section.kind in kinds]
        shares |= _shared(places, lengths, tokens - sum(shares.values()))
    parts = [_cut(_told(section), shares.get(place, 0) - 1) for place, section in enumerate(sections)]
    return "\n\n".join(part for part in parts if part)


def _shared(places: Sequence[int], lengths: Sequence[int], tokens: int) -> dict[int, int]:
    """Tokens for each place: none more than it needs, and what is scarce in equal parts."""
    shares: dict[int, int] = {}
    waiting = sorted(places, key=lambda place: lengths[place])
    for number, place in enumerate(waiting):
        shares[place] = min(lengths[place], max(0, tokens) // (len(waiting) - number))
        tokens -= shares[place]
    return shares


def _told(section: Section) -> str:
    return f"{section.heading}\n{section.text}" if section.heading else section.text


def _cut(text: str, tokens: int) -> str:
    """The beginning of a text, up to the end of a sentence, within a number of tokens."""
    if estimate_tokens(text) <= tokens:
        return text
    if tokens < _LEAST:
        return ""
    room = int((tokens - estimate_tokens(_CUT)) * _BYTES_A_TOKEN)
    head = text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    ends = [match.end() for match in _SENTENCE_END.finditer(head)]
    return head[: ends[-1] if ends and ends[-1] > room // 2 else None].rstrip() + _CUT
