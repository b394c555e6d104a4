"""Every answer that was ever paid for, in one SQLite file. An answer is stored before it is used.

The key is the hash of the canonical request (``request.py``). Several processes may share the file:
it is in write-ahead mode, and a commit reaches the disk before ``put`` returns, so neither kill -9
nor a power cut takes an answer back. The first answer to a request stays: all runs then see the
same one.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from ideagora.errors import FolderUnusable
from ideagora.schema import Record, Usage

T = TypeVar("T")
log = logging.getLogger(__name__)

SECONDS_TO_WAIT_FOR_LOCK = 30.0
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, answer TEXT NOT NULL, created TEXT NOT NULL, run_id TEXT NOT NULL
)"""
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Stored(Record):
    """One reply of a provider, as it came, and what it cost the run that asked for it."""

    model: str
    text: str
    finish_reason: str | None
    usage: Usage
    run_id: str
    """The run that paid."""
    created: str
    """UTC, ISO 8601."""


def now() -> str:
    """The time for ``Stored.created``."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Cache:
    """The answers under ``<home>/cache``; may be used from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._inode: int | None = None

    @classmethod
    def at_home(cls, home: Path) -> Cache:
        """The cache that all runs under one home folder share."""
        return cls(home / "cache" / "answers.sqlite")

    def get(self, key: str) -> Stored | None:
        """The stored answer to a request.

        Raises:
            FolderUnusable: the file cannot be opened or read.
        """
        row = self._do(lambda db: db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone())
        return None if row is None else Stored.model_validate_json(row[0])

    def put(self, key: str, answer: Stored) -> Stored:
        """Store an answer for good; returns the one that holds from now on (the first that came).

        Raises:
            FolderUnusable: the file cannot be written, or the disk is full.
        """
        row = (key, answer.model_dump_json(), answer.created, answer.run_id)
        self._do(lambda db: db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row).close())
        return self.get(key) or answer

    def forget(self, keys: Iterable[str]) -> None:
        """Drop the answers to these requests, so that they are asked again.

        Raises:
            FolderUnusable: the file cannot be written.
        """
        rows = [(key,) for key in keys]
        self._do(lambda db: db.executemany("DELETE FROM answers WHERE key = ?", rows).close())

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return work(self._connection())
            except sqlite3.DatabaseError as error:
                if not _is_corrupt(error):
                    raise self._unusable(error) from None
                self._set_aside(error)
            try:
                return work(self._connection())
            except sqlite3.DatabaseError as error:
                raise self._unusable(error) from None

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise self._unusable(error) from None
            self._inode = _inode(self.path)
            self._open = _opened(self.path)
            self._inode = _inode(self.path)
        return self._open

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Rename a corrupt file, unless another process has already put a new one in its place."""
        if self._open is not None:
            self._open.close()
        self._open = None
        if _inode(self.path) != self._inode:
            return
        aside = self.path.with_name(
            f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        )
        try:
            self.path.rename(aside)
            for ending in ("-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        except OSError as failure:
            raise self._unusable(failure) from None
        log.warning("the cache of answers was corrupt (%s): set aside as %s, a new one begun", error, aside)

    def _unusable(self, error: Exception) -> FolderUnusable:
        advice = "free some space or choose another IDEAGORA_HOME, then run the same command again"
        return FolderUnusable(f"the cache of answers {self.path} cannot be used: {error}; {advice}.")


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(
        path, timeout=SECONDS_TO_WAIT_FOR_LOCK, isolation_level=None, check_same_thread=False
    )
    try:
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", _TABLE):
            db.execute(statement).close()
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _CORRUPT
