"""Answers of the sources of literature on disk, so that the same question is not asked twice.

A table of our own, because hishel follows the HTTP standard's rules for caches: batch questions are
POSTs, and the services send no lifetime or forbid one, so it would keep next to nothing of theirs.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from ideagora.errors import FolderUnusable
from ideagora.models.sqlite import Database, create_tables, error_code, open_database, transaction

T = TypeVar("T")

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS pages (key TEXT NOT NULL, digest TEXT NOT NULL, status INTEGER NOT NULL,"
    " body BLOB NOT NULL, day TEXT NOT NULL, PRIMARY KEY (key, digest))",
    "CREATE TABLE IF NOT EXISTS seen (run TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,"
    " PRIMARY KEY (run, key)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS seen_pages ON seen (key, digest)",
)
_FORMER = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'answers'"
"""The table of earlier versions, which had one page for a question."""
_MOVED = (
    "INSERT OR IGNORE INTO pages SELECT key, 'former', status, body, day FROM answers",
    "DROP TABLE answers",
)
_SEEN = (
    "SELECT pages.digest, status, body, day FROM pages JOIN seen USING (key, digest)"
    " WHERE key = ? AND run = ?"
)
_NEWEST = "SELECT digest, status, body, day FROM pages WHERE key = ? AND day > ? ORDER BY rowid DESC LIMIT 1"
_UNSEEN = (
    "DELETE FROM pages WHERE key = ? AND digest != ?"
    " AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.key = pages.key AND seen.digest = pages.digest)"
)
"""Earlier answers to a question that no run has seen."""


class CachedHttpResponse(NamedTuple):
    """An answer as it came: HTTP status (200 or 404), body, and the day (YYYY-MM-DD) it came."""

    status: int
    body: bytes
    day: str

    @property
    def digest(self) -> str:
        """Names this very answer."""
        head = f"{self.status} {self.day} ".encode()
        return hashlib.sha256(head + self.body).hexdigest()[:32]


class HttpCache:
    """``<home>/cache/literature.sqlite``; for any number of threads and processes.

    It remembers which answers a run has seen, and keeps those for its replay when newer ones come.
    Nothing is deleted for its age, so one run's setting takes nothing from another.

    Args:
        path: the file.
        days: age up to which an answer is used again; 0: none is.
        today: tells the day.
        replay: whether answers of any age count, since nobody is to be asked.
    """

    def __init__(self, path: Path, days: int, today: Callable[[], date], *, replay: bool = False) -> None:
        self.path = path
        self.days = days
        self.replay = replay
        self._today = today
        self._run: str | None = None
        self._seen_first = False
        self._database = Database(self._connect)

    def begin_run(self, run: str, *, resumed: bool) -> None:
        """From now on a run asks: what it gets is noted as seen by it.

        Args:
            run: its identity.
            resumed: it was stopped before; what it saw then counts, whatever its age.
        """
        self._run, self._seen_first = run, resumed or self.replay

    def end_run(self) -> None:
        """No run asks any more."""
        self._run, self._seen_first = None, self.replay

    def get(self, key: str) -> CachedHttpResponse | None:
        """The answer to a question; ``None``: there is none, or it is too old, or damaged.

        Raises:
            FolderUnusable: the file cannot be made or read.
        """
        row = self._do(lambda db: self._row(db, key))
        try:
            return CachedHttpResponse(row[1], zlib.decompress(row[2]), row[3]) if row else None
        except (zlib.error, TypeError):
            return None

    def put(self, key: str, answer: CachedHttpResponse) -> None:
        """Keep an answer.

        Raises:
            FolderUnusable: the file cannot be written.
        """
        row = (key, answer.digest, answer.status, zlib.compress(answer.body), answer.day)

        def work(db: sqlite3.Connection) -> None:
            with transaction(db):
                db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)", row).close()
                self._note_seen(db, key, answer.digest)
                db.execute(_UNSEEN, (key, answer.digest)).close()

        self._do(work)

    def oldest_day(self) -> str:
        """Answers of this day and before are too old; of an empty day none is."""
        return "" if self.replay else (self._today() - timedelta(days=self.days)).isoformat()

    def _row(self, db: sqlite3.Connection, key: str) -> tuple[str, int, bytes, str] | None:
        row = db.execute(_SEEN, (key, self._run)).fetchone() if self._seen_first else None
        row = row or db.execute(_NEWEST, (key, self.oldest_day())).fetchone()
        if row:
            self._note_seen(db, key, row[0])
        return row  # type: ignore[no-any-return]

    def _note_seen(self, db: sqlite3.Connection, key: str, digest: str) -> None:
        if self._run is not None and not self.replay:
            db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", (self._run, key, digest)).close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.disconnect()

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._database.lock:
            try:
                try:
                    with self._database.use() as db:
                        return work(db)
                except sqlite3.DatabaseError as error:
                    if error_code(error) not in _CORRUPT:
                        raise
                    self._delete()
                    with self._database.use() as db:
                        return work(db)
            except (OSError, sqlite3.Error) as error:
                self._database.disconnect()
                raise FolderUnusable(
                    f"the cache of literature {self.path} cannot be used: {error}. "
                    "Free some space or choose another IDEAGORA_HOME, then run the same command again."
                ) from None

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return open_database(self.path, _prepare, synchronous="NORMAL")

    def _delete(self) -> None:
        """Delete a damaged file; everything in it can be fetched again."""
        self._database.disconnect()
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)


def _prepare(db: sqlite3.Connection) -> None:
    """Create the tables, and move the rows of the former table to the new one."""
    create_tables(db, _TABLES)
    if db.execute(_FORMER).fetchone():
        with transaction(db):
            for statement in _MOVED if db.execute(_FORMER).fetchone() else ():
                db.execute(statement).close()
