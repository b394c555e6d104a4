"""On-disk cache of responses from literature services.

hishel is not used because it follows the HTTP standard's caching rules: batch requests are POSTs, and
the services send no lifetime or forbid caching, so it would cache almost nothing.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from ideagora.errors import FolderUnusable, LibraryError
from ideagora.models.sqlite import Database, create_tables, error_code, open_database, transaction
from ideagora.retrieval.current_run import current_run

T = TypeVar("T")

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS pages (key TEXT NOT NULL, digest TEXT NOT NULL, status INTEGER NOT NULL,"
    " body BLOB NOT NULL, day TEXT NOT NULL, PRIMARY KEY (key, digest))",
    "CREATE TABLE IF NOT EXISTS seen (run TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,"
    " PRIMARY KEY (run, key)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS seen_pages ON seen (key, digest)",
)
_OLD_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'answers'"
"""Detects the table of earlier versions, which had one response per request."""
_MIGRATE = (
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
"""Deletes older responses to a request that no run has seen."""


class NotCached(LibraryError):
    """A request without cached response where only the cache may be used (``cache_only``, ``--replay``)."""


def not_cached(name: str) -> NotCached:
    """The error for a request that a replay cannot answer."""
    return NotCached(
        f"{name}: --replay makes no requests, and a response is missing from the cache. "
        "Run the same command once without --replay."
    )


_cache_only: ContextVar[bool] = ContextVar("cache_only", default=False)


@contextmanager
def cache_only() -> Iterator[None]:
    """Use only cached responses within the context; other requests raise ``NotCached``."""
    token = _cache_only.set(True)
    try:
        yield
    finally:
        _cache_only.reset(token)


def is_cache_only() -> bool:
    """Whether only cached responses may be used in this context."""
    return _cache_only.get()


class CachedHttpResponse(NamedTuple):
    """HTTP status (200 or 404), body, and day (YYYY-MM-DD) of a response."""

    status: int
    body: bytes
    day: str

    @property
    def digest(self) -> str:
        """Identifies this response."""
        head = f"{self.status} {self.day} ".encode()
        return hashlib.sha256(head + self.body).hexdigest()[:32]


class HttpCache:
    """``<home>/cache/literature.sqlite``; safe for threads and processes.

    The cache records which responses each run (``current_run``) has seen, and keeps them for its replay when
    newer ones arrive. Responses are never deleted for their age, so the settings of runs do not interfere.

    Args:
        path: the file.
        days: maximum age of responses that are used again; 0 for none.
        today: returns the current day.
        replay: whether responses of any age are used, since no requests are made.
    """

    def __init__(self, path: Path, days: int, today: Callable[[], date], *, replay: bool = False) -> None:
        self.path = path
        self.days = days
        self.replay = replay
        self._today = today
        self._database = Database(self._connect)

    def get(self, key: str) -> CachedHttpResponse | None:
        """The response to a request; ``None`` if there is none or it is too old or corrupt.

        Raises:
            FolderUnusable: the file cannot be created or read.
        """
        row = self._do(lambda db: self._row(db, key))
        try:
            return CachedHttpResponse(row[1], zlib.decompress(row[2]), row[3]) if row else None
        except (zlib.error, TypeError):
            return None

    def put(self, key: str, response: CachedHttpResponse) -> None:
        """Store a response.

        Raises:
            FolderUnusable: the file cannot be written.
        """
        row = (key, response.digest, response.status, zlib.compress(response.body), response.day)

        def work(db: sqlite3.Connection) -> None:
            with transaction(db):
                db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)", row).close()
                self._note_seen(db, key, response.digest)
                db.execute(_UNSEEN, (key, response.digest)).close()

        self._do(work)

    def oldest_day(self) -> str:
        """Responses from this day or earlier are too old; empty if none are."""
        return "" if self.replay else (self._today() - timedelta(days=self.days)).isoformat()

    def _row(self, db: sqlite3.Connection, key: str) -> tuple[str, int, bytes, str] | None:
        run = current_run.get()
        prefers_seen = run is not None and (run.resumed or self.replay)
        row = db.execute(_SEEN, (key, run.id)).fetchone() if run is not None and prefers_seen else None
        row = row or db.execute(_NEWEST, (key, self.oldest_day())).fetchone()
        if row:
            self._note_seen(db, key, row[0])
        return row  # type: ignore[no-any-return]

    def _note_seen(self, db: sqlite3.Connection, key: str, digest: str) -> None:
        run = current_run.get()
        if run is not None and run.id and not self.replay:
            db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", (run.id, key, digest)).close()

    def close(self) -> None:
        """Close the file; the next use reopens it."""
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
                    f"the literature cache {self.path} cannot be used: {error}. "
                    "Free some disk space or set another IDEAGORA_HOME, then run the same command again."
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
    """Create the tables, and move the rows of the old table to the new one."""
    create_tables(db, _TABLES)
    if db.execute(_OLD_TABLE).fetchone():
        with transaction(db):
            for statement in _MIGRATE if db.execute(_OLD_TABLE).fetchone() else ():
                db.execute(statement).close()
