"""Read rows from the leaf pages of a SQLite file, without its B-tree.

For files whose interior pages are damaged: https://www.sqlite.org/fileformat2.html, sections 1.6 and 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator

PAGE = 4096
"""Page size in bytes, SQLite's default."""
_TABLE_LEAF = 0x0D
_FIRST_TEXT = 13
"""Odd serial types from here on are text."""


def salvage_rows(content: bytes) -> Iterator[list[bytes | None]]:
    """The columns of every row in every table leaf page: text as bytes, other types as ``None``."""
    for start in range(0, len(content), PAGE):
        head = start + (100 if start == 0 else 0)
        if content[head : head + 1] != bytes([_TABLE_LEAF]):
            continue
        count = int.from_bytes(content[head + 3 : head + 5])
        for number in range(count):
            place = head + 8 + 2 * number
            cell = start + int.from_bytes(content[place : place + 2])
            try:
                yield _columns(_payload(content, cell))
            except (IndexError, ValueError):
                continue


def _payload(content: bytes, cell: int) -> bytes:
    """The record in a cell, including its overflow pages."""
    length, place = _varint(content, cell)
    _, place = _varint(content, place)
    max_local = PAGE - 35
    min_local = (PAGE - 12) * 32 // 255 - 23
    spilled = min_local + (length - min_local) % (PAGE - 4)
    local = length if length <= max_local else spilled if spilled <= max_local else min_local
    parts, size = [content[place : place + local]], local
    page = int.from_bytes(content[place + local : place + local + 4]) if length > local else 0
    while size < length:
        start = (page - 1) * PAGE
        if not 0 < start < len(content):
            raise ValueError("the chain of overflow pages is broken")
        part = content[start + 4 : start + min(PAGE, 4 + length - size)]
        parts.append(part)
        size += max(1, len(part))
        page = int.from_bytes(content[start : start + 4])
    return b"".join(parts)


def _columns(record: bytes) -> list[bytes | None]:
    end, place = _varint(record, 0)
    kinds = []
    while place < end:
        kind, place = _varint(record, place)
        kinds.append(kind)
    columns: list[bytes | None] = []
    for kind in kinds:
        size = (kind - 12) // 2 if kind >= _FIRST_TEXT - 1 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind]
        is_text = kind >= _FIRST_TEXT and kind % 2 == 1
        columns.append(record[place : place + size] if is_text else None)
        place += size
    return columns


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """A variable-length integer of up to nine bytes, and the position after it."""
    value = 0
    for number in range(9):
        byte = content[place + number]
        if number == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + number + 1
    raise AssertionError("unreachable")
