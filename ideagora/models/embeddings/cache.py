"""A cache of vectors in one SQLite file. It is no result: what cannot be read is set aside and made anew.

Each vector has a checksum, since a wrong one would change ideas without a word; one that does not match it
is made anew.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

CACHE_FILE = "vectors.sqlite"
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS vectors (
        embedder TEXT NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL, checksum BLOB,
        PRIMARY KEY (embedder, key)
    ) WITHOUT ROWID
"""
_BUSY_SECONDS = 30.0
_KEYS_A_QUERY = 500
_UNREADABLE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""Primary result codes of a file whose content is not ours or not whole (ERROR: other tables in it)."""


class VectorCache:
    """Vectors by (embedder's name, key), shared by any number of threads and processes.

    Every use opens a connection of its own, so there is nothing to close and nothing to share.
    A cache that cannot be written costs time, not the run: the fault is logged and the work goes on.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / CACHE_FILE
        self._prepared = False

    def get(self, embedder: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The vectors that are there and as they were written, as little-endian float32 bytes."""

        def select(connection: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                wanted = f"embedder = ? AND key IN ({marks})"
                query = f"SELECT key, CAST(vector AS BLOB), checksum FROM vectors WHERE {wanted}"  # noqa: S608
                rows = connection.execute(query, (embedder, *some))
                found |= {
                    key: vector for key, vector, sum_ in rows if sum_ == _checksum(embedder, key, vector)
                }
            return found

        return self._use(select, {})

    def put(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; one that is there already is replaced by the same bytes."""

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (embedder, key, vector, checksum) VALUES (?, ?, ?, ?)",
                    [(embedder, key, v, _checksum(embedder, key, v)) for key, v in vectors.items()],
                )

        self._use(insert, None)

    def _use(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Do the work, a second time where the file had to be set aside; ``otherwise``: it can't be done."""
        for last_try in (False, True):
            try:
                self._prepare()
                with closing(self._connect()) as connection:
                    return work(connection)
            except sqlite3.Error as error:
                if last_try or not _is_unreadable(error):
                    logger.warning("cache of vectors %s is not used: %s", self.path, error)
                    return otherwise
                self._set_aside(error)
            except OSError as error:
                logger.warning("cache of vectors %s is not used: %s", self.path, error)
                return otherwise
        return otherwise

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_BUSY_SECONDS)

    def _prepare(self) -> None:
        """Make file and table, one process at a time: the change to WAL does not wait for others."""
        from filelock import FileLock

        if self._prepared and self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock_path, timeout=_BUSY_SECONDS), closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_SCHEMA)
            _give_checksums(connection)
        self._prepared = True

    def _set_aside(self, error: sqlite3.Error) -> None:
        """Move an unreadable file out of the way, unless another process has done so by now."""
        from filelock import FileLock

        self._prepared = False
        with FileLock(self._lock_path, timeout=_BUSY_SECONDS):
            if self._is_sound():
                return
            aside = self.path.with_name(f"{CACHE_FILE}.unreadable")
            logger.warning("cache of vectors is unreadable (%s): set aside as %s and made anew", error, aside)
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(CACHE_FILE + suffix).unlink(missing_ok=True)

    def _is_sound(self) -> bool:
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


def _give_checksums(connection: sqlite3.Connection) -> None:
    """Give the vectors of an older version their checksums, in place."""
    if any(row[1] == "checksum" for row in connection.execute("PRAGMA table_info(vectors)")):
        return
    connection.create_function("vector_checksum", 3, _checksum, deterministic=True)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ALTER TABLE vectors ADD COLUMN checksum BLOB")
        connection.execute("UPDATE vectors SET checksum = vector_checksum(embedder, key, vector)")


def _is_unreadable(error: sqlite3.Error) -> bool:
    """Whether the file itself is at fault (and not a lock, a full disk, a missing right)."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _UNREADABLE
