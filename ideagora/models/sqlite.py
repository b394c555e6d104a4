"""What SQLite leaves to its users when several processes open one file."""

from __future__ import annotations

import sqlite3
import time

_PAUSE_SECONDS = 0.02


def use_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch a file to write-ahead mode, also while other processes open it.

    SQLite's own timeout does not cover this switch: it fails at once where another connection is at it.

    Raises:
        sqlite3.OperationalError: others have held the file for so many seconds.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
