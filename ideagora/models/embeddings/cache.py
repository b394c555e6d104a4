"""A cache of vectors in one SQLite file. An unreadable file is moved aside and rebuilt.

Each vector has a checksum, since a damaged one would silently change results; vectors with a wrong
checksum are computed again.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from ideagora.models.sqlite import error_code, open_database, transaction

logger = logging.getLogger(__name__)

T = TypeVar("T")

CACHE_FILE = "vectors.sqlite"
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS vectors (
        embedder TEXT NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL, checksum BLOB,
        PRIMARY KEY (embedder, key)
    ) WITHOUT ROWID
"""
_LOCK_TIMEOUT = 30.0
_KEYS_PER_QUERY = 500
_UNREADABLE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""Result codes of a file that is damaged or not a vector cache (ERROR: it has other tables)."""


class VectorCache:
    """Vectors by (embedder name, key), shared by any number of threads and processes.

    Each operation opens its own connection, so there is nothing to close.
    If the cache cannot be written, the error is logged and the run continues without it.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / CACHE_FILE

    def get(self, embedder: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The stored vectors with a correct checksum, as little-endian float32 bytes."""

        def select(connection: sqlite3.Connection) -> dict[str, bytes]:
            vectors: dict[str, bytes] = {}
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                batch = keys[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(batch))
                condition = f"embedder = ? AND key IN ({marks})"
                query = f"SELECT key, CAST(vector AS BLOB), checksum FROM vectors WHERE {condition}"  # noqa: S608
                rows = connection.execute(query, (embedder, *batch))
                vectors |= {
                    key: vector for key, vector, sum_ in rows if sum_ == _checksum(embedder, key, vector)
                }
            return vectors

        return self._run(select, {})

    def put(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors, replacing existing ones."""

        def insert(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (embedder, key, vector, checksum) VALUES (?, ?, ?, ?)",
                    [(embedder, key, v, _checksum(embedder, key, v)) for key, v in vectors.items()],
                )

        self._run(insert, None)

    def _run(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Run work on the file, again if it had to be moved aside; returns ``default`` if that fails."""
        for last_try in (False, True):
            try:
                with closing(self._connect()) as connection:
                    return work(connection)
            except sqlite3.Error as error:
                if last_try or not _is_unreadable(error):
                    logger.warning("vector cache %s is not used: %s", self.path, error)
                    return default
                self._move_aside(error)
            except OSError as error:
                logger.warning("vector cache %s is not used: %s", self.path, error)
                return default
        return default

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return open_database(self.path, _prepare, busy_seconds=_LOCK_TIMEOUT)

    def _move_aside(self, error: sqlite3.Error) -> None:
        """Move an unreadable file aside, unless another process has already done so."""
        from filelock import FileLock

        with FileLock(self._lock_path, timeout=_LOCK_TIMEOUT):
            if self._is_intact():
                return
            backup = self.path.with_name(f"{CACHE_FILE}.unreadable")
            logger.warning("vector cache is unreadable (%s): moved to %s and rebuilt", error, backup)
            self.path.replace(backup)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(CACHE_FILE + suffix).unlink(missing_ok=True)

    def _is_intact(self) -> bool:
        try:
            with closing(self._connect()) as connection:
                connection.execute("SELECT embedder, key, vector FROM vectors LIMIT 1")
                return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.Error:
            return False

    @property
    def _lock_path(self) -> str:
        return f"{self.path}.lock"


def _checksum(embedder: str, key: str, vector: bytes) -> bytes:
    text = f"{embedder}\0{key}\0".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text + bytes(vector), digest_size=8).digest()


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the table, and add checksums to the vectors of an older version."""
    connection.execute(_SCHEMA).close()
    if not _has_checksums(connection):
        connection.create_function("vector_checksum", 3, _checksum, deterministic=True)
        with transaction(connection):
            if not _has_checksums(connection):  # another process may have added them meanwhile
                connection.execute("ALTER TABLE vectors ADD COLUMN checksum BLOB")
                connection.execute("UPDATE vectors SET checksum = vector_checksum(embedder, key, vector)")


def _has_checksums(connection: sqlite3.Connection) -> bool:
    return any(row[1] == "checksum" for row in connection.execute("PRAGMA table_info(vectors)"))


def _is_unreadable(error: sqlite3.Error) -> bool:
    """Whether the file itself is damaged (as opposed to a lock, a full disk or missing permissions)."""
    return error_code(error) in _UNREADABLE
