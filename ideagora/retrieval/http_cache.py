"""Answers of the sources of literature on disk, so that the same question is not asked twice.

A table of our own, because hishel follows the HTTP standard's rules for caches: batch questions are
POSTs, and the services send no lifetime or forbid one, so it would keep next to nothing of theirs.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from ideagora.errors import FolderUnusable

T = TypeVar("T")

_BUSY_SECONDS = 30.0
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers"
    " (key TEXT PRIMARY KEY, status INTEGER NOT NULL, body BLOB NOT NULL, day TEXT NOT NULL)"
)


class Kept(NamedTuple):
    """An answer as it came: HTTP status (200 or 404), body, and the day (YYYY-MM-DD) it came."""

    status: int
    body: bytes
    day: str


class HttpCache:
    """``<home>/cache/literature.sqlite``; for any number of threads and processes.

    Args:
        path: the file.
        days: age up to which an answer is used again; 0 keeps nothing in use.
        today: tells the day.
    """

    def __init__(self, path: Path, days: int, today: Callable[[], date]) -> None:
        self.path = path
        self.days = days
        self._today = today
        self._threads = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def get(self, key: str) -> Kept | None:
        """The answer to a question, unless it is too old.

        Raises:
            FolderUnusable: the file cannot be made or read.
        """
        query = "SELECT status, body, day FROM answers WHERE key = ? AND day > ?"
        row = self._do(lambda db: db.execute(query, (key, self.oldest_day())).fetchone())
        return Kept(row[0], zlib.decompress(row[1]), row[2]) if row else None

    def put(self, key: str, answer: Kept) -> None:
        """Keep an answer.

        Raises:
            FolderUnusable: the file cannot be written.
        """
        row = (key, answer.status, zlib.compress(answer.body), answer.day)
        self._do(lambda db: db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row).close())

    def oldest_day(self) -> str:
        """Answers of this day and before are too old."""
        return (self._today() - timedelta(days=self.days)).isoformat()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._threads:
            self._drop()

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._threads:
            try:
                try:
                    return work(self._connection())
                except sqlite3.DatabaseError as error:
                    if (getattr(error, "sqlite_errorcode", 0) & 0xFF) not in _CORRUPT:
                        raise
                    self._begin_anew()
                    return work(self._connection())
            except (OSError, sqlite3.Error) as error:
                raise FolderUnusable(
                    f"the cache of literature {self.path} cannot be used: {error}. "
                    "Free some space or choose another IDEAGORA_HOME, then run the same command again."
                ) from None

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", _TABLE):
                self._open.execute(statement).close()
            self._open.execute("DELETE FROM answers WHERE day <= ?", (self.oldest_day(),)).close()
        return self._open

    def _begin_anew(self) -> None:
        """Nothing in here is lost for good: a damaged file is thrown away."""
        self._drop()
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None
