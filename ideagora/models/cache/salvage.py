"""What can still be read of a damaged cache of answers, row by row, each row checked by its checksum."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ideagora.models.cache.sqlite_pages import PAGE, salvage_rows

TABLE = """CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, answer TEXT NOT NULL, created TEXT NOT NULL, run_id TEXT NOT NULL, checksum TEXT
)"""
VERSION = 2
"""Of the file (``PRAGMA user_version``); 1 and 0 had no checksums."""
LEAST_ROW = 100
"""Bytes that a row has at least: bounds how many there can be."""
_HEADER = 100
_FIELDS = (
    (0, (b"SQLite format 3\x00",)),
    (16, (PAGE.to_bytes(2),)),
    (18, (b"\x01\x01", b"\x02\x02")),
    (20, (b"\x00\x40\x20\x20",)),
    (56, (b"\x00\x00\x00\x00", b"\x00\x00\x00\x01")),
)
"""Name, page size, journal, payload fractions and UTF-8, as SQLite writes them at the start of our files."""

Row = tuple[str, str, str, str, str]
"""key, answer, created, run_id, checksum"""


@dataclass(frozen=True)
class Salvage:
    """The sound rows of a damaged file."""

    rows: tuple[Row, ...]
    expected: int | None
    """How many rows there were; ``None``: nothing tells."""

    @property
    def lost(self) -> int | None:
        """How many rows cannot be read; ``None``: nothing tells."""
        return None if self.expected is None else max(0, self.expected - len(self.rows))

    @property
    def mean_cost(self) -> float | None:
        """US dollars that an answer cost on average; ``None``: no answer has a known cost."""
        told = [json.loads(answer).get("usage") for _, answer, *_ in self.rows]
        costs = [usage.get("cost_usd") for usage in told if isinstance(usage, dict)]
        known = [float(cost) for cost in costs if isinstance(cost, int | float)]
        return sum(known) / len(known) if known else None


def checksum(key: str, answer: str | bytes) -> str:
    """What a row's key and answer come to; another value means that one of them was damaged."""
    text = answer if isinstance(answer, bytes) else answer.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass") + b"\0" + text, digest_size=16).hexdigest()


def header_is_sound(path: Path) -> bool:
    """Whether a file starts as our caches do; SQLite itself reads some damaged headers and finds nothing."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER)
    except FileNotFoundError:
        return True
    if not start:
        return True
    version = int.from_bytes(start[60:64])
    return version <= VERSION and all(start[place:].startswith(wanted) for place, wanted in _FIELDS)


def salvage(path: Path) -> Salvage:
    """What SQLite can still read of a copy, and what stands on pages that it no longer finds."""
    with TemporaryDirectory(prefix=".salvage-", dir=path.parent) as folder:
        copy = Path(folder) / path.name
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        found, expected = _read(copy)
    for row in salvage_rows(path.read_bytes()):
        sound = _sound([*row, None, None, None, None, None][:5])
        if sound is not None:
            found.setdefault(sound[0], sound)
    return Salvage(tuple(found.values()), expected)


def _read(path: Path) -> tuple[dict[str, Row], int | None]:
    """The rows by key, and how many there were."""
    found: dict[str, Row] = {}
    expected = None
    with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(path)) as db:
        db.text_factory = bytes
        expected = _count(db)
        most = path.stat().st_size // LEAST_ROW if expected is None else expected
        for row in _sound_rows(db, max(most, _highest(db))):
            found[row[0]] = row
    return found, expected


def _count(db: sqlite3.Connection) -> int | None:
    try:
        return int(db.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.Error:
        return None


def _highest(db: sqlite3.Connection) -> int:
    try:
        return int(db.execute("SELECT max(rowid) FROM answers").fetchone()[0] or 0)
    except sqlite3.Error:
        return 0


def _sound_rows(db: sqlite3.Connection, highest: int) -> Iterator[Row]:
    """All rows that can be read and are as they were written; what cannot be read is stepped over."""
    wanted = "rowid, key, CAST(answer AS BLOB), created, run_id"
    wanted += ", checksum" if _has_checksums(db) else ", NULL"
    last = 0
    while last < highest:
        try:
            query = f"SELECT {wanted} FROM answers WHERE rowid > ? ORDER BY rowid"  # noqa: S608
            for number, *row in db.execute(query, (last,)):
                last = max(last + 1, number)
                if (sound := _sound(row)) is not None:
                    yield sound
            return
        except (sqlite3.Error, OverflowError):
            last += 1


def _has_checksums(db: sqlite3.Connection) -> bool:
    return any(row[1] == b"checksum" for row in db.execute("PRAGMA table_info(answers)"))


def _sound(row: list[bytes | None]) -> Row | None:
    try:
        key, answer, created, run_id = (bytes(part or b"").decode("utf-8") for part in row[:4])
        written = bytes(row[4]).decode("ascii") if row[4] is not None else None
        told = json.loads(answer)
    except (ValueError, TypeError, RecursionError):
        return None
    found = checksum(key, answer)
    return (
        (key, answer, created, run_id, found) if isinstance(told, dict) and written in (None, found) else None
    )
