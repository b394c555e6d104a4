"""Read rankings as judges write them, if they have one reading. Pure functions, linear time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ideagora.retrieval.restrictions.cutoff import title_key

MAX_TEXT = 2_000
"""Characters of a ranking written as text."""
MIN_QUOTED_WORDS = 3
"""Words from which the beginning of an idea identifies it."""

_LABEL = re.compile(r"^\W*(?:final |my )?(?:answer|ranking|order|result)\W*:", re.IGNORECASE)
_ARROWS = re.compile(r"->|→|≻")
_NAME = r"(?i:idea|hypothesis|candidate|proposal)[ _#-]{0,3}\(?(\d{1,3}|[A-Z])\b"
_NAMED = re.compile(rf"\b{_NAME}")
_WITH_REASON = re.compile(rf"\W{{0,4}}(?:\d{{1,3}}[.)]\W{{0,4}})?{_NAME}\W{{0,4}}[:–—]")
_BARE = re.compile(r"\W{0,4}(?:no\. ?|number )?(\d{1,3}|[a-z])\W{0,4}", re.IGNORECASE)
_WORST = re.compile(r"\b(?:worst|weakest|lowest|last)\b", re.IGNORECASE)
"""What the first entry of a ranking says that begins with the worst idea."""
_IDEA_KEYS = ("idea", "hypothesis", "number", "idea_number", "candidate")


def split_ranking(value: Any) -> Any:
    """Return the entries of a ranking as texts; anything else is left to validation."""
    if isinstance(value, str):
        return _split_text(value[:MAX_TEXT])
    if isinstance(value, Sequence):
        return [_entry(one, place) for place, one in enumerate(value, 1)]
    return value


def _split_text(text: str) -> list[str]:
    text = _ARROWS.sub(">", _LABEL.sub("", text)).strip()
    separator = next((one for one in (">", "\n", ";", ",") if one in text), "\n")
    return [part.strip() for part in text.split(separator) if part.strip()]


def _entry(one: Any, place: int) -> Any:
    if isinstance(one, Mapping):
        numbers = [one[key] for key in _IDEA_KEYS if isinstance(one.get(key), int | str)]
        in_order = one.get("rank", place) in (place, str(place))
        return str(numbers[0]) if len(numbers) == 1 and in_order else one
    return str(one) if isinstance(one, int) and not isinstance(one, bool) else one


def read_ranking(entries: Sequence[str], ideas: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers (from 1) of the ideas, best first.

    An entry is a number, a letter, ``Hypothesis 2: reason``, or the beginning of one idea's text.

    Raises:
        ValueError: an idea is missing or repeated, an entry does not identify one, or the worst comes first;
            the message says which.
    """
    if entries and _WORST.search(entries[0][:MAX_TEXT].partition(":")[0]):
        raise ValueError("the first entry is called the worst: give the best idea first")
    ranking = [_number(entry, ideas) for entry in entries]
    expected = set(range(1, len(ideas) + 1))
    if unknown := [number for number in ranking if number not in expected]:
        raise ValueError(f"there is no idea {unknown[0]}; they are numbered 1 to {len(ideas)}")
    if repeated := [number for number in expected if ranking.count(number) > 1]:
        raise ValueError(f"idea {repeated[0]} is ranked more than once")
    if missing := sorted(expected - set(ranking)):
        raise ValueError(f"idea {missing[0]} is not ranked")
    return tuple(ranking)


def _number(entry: str, ideas: Sequence[str]) -> int:
    if with_reason := _WITH_REASON.match(entry):
        return _position(with_reason[1])
    named = set(_NAMED.findall(entry[:MAX_TEXT]))
    if len(named) == 1:
        return _position(named.pop())
    if bare := _BARE.fullmatch(entry):
        return _position(bare[1])
    key = title_key(entry[:MAX_TEXT])
    found = [number for number, idea in enumerate(ideas, 1) if title_key(idea).startswith(key)]
    if len(found) == 1 and len(entry.split()) >= MIN_QUOTED_WORDS:
        return found[0]
    raise ValueError(f"{entry[:60]!r} does not identify one idea: give the ideas' numbers, best first")


def _position(text: str) -> int:
    return int(text) if text.isdigit() else ord(text.lower()) - ord("a") + 1
