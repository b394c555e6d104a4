"""Claims on requests, so that processes with the same request send it once.

While one process holds a claim, others wait for the answer in the cache. A claim ends when it is released,
when its process ends, or when it expires. Claims only save money: if their file cannot be used, each
process sends its own request, and none waits longer than the timeout of one attempt.
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
    """The claims of all processes that share a cache. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owner = uuid4().hex
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def take(self, key: str, seconds: float) -> bool:
        """Claim a request; returns ``False`` while another live process holds an unexpired claim."""
        try:
            with self._lock:
                return self._take(self._connection(), key, seconds)
        except (sqlite3.Error, OSError):
            return True

    def release(self, key: str) -> None:
        """Release this process's claim, if it holds one."""
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
            claim = db.execute(query, (key,)).fetchone()
            is_free = (
                claim is None or claim[0] == self._owner or not _is_active(claim[1], claim[2], claim[3], now)
            )
            if is_free:
                row = (key, self._owner, node(), os.getpid(), now + seconds)
                db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", row)
            db.execute("COMMIT")
            return is_free
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


def _is_active(host: str, process: int, expires: float, now: float) -> bool:
    """Whether a claim is unexpired and its process may still be running."""
    if expires <= now:
        return False
    if host != node():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # the process belongs to another user
    return True
