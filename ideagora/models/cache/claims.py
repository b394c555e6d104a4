"""Who is asking which question just now, so that processes with the same question pay for it once.

A claim says that a process is asking; the others wait for its answer in the cache. It ends with the answer,
with its process, or after its time. Claims save money and nothing depends on them: where their file cannot
be used, everybody asks for himself, and nobody waits longer than one try of a call may take.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from platform import node
from uuid import uuid4

from ideagora.models.sqlite import use_write_ahead_log

_TABLE = """CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,
    expires REAL NOT NULL
) WITHOUT ROWID"""
_BUSY_SECONDS = 1.0


class RequestClaims:
    """The claims of all processes that share a cache of answers; may be used from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owner = uuid4().hex
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def take(self, key: str, seconds: float) -> bool:
        """Whether this process is to ask: nobody else does, or whoever did is gone or out of time."""
        try:
            with self._lock:
                return self._take(self._connection(), key, seconds)
        except (sqlite3.Error, OSError):
            return True

    def release(self, key: str) -> None:
        """Give a claim back; one that is another's stays."""
        with self._lock, suppress(sqlite3.Error, OSError):
            query = "DELETE FROM claims WHERE key = ? AND owner = ?"
            self._connection().execute(query, (key, self._owner)).close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _take(self, db: sqlite3.Connection, key: str, seconds: float) -> bool:
        now = time.time()
        db.execute("BEGIN IMMEDIATE")
        try:
            query = "SELECT owner, host, process, expires FROM claims WHERE key = ?"
            held = db.execute(query, (key,)).fetchone()
            free = held is None or held[0] == self._owner or not _is_asking(held[1], held[2], held[3], now)
            if free:
                row = (key, self._owner, node(), os.getpid(), now + seconds)
                db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", row)
            db.execute("COMMIT")
            return free
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            db = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            use_write_ahead_log(db, _BUSY_SECONDS)
            for statement in ("PRAGMA synchronous=OFF", _TABLE):
                db.execute(statement).close()
            self._open = db
        return self._open


def _is_asking(host: str, process: int, expires: float, now: float) -> bool:
    """Whether the holder of a claim can still be at work."""
    if expires <= now:
        return False
    if host != node():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True
