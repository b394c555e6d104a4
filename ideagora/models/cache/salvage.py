"""Recover the rows of a damaged answer cache, each verified by its checksum."""

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
"""Version of the file (``PRAGMA user_version``); 0 and 1 have no checksums."""
MIN_ROW_BYTES = 100
"""Minimum size of a row; limits how many there can be."""
_HEADER = 100
_FIELDS = (
    (0, (b"SQLite format 3\x00",)),
    (16, (PAGE.to_bytes(2),)),
    (18, (b"\x01\x01", b"\x02\x02")),
    (20, (b"\x00\x40\x20\x20",)),
    (56, (b"\x00\x00\x00\x00", b"\x00\x00\x00\x01")),
)
"""Offset and allowed values: magic, page size, journal mode, payload fractions and encoding of the files."""

Row = tuple[str, str, str, str, str]
"""key, answer, created, run_id, checksum"""


@dataclass(frozen=True)
class Salvage:
    """The intact rows of a damaged file."""

    rows: tuple[Row, ...]
    expected: int | None
    """How many rows the file had; ``None``: unknown."""

    @property
    def lost(self) -> int | None:
        """How many rows cannot be read; ``None``: unknown."""
        return None if self.expected is None else max(0, self.expected - len(self.rows))

    @property
    def mean_cost(self) -> float | None:
        """Mean cost of an answer in US dollars; ``None``: no answer has a known cost."""
        usages = [json.loads(answer).get("usage") for _, answer, *_ in self.rows]
        costs = [usage.get("cost_usd") for usage in usages if isinstance(usage, dict)]
        known = [float(cost) for cost in costs if isinstance(cost, int | float)]
        return sum(known) / len(known) if known else None


def checksum(key: str, answer: str | bytes) -> str:
    """Checksum of a row's key and answer."""
    text = answer if isinstance(answer, bytes) else answer.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass") + b"\0" + text, digest_size=16).hexdigest()


def is_header_intact(path: Path) -> bool:
    """Whether a file starts like an answer cache. SQLite reads some damaged headers as an empty file."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER)
    except FileNotFoundError:
        return True
    if not start:
        return True
    version = int.from_bytes(start[60:64])
    return version <= VERSION and all(start[offset:].startswith(values) for offset, values in _FIELDS)


def salvage(path: Path) -> Salvage:
    """Recover rows through SQLite from a copy, and from pages that SQLite no longer finds."""
    with TemporaryDirectory(prefix=".salvage-", dir=path.parent) as folder:
        copy = Path(folder) / path.name
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        rows, expected = _read(copy)
    for row in salvage_rows(path.read_bytes()):
        intact = _verify([*row, None, None, None, None, None][:5])
        if intact is not None:
            rows.setdefault(intact[0], intact)
    return Salvage(tuple(rows.values()), expected)


def _read(path: Path) -> tuple[dict[str, Row], int | None]:
    """The rows by key, and how many the file had."""
    rows: dict[str, Row] = {}
    expected = None
    with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(path)) as db:
        db.text_factory = bytes
        expected = _count(db)
        max_rows = path.stat().st_size // MIN_ROW_BYTES if expected is None else expected
        for row in _intact_rows(db, max(max_rows, _max_rowid(db))):
            rows[row[0]] = row
    return rows, expected


def _count(db: sqlite3.Connection) -> int | None:
    try:
        return int(db.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.Error:
        return None


def _max_rowid(db: sqlite3.Connection) -> int:
    try:
        return int(db.execute("SELECT max(rowid) FROM answers").fetchone()[0] or 0)
    except sqlite3.Error:
        return 0


def _intact_rows(db: sqlite3.Connection, max_rowid: int) -> Iterator[Row]:
    """All rows that can be read and have a matching checksum; others are skipped."""
    columns = "rowid, key, CAST(answer AS BLOB), created, run_id"
    columns += ", checksum" if _has_checksums(db) else ", NULL"
    last = 0
    while last < max_rowid:
        try:
            query = f"SELECT {columns} FROM answers WHERE rowid > ? ORDER BY rowid"  # noqa: S608
            for number, *row in db.execute(query, (last,)):
                last = max(last + 1, number)
                if (intact := _verify(row)) is not None:
                    yield intact
            return
        except (sqlite3.Error, OverflowError):
            last += 1


def _has_checksums(db: sqlite3.Connection) -> bool:
    return any(row[1] == b"checksum" for row in db.execute("PRAGMA table_info(answers)"))


def _verify(row: list[bytes | None]) -> Row | None:
    try:
        key, answer, created, run_id = (bytes(part or b"").decode("utf-8") for part in row[:4])
        stored = bytes(row[4]).decode("ascii") if row[4] is not None else None
        fields = json.loads(answer)
    except (ValueError, TypeError, RecursionError):
        return None
    actual = checksum(key, answer)
    if not isinstance(fields, dict) or stored not in (None, actual):
        return None
    return key, answer, created, run_id, actual
