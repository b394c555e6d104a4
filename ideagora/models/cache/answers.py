"""Every answer that was ever paid for, in one SQLite file. An answer is stored before it is used.

Each row has a checksum. A row that was damaged is asked again, and nothing else is; of a file that SQLite
cannot read any more, the sound rows are saved (``salvage.py``). Nothing here is ever replaced or deleted.

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
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from ideagora.errors import FolderUnusable
from ideagora.models.cache.salvage import TABLE, VERSION, Salvage, checksum, header_is_sound, salvage
from ideagora.models.sqlite import use_write_ahead_log
from ideagora.schema import Record, Usage

T = TypeVar("T")
log = logging.getLogger(__name__)

SECONDS_TO_WAIT_FOR_LOCK = 30.0
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR)
"""Result codes of a file whose content is not whole, or not ours."""


class CachedResponse(Record):
    """One reply of a provider, as it came, and what it cost the run that asked for it."""

    model: str
    text: str
    finish_reason: str | None
    usage: Usage
    run_id: str
    """Identity of the run that paid; the same for the same work in another folder."""
    created: str
    """UTC, ISO 8601."""
    request: str = ""
    """The request that it answers, by its name in the payer's events; empty: from an older version."""


def utc_now() -> str:
    """The time for ``CachedResponse.created``."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class ResponseCache:
    """The answers under ``<home>/cache``; may be used from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._inode: int | None = None

    @classmethod
    def for_home(cls, home: Path) -> ResponseCache:
        """The cache that all runs under one home folder share."""
        return cls(home / "cache" / "answers.sqlite")

    def get(self, key: str) -> CachedResponse | None:
        """The stored answer to a request; ``None``: there is none, or it was damaged.

        Raises:
            FolderUnusable: the file cannot be opened or read.
        """
        return self._do(lambda db: self._sound(db, key))

    def put(self, key: str, answer: CachedResponse) -> CachedResponse:
        """Store an answer for good; returns the one that holds from now on (the first that came).

        Raises:
            FolderUnusable: the file cannot be written, or the disk is full.
        """
        told = answer.model_dump_json()
        row = (key, told, answer.created, answer.run_id, checksum(key, told))

        def insert(db: sqlite3.Connection) -> CachedResponse:
            stands = db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", row).rowcount == 0
            return (self._sound(db, key) if stands else None) or answer

        return self._do(insert)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _sound(self, db: sqlite3.Connection, key: str) -> CachedResponse | None:
        query = "SELECT CAST(answer AS BLOB), CAST(checksum AS BLOB) FROM answers WHERE key = ?"
        row = db.execute(query, (key,)).fetchone()
        if row is None:
            return None
        answer, written = row
        if written is not None and bytes(written) == checksum(key, bytes(answer or b"")).encode():
            with suppress(ValueError):
                return CachedResponse.model_validate_json(answer)
        log.warning(
            "a stored answer in %s is damaged: it alone is asked again%s",
            self.path,
            _told_cost(1, _mean_cost(db)),
        )
        db.execute("DELETE FROM answers WHERE key = ?", (key,)).close()
        return None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return work(self._connection())
            except sqlite3.DatabaseError as error:
                if not _is_corrupt(error):
                    raise self._unusable(error) from None
                self._save_what_is_sound(error)
            try:
                return work(self._connection())
            except sqlite3.DatabaseError as error:
                raise self._unusable(error) from None

    def _connection(self) -> sqlite3.Connection:
        if self._open is not None and _inode(self.path) != self._inode:  # saved by another process
            self._open.close()
            self._open = None
        if self._open is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise self._unusable(error) from None
            self._inode = _inode(self.path)
            self._open = _opened(self.path)
            self._inode = _inode(self.path)
        return self._open

    def _save_what_is_sound(self, error: sqlite3.DatabaseError) -> None:
        """Put the sound rows of a damaged file in a new one, unless another process has done so by now."""
        from filelock import FileLock

        if self._open is not None:
            self._open.close()
        self._open = None
        try:
            with FileLock(f"{self.path}.lock", timeout=10 * SECONDS_TO_WAIT_FOR_LOCK):
                if _inode(self.path) != self._inode:
                    return
                found = salvage(self.path)
                aside = self._replaced(found)
        except (OSError, sqlite3.Error) as failure:  # of the lock, too
            raise self._unusable(failure) from None
        lost = "an unknown number is" if found.lost is None else f"{found.lost} are"
        log.warning(
            "the cache of answers was damaged (%s): %d answers are saved, %s lost and only those are asked "
            "again%s; the damaged file is kept as %s",
            error,
            len(found.rows),
            lost,
            _told_cost(found.lost or 1, found.mean_cost, each=found.lost is None),
            aside,
        )

    def _replaced(self, found: Salvage) -> Path:
        """The damaged file's new name, when the new file with the sound rows stands in its place."""
        mark = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        new, aside = (self.path.with_name(f"{self.path.name}.{kind}-{mark}") for kind in ("new", "corrupt"))
        db = _opened(new)
        try:
            db.execute("BEGIN")
            db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", found.rows)
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        finally:
            db.close()
        for ending in ("-wal", "-shm"):  # or SQLite would apply them to the new file
            with suppress(FileNotFoundError):
                Path(f"{self.path}{ending}").rename(f"{aside}{ending}")
        os.link(self.path, aside)
        new.replace(self.path)
        return aside

    def _unusable(self, error: Exception) -> FolderUnusable:
        advice = "free some space or choose another IDEAGORA_HOME, then run the same command again"
        return FolderUnusable(f"the cache of answers {self.path} cannot be used: {error}; {advice}.")


def _opened(path: Path) -> sqlite3.Connection:
    if not header_is_sound(path):
        raise _corrupt("its first bytes are not those of a cache of answers")
    db = sqlite3.connect(
        path, timeout=SECONDS_TO_WAIT_FOR_LOCK, isolation_level=None, check_same_thread=False
    )
    try:
        use_write_ahead_log(db, SECONDS_TO_WAIT_FOR_LOCK)
        db.execute("PRAGMA synchronous=FULL").close()
        if db.execute("PRAGMA user_version").fetchone()[0] < VERSION:
            _migrate(db)
        elif not _columns(db):
            raise _corrupt("its table is gone")
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _migrate(db: sqlite3.Connection) -> None:
    """Make the table, or give the rows of an older version their checksums, in place."""
    db.create_function("row_checksum", 2, checksum, deterministic=True)
    db.execute("BEGIN IMMEDIATE")
    try:
        columns = _columns(db)
        if not columns:
            db.execute(TABLE)
        elif "checksum" not in columns:
            db.execute("ALTER TABLE answers ADD COLUMN checksum TEXT")
            db.execute(
                "UPDATE answers SET checksum = row_checksum(CAST(key AS TEXT), CAST(answer AS BLOB)) "
                "WHERE json_valid(answer)"
            )
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _columns(db: sqlite3.Connection) -> set[str]:
    return {row[1] for row in db.execute("PRAGMA table_info(answers)")}


def _mean_cost(db: sqlite3.Connection) -> float | None:
    cost = "CASE WHEN json_valid(answer) THEN json_extract(answer, '$.usage.cost_usd') END"
    try:
        found = db.execute(f"SELECT avg({cost}) FROM answers").fetchone()[0]  # noqa: S608
    except sqlite3.DatabaseError:
        return None
    return None if found is None else float(found)


def _told_cost(number: int, mean: float | None, *, each: bool = False) -> str:
    if mean is None:
        return ", at a price that is not known"
    return f", for about ${number * mean:.4f}{' each' if each else ''} by what the others cost"


def _corrupt(why: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(why)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _CORRUPT
