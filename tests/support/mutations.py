"""Damage to valid samples, seeded: bytes changed, cut and doubled, and values that no one expects."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

DEEP = "[" * 100_000 + "]" * 100_000
"""As text: Python's own writer cannot nest so deep."""
HARMFUL: tuple[Any, ...] = (
    None, True, -1, 10**4000, 2**70, 1e308, "", " ", "\ud800", "a\x00b", "\u202e", "x" * 100_000, [], {},
    [[]], [None], {"a": {}}, "10.1/" + "9" * 5000, "2020-13-45", "９９９９", 0, ["\udfff"],
    {"\ud800": "\ud800"},
)  # fmt: skip
_DEEP_MARK = "deep nesting stands here"


def damaged(sample: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Versions of a file with bytes changed, cut, doubled or put in."""
    pick = random.Random(seed)
    extras = (
        b"\x00",
        b"\xff\xfe",
        b'"',
        b"{",
        b"}",
        b"[" * 2000,
        b"\\",
        b"<",
        b"9" * 5000,
        b"\xed\xa0\x80",
        b"\n",
    )
    for _ in range(count):
        content = bytearray(sample)
        for _ in range(pick.randint(1, 4)):
            place, length = pick.randrange(len(content) + 1), pick.randint(1, 40)
            kind = pick.randrange(4)
            if kind == 0:
                content[place : place + length] = pick.choice(extras)
            elif kind == 1:
                del content[place : place + length]
            elif kind == 2:
                content[place:place] = content[place : place + length] * pick.randint(1, 5)
            else:
                del content[place:]
        yield bytes(content)


def rewritten(value: Any, seed: int, count: int) -> Iterator[str]:
    """JSON texts of a value in which one to three inner values are harmful ones, deep nesting among them."""
    pick = random.Random(seed)
    for number in range(count):
        changed = json.loads(json.dumps(value))
        for _ in range(pick.randint(1, 3)):
            places = list(_places(changed))
            if not places:
                break
            holder, key = pick.choice(places)
            holder[key] = _DEEP_MARK if number % 10 == 0 else deepcopy(pick.choice(HARMFUL))
        yield as_json(changed)


def as_json(value: Any) -> str:
    """The text of a value, which may hold numbers of any length and the mark for deep nesting."""
    text = json.dumps(_marked(value))
    return text.replace(f'"{_DEEP_MARK}"', DEEP).replace('"huge number"', "9" * 4000)


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _marked(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_marked(entry) for entry in value]
    is_huge = isinstance(value, int) and value > 2**80
    return "huge number" if is_huge else value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in list(entries):
            yield value, key
            yield from _places(entry)
