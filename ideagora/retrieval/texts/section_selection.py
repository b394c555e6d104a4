"""Selects the sections of a full text that fit a token limit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ideagora.retrieval.store.fulltext import Section

READER_TOKENS = 6_000
"""Tokens of a paper that the reader role is shown; about ten pages."""
_BYTES_PER_TOKEN = 3.5
"""English text has about 4.5 bytes per token with current tokenizers, other scripts fewer."""
_FIRST = ("introduction", "method", "experiment", "limitation")
_MIN_TOKENS = 40
"""Shorter excerpts of a section are omitted."""
_ELLIPSIS = " […]"
_SENTENCE_END = re.compile(r"[.!?][)\]”\"]*(?=\s)|\n")


def estimate_tokens(text: str) -> int:
    """A conservative estimate of a text's tokens, since tokenizers differ."""
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def select_sections(sections: Sequence[Section], tokens: int) -> str:
    """The sections with their headings, in order, cut to a number of tokens.

    Introduction, method, experiments and limitations share the tokens evenly; what a short section
    leaves goes to longer ones. The remainder goes to related work and other sections, then the appendix.
    """
    lengths = [estimate_tokens(_text_of(section)) + 1 for section in sections]
    first = [place for place, section in enumerate(sections) if section.kind in _FIRST]
    shares = _allocate(first, lengths, tokens)
    for kinds in (("related", "other"), ("appendix",)):
        places = [place for place, section in enumerate(sections) if section.kind in kinds]
        shares |= _allocate(places, lengths, tokens - sum(shares.values()))
    parts = [_truncate(_text_of(section), shares.get(place, 0) - 1) for place, section in enumerate(sections)]
    return "\n\n".join(part for part in parts if part)


def _allocate(places: Sequence[int], lengths: Sequence[int], tokens: int) -> dict[int, int]:
    """Tokens per section: at most its length, scarce tokens in equal parts."""
    shares: dict[int, int] = {}
    waiting = sorted(places, key=lambda place: lengths[place])
    for number, place in enumerate(waiting):
        shares[place] = min(lengths[place], max(0, tokens) // (len(waiting) - number))
        tokens -= shares[place]
    return shares


def _text_of(section: Section) -> str:
    return f"{section.heading}\n{section.text}" if section.heading else section.text


def _truncate(text: str, tokens: int) -> str:
    """The beginning of a text up to the end of a sentence, within a number of tokens."""
    if estimate_tokens(text) <= tokens:
        return text
    if tokens < _MIN_TOKENS:
        return ""
    room = int((tokens - estimate_tokens(_ELLIPSIS)) * _BYTES_PER_TOKEN)
    head = text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    ends = [match.end() for match in _SENTENCE_END.finditer(head)]
    return head[: ends[-1] if ends and ends[-1] > room // 2 else None].rstrip() + _ELLIPSIS
