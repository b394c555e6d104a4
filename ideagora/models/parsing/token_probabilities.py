"""What might have stood in place of the choices in a reply, from the probabilities of its tokens.

Providers list the most probable tokens at each place (OpenAI's ``logprobs``). The place of a choice is where
the value of its field begins in the JSON; a token may begin before it, with the quotation mark or a space.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_origin

from pydantic import BaseModel

MOST_TOKENS = 5
"""Alternatives requested at each place, of which all providers give at least as many."""
_ENOUGH = 0.5
"""Probability that the alternatives of known meaning must have together."""
_VALUE = re.compile(r'"([^"\\]++)"\s*+:\s*+"')
"""The name of a field and the beginning of its value; quotation marks within a text have a backslash."""

Token = tuple[bytes, Sequence[tuple[bytes, float]]]
"""A token of the reply, and the alternatives in its place with their log-probabilities."""


def choice_fields(answer: type[BaseModel]) -> list[str]:
    """The fields of an answer that are a choice among given words."""
    return [name for name, field in answer.model_fields.items() if get_origin(field.annotation) is Literal]


def read_tokens(logprobs: Any) -> list[Token]:
    """The tokens in a response's ``choices[0].logprobs``; empty if the provider gives none."""
    content = getattr(logprobs, "content", None) or []
    return [
        (_bytes(one), [(_bytes(top), float(top.logprob)) for top in one.top_logprobs or []])
        for one in content
    ]


def _bytes(token: Any) -> bytes:
    return token.token.encode(errors="surrogatepass") if token.bytes is None else bytes(token.bytes)


def find_alternatives(
    text: str, tokens: Sequence[Token], fields: Sequence[str]
) -> dict[str, dict[str, float]] | None:
    """For each field, the beginnings of values in its place with their probabilities.

    ``None`` if there are no tokens, or they are not those of the text. A field that the text does not have is
    left out.
    """
    if not tokens:
        return None
    whole, raw = b"".join(token for token, _ in tokens), text.encode(errors="surrogatepass")
    start = whole.find(raw) if raw.strip() else -1
    if start < 0:
        return None
    ends = {match[1]: match.end() for match in _VALUE.finditer(text) if match[1] in fields}
    return {
        field: _at(tokens, start + len(text[:end].encode(errors="surrogatepass")))
        for field, end in ends.items()
    }


def _at(tokens: Sequence[Token], place: int) -> dict[str, float]:
    """The alternatives of the token that covers a place, without what comes before the place."""
    begin = 0
    for token, alternatives in tokens:
        if begin + len(token) > place:
            before = token[: place - begin]
            values: dict[str, float] = {}
            for other, logprob in alternatives:
                value = other[len(before) :].decode(errors="replace")
                if value and other.startswith(before):
                    values[value] = values.get(value, 0.0) + math.exp(logprob)
            return values
        begin += len(token)
    return {}


def choice_probabilities(
    alternatives: Mapping[str, float], choices: Sequence[str]
) -> dict[str, float] | None:
    """The probability of each choice; ``None`` if the alternatives say too little about them.

    An alternative stands for the only choice that it begins, or that it is followed by other marks.
    """
    total = dict.fromkeys(choices, 0.0)
    for value, probability in alternatives.items():
        word = value.casefold().strip()
        meant = [
            choice for choice in choices if word and (choice.startswith(word) or word.startswith(choice))
        ]
        if len(meant) == 1:
            total[meant[0]] += probability
    known = sum(total.values())
    if known < _ENOUGH:
        return None
    return {choice: probability / known for choice, probability in total.items()}
