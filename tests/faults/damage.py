"""Ways in which a file goes bad, as functions of its bytes; ``None`` means that the file is gone."""

from __future__ import annotations

import random
from collections.abc import Callable

Damage = Callable[[bytes, random.Random], bytes | None]


def emptied(content: bytes, chance: random.Random) -> bytes:
    """Nothing is left in it."""
    return b""


def cut(content: bytes, chance: random.Random) -> bytes:
    """The second half is missing, as after a full disk."""
    return content[: len(content) // 2]


def flipped(content: bytes, chance: random.Random) -> bytes:
    """One bit is another one."""
    if not content:
        return b"\x01"
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :]


def overwritten(content: bytes, chance: random.Random) -> bytes:
    """A page in the middle holds noise."""
    start = max(0, len(content) // 2 - 512)
    noise = chance.randbytes(min(1024, len(content) - start))
    return content[:start] + noise + content[start + len(noise) :]


def removed(content: bytes, chance: random.Random) -> None:
    """Somebody deleted it."""


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage for damage in (emptied, cut, flipped, overwritten, removed)
}
