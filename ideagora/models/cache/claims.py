"""Claims on requests, so that processes with the same request send it once.

While one process holds a claim, others wait for the answer in the cache. A claim ends when it is released,
when its process ends, or when it expires. Claims only save money: if their file cannot be used, each
process sends its own request, and none waits longer than the timeout of one attempt.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from platform import node
from uuid import uuid4

from ideagora.models.cache.answers import CachedResponse, ResponseCache
from ideagora.models.sqlite import Database, create_tables, open_database

_TABLE = """CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,
    expires REAL NOT NULL
) WITHOUT ROWID"""
_BUSY_SECONDS = 1.0
_POLL_SECONDS = 0.1
"""Interval at which the cache is checked for an answer that another process is fetching."""


class RequestClaims:
    """The claims of all processes that share a cache. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owner = uuid4().hex
        self._database = Database(self._connect)

    def take(self, key: str, seconds: float) -> bool:
        """Claim a request; returns ``False`` while another live process holds an unexpired claim."""
        try:
            with self._database.transaction() as db:
                return self._take(db, key, seconds)
        except (sqlite3.Error, OSError):
            return True

    def release(self, key: str) -> None:
        """Release this process's claim, if it holds one."""
        query = "DELETE FROM claims WHERE key = ? AND owner = ?"
        with suppress(sqlite3.Error, OSError), self._database.use() as db:
            db.execute(query, (key, self._owner)).close()

    @asynccontextmanager
    async def hold(
        self, key: str, cache: ResponseCache, seconds: float
    ) -> AsyncIterator[CachedResponse | None]:
        """Claim a request, waiting ``seconds`` at most for the process that holds its claim.

        Yields:
            The answer, if another process has just stored it.
        """
        deadline = time.monotonic() + seconds
        cached = None
        try:
            while not await asyncio.to_thread(self.take, key, 2 * seconds):
                await asyncio.sleep(_POLL_SECONDS)
                cached = await asyncio.to_thread(cache.get, key)
                if cached is not None or time.monotonic() > deadline:
                    break
            # The previous holder of the claim may have stored the answer since the cache was last checked.
            yield cached or await asyncio.to_thread(cache.get, key)
        finally:
            self.release(key)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.disconnect()

    def _take(self, db: sqlite3.Connection, key: str, seconds: float) -> bool:
        now = time.time()
        query = "SELECT owner, host, process, expires FROM claims WHERE key = ?"
        claim = db.execute(query, (key,)).fetchone()
        is_free = (
            claim is None or claim[0] == self._owner or not _is_active(claim[1], claim[2], claim[3], now)
        )
        if is_free:
            row = (key, self._owner, node(), os.getpid(), now + seconds)
            db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", row).close()
        return is_free

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return open_database(
            self.path,
            lambda db: create_tables(db, (_TABLE,)),
            busy_seconds=_BUSY_SECONDS,
            synchronous="OFF",
        )


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
