"""SQLite files shared by threads and processes: opening, schema upgrades, transactions, locking."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal

BUSY_SECONDS = 30.0
"""How long SQLite waits for a lock that another connection holds."""
_RETRY_SECONDS = 0.02


class Database:
    """One connection to a SQLite file, opened at first use and used by one thread at a time.

    Args:
        connect: returns a new connection, usually from ``open_database``.
        translate_errors: returns a context manager that wraps every use, opening included, and may
            replace the errors raised in it.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        translate_errors: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.lock = threading.RLock()
        self._connect = connect
        self._translate_errors = translate_errors
        self._connection: sqlite3.Connection | None = None
        self._is_closed = False

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """The connection, while no other thread uses it. Each statement commits by itself.

        Raises:
            sqlite3.ProgrammingError: after ``close``.
        """
        with self.lock, self._translate_errors():
            if self._is_closed:
                raise sqlite3.ProgrammingError("the database is closed")
            if self._connection is None:
                self._connection = self._connect()
            yield self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection inside a write transaction, which is rolled back if the block raises."""
        with self.use() as connection, transaction(connection):
            yield connection

    def disconnect(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self.lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def close(self) -> None:
        """Close the connection for good."""
        with self.lock:
            self._is_closed = True
            self.disconnect()


def open_database(
    path: Path | str,
    prepare: Callable[[sqlite3.Connection], object] | None = None,
    *,
    busy_seconds: float = BUSY_SECONDS,
    synchronous: Literal["OFF", "NORMAL", "FULL"] | None = None,
    uri: bool = False,
) -> sqlite3.Connection:
    """Open a file in write-ahead mode and in autocommit, for any thread.

    Args:
        prepare: creates or upgrades the tables; the connection is closed if it raises.
        synchronous: SQLite's setting of that name; ``None``: its default.
        uri: whether SQL on this connection may name files by URI.
    """
    connection = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False, uri=uri
    )
    try:
        use_write_ahead_log(connection, busy_seconds)
        if synchronous:
            connection.execute(f"PRAGMA synchronous={synchronous}").close()
        if prepare:
            prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_read_only(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """Open a file for reading.

    Args:
        immutable: promise that nobody writes, so that SQLite creates no files beside it.
    """
    mode = "immutable=1" if immutable else "mode=ro"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)


@contextmanager
def transaction(
    connection: sqlite3.Connection, mode: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Iterator[None]:
    """Commit what the block does, or roll it back if the block raises.

    Args:
        mode: ``DEFERRED`` takes no write lock; reads in the block then see one state of the file.
    """
    connection.execute(f"BEGIN {mode}").close()
    try:
        yield
        connection.execute("COMMIT").close()
    except BaseException:
        if connection.in_transaction:  # SQLite has already rolled back on a full disk
            connection.execute("ROLLBACK").close()
        raise


def create_tables(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    """Execute the statements of a schema; each must be repeatable (``IF NOT EXISTS``)."""
    for statement in statements:
        connection.execute(statement).close()


def user_version(connection: sqlite3.Connection) -> int:
    """The version that ``upgrade_schema`` wrote; 0 in a new file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def upgrade_schema(
    connection: sqlite3.Connection, version: int, upgrade: Callable[[sqlite3.Connection], object]
) -> None:
    """Call ``upgrade`` in a transaction if the file is older than a version, and record the version."""
    if user_version(connection) < version:
        with transaction(connection):
            if user_version(connection) < version:  # another process may have upgraded it meanwhile
                upgrade(connection)
                connection.execute(f"PRAGMA user_version = {version}").close()


def error_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 if the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def use_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch a file to write-ahead mode, even while other processes open it.

    SQLite's own timeout does not cover this switch, which fails at once if another connection makes it.

    Raises:
        sqlite3.OperationalError: the file stayed locked for that many seconds.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return
