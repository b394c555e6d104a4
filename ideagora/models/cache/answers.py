"""The cache of all answers, in one SQLite file. An answer is stored before it is used.

The key is the hash of the canonical request (``request.py``). The first answer to a request is never
replaced, so all runs see the same one. Several processes may share the file: it is in write-ahead mode.
After ``put``, kill -9 does not lose an answer; after ``sync``, a power cut does not either. The two are
separate so that answers which arrive together wait for the disk once (``group_sync.py``).

Each row has a checksum. Only damaged rows are requested again; if SQLite cannot read the file, its intact
rows are recovered (``salvage.py``).
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from ideagora.errors import FolderUnusable
from ideagora.models.cache.salvage import TABLE, VERSION, Salvage, checksum, is_header_intact, salvage
from ideagora.models.sqlite import Database, error_code, open_database, transaction, upgrade_schema
from ideagora.schema import Record, Usage

T = TypeVar("T")
Alternatives = dict[str, dict[str, float]]
"""Field of the answer -> beginning of a value -> its probability."""
log = logging.getLogger(__name__)

LOCK_TIMEOUT = 30.0
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR)
"""Result codes of a file that is damaged or not an answer cache."""


class CachedResponse(Record):
    """One reply of a provider, unchanged, and what it cost the run that requested it."""

    model: str
    text: str
    finish_reason: str | None
    usage: Usage
    run_id: str
    """Identity of the run that paid."""
    created: str
    """UTC, ISO 8601."""
    request: str = ""
    """Id of the request in that run's events; empty: from an older version."""
    alternatives: Alternatives | None = Field(default=None, exclude_if=lambda value: value is None)
    """What might have stood in place of each choice; ``None``: not requested, or not given."""


def utc_now() -> str:
    """The current time, for ``CachedResponse.created``."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class ResponseCache:
    """The answers under ``<home>/cache``. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(self._connect)
        self._inode: int | None = None

    @classmethod
    def for_home(cls, home: Path) -> ResponseCache:
        """The cache that all runs of one home folder share."""
        return cls(home / "cache" / "answers.sqlite")

    def get(self, key: str) -> CachedResponse | None:
        """The stored answer to a request; ``None``: there is none, or it is damaged.

        Raises:
            FolderUnusable: the file cannot be opened or read.
        """
        return self._run(lambda db: self._select(db, key))

    def put(self, key: str, answer: CachedResponse) -> CachedResponse:
        """Store an answer; returns the stored one, which is the first answer to the request.

        Raises:
            FolderUnusable: the file cannot be written, or the disk is full.
        """
        text = answer.model_dump_json()
        row = (key, text, answer.created, answer.run_id, checksum(key, text))

        def insert(db: sqlite3.Connection) -> CachedResponse:
            exists = db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", row).rowcount == 0
            return (self._select(db, key) if exists else None) or answer

        return self._run(insert)

    def sync(self) -> None:
        """Wait until all stored answers are on the disk.

        Raises:
            FolderUnusable: the disk refuses.
        """
        try:
            with Path(f"{self.path}-wal").open("rb") as file:
                os.fsync(file.fileno())
        except FileNotFoundError:  # all answers are in the file itself, which SQLite has synchronized
            return
        except OSError as error:
            raise self._unusable(error) from None

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        self._database.disconnect()

    def _select(self, db: sqlite3.Connection, key: str) -> CachedResponse | None:
        query = "SELECT CAST(answer AS BLOB), CAST(checksum AS BLOB) FROM answers WHERE key = ?"
        row = db.execute(query, (key,)).fetchone()
        if row is None:
            return None
        answer, stored = row
        if stored is not None and bytes(stored) == checksum(key, bytes(answer or b"")).encode():
            with suppress(ValueError):
                return CachedResponse.model_validate_json(answer)
        log.warning(
            "a stored answer in %s is damaged and will be requested again%s",
            self.path,
            _cost_note(1, _mean_cost(db)),
        )
        db.execute("DELETE FROM answers WHERE key = ?", (key,)).close()
        return None

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._database.lock:
            try:
                return self._run_once(work)
            except sqlite3.DatabaseError as error:
                if not _is_corrupt(error):
                    raise self._unusable(error) from None
                self._recover(error)
            try:
                return self._run_once(work)
            except sqlite3.DatabaseError as error:
                raise self._unusable(error) from None

    def _run_once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if _inode(self.path) != self._inode:  # replaced by another process
            self._database.disconnect()
        with self._database.use() as db:
            return work(db)

    def _connect(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise self._unusable(error) from None
        self._inode = _inode(self.path)
        db = _open_file(self.path)
        self._inode = _inode(self.path)
        return db

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        """Copy the intact rows of a damaged file to a new one, unless another process has already done so."""
        from filelock import FileLock

        self._database.disconnect()
        try:
            with FileLock(f"{self.path}.lock", timeout=10 * LOCK_TIMEOUT):
                if _inode(self.path) != self._inode:
                    return
                recovered = salvage(self.path)
                backup = self._replace(recovered)
        except (OSError, sqlite3.Error) as failure:  # includes the lock's timeout
            raise self._unusable(failure) from None
        is_unknown = recovered.lost is None
        log.warning(
            "the cache of answers was damaged (%s): %d answers were recovered; %s lost and will be requested "
            "again%s; the damaged file is kept as %s",
            error,
            len(recovered.rows),
            "an unknown number is" if is_unknown else f"{recovered.lost} are",
            _cost_note(recovered.lost or 1, recovered.mean_cost, each=is_unknown),
            backup,
        )

    def _replace(self, recovered: Salvage) -> Path:
        """Replace the damaged file by one with the recovered rows; returns the damaged file's new name."""
        suffix = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        new, backup = (
            self.path.with_name(f"{self.path.name}.{kind}-{suffix}") for kind in ("new", "corrupt")
        )
        with closing(_open_file(new)) as db:
            with transaction(db):
                db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", recovered.rows)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        for ending in ("-wal", "-shm"):  # or SQLite would apply them to the new file
            with suppress(FileNotFoundError):
                Path(f"{self.path}{ending}").rename(f"{backup}{ending}")
        os.link(self.path, backup)
        new.replace(self.path)
        return backup

    def _unusable(self, error: Exception) -> FolderUnusable:
        return FolderUnusable(
            f"the cache of answers {self.path} cannot be used: {error}. Free some space or set another "
            "IDEAGORA_HOME, then repeat the command."
        )


def _open_file(path: Path) -> sqlite3.Connection:
    if not is_header_intact(path):
        raise _corrupt("its header is not that of an answer cache")
    return open_database(path, _prepare, busy_seconds=LOCK_TIMEOUT, synchronous="NORMAL")


def _prepare(db: sqlite3.Connection) -> None:
    upgrade_schema(db, VERSION, _migrate)
    if not _columns(db):
        raise _corrupt("its table is missing")


def _migrate(db: sqlite3.Connection) -> None:
    """Create the table, or add checksums to the rows of an older version."""
    columns = _columns(db)
    if not columns:
        db.execute(TABLE)
    elif "checksum" not in columns:
        db.create_function("row_checksum", 2, checksum, deterministic=True)
        db.execute("ALTER TABLE answers ADD COLUMN checksum TEXT")
        db.execute(
            "UPDATE answers SET checksum = row_checksum(CAST(key AS TEXT), CAST(answer AS BLOB)) "
            "WHERE json_valid(answer)"
        )


def _columns(db: sqlite3.Connection) -> set[str]:
    return {row[1] for row in db.execute("PRAGMA table_info(answers)")}


def _mean_cost(db: sqlite3.Connection) -> float | None:
    cost = "CASE WHEN json_valid(answer) THEN json_extract(answer, '$.usage.cost_usd') END"
    try:
        mean = db.execute(f"SELECT avg({cost}) FROM answers").fetchone()[0]  # noqa: S608
    except sqlite3.DatabaseError:
        return None
    return None if mean is None else float(mean)


def _cost_note(number: int, mean: float | None, *, each: bool = False) -> str:
    if mean is None:
        return ", at an unknown cost"
    return f", for about ${number * mean:.4f}{' each' if each else ''} (the mean of the other answers)"


def _corrupt(reason: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    return error_code(error) in _CORRUPT
