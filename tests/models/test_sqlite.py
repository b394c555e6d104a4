"""Opening, upgrading and sharing SQLite files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ideagora.models.sqlite import Database, open_database, open_read_only, upgrade_schema, user_version

TABLE = "CREATE TABLE IF NOT EXISTS numbers (n INTEGER)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "numbers.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    with closing(
        Database(lambda: open_database(path, lambda connection: connection.execute(TABLE)))
    ) as opened:
        yield opened


def numbers(database: Database) -> list[int]:
    with database.use() as connection:
        return [row[0] for row in connection.execute("SELECT n FROM numbers ORDER BY n")]


def test_a_failed_transaction_is_rolled_back(database: Database) -> None:
    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO numbers VALUES (1)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.transaction() as connection:
        connection.execute("INSERT INTO numbers VALUES (2)")
    assert numbers(database) == [2]


def test_threads_share_one_connection(database: Database) -> None:
    def insert(number: int) -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO numbers VALUES (?)", (number,))

    threads = [threading.Thread(target=insert, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(database) == list(range(20))


def test_disconnected_it_opens_again_and_closed_it_does_not(database: Database) -> None:
    database.disconnect()
    assert numbers(database) == []
    database.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"), database.use():
        pass


def test_errors_are_translated_also_while_opening(path: Path) -> None:
    @contextmanager
    def translate() -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise ValueError("translated") from error

    path.write_bytes(b"not a database " * 500)
    with (
        pytest.raises(ValueError, match="translated"),
        Database(lambda: open_database(path), translate).use(),
    ):
        pass


def test_a_connection_is_closed_when_its_preparation_fails(path: Path) -> None:
    seen: list[sqlite3.Connection] = []

    def fail(connection: sqlite3.Connection) -> None:
        seen.append(connection)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        open_database(path, fail)
    with pytest.raises(sqlite3.ProgrammingError):
        seen[0].execute("SELECT 1")


def test_a_schema_is_upgraded_once_and_only_as_a_whole(path: Path) -> None:
    upgrades: list[int] = []

    def upgrade(connection: sqlite3.Connection) -> None:
        upgrades.append(user_version(connection))
        connection.execute(TABLE)
        if len(upgrades) == 1:
            raise ZeroDivisionError

    with closing(open_database(path)) as connection:
        with pytest.raises(ZeroDivisionError):
            upgrade_schema(connection, 3, upgrade)
        assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
        upgrade_schema(connection, 3, upgrade)
        upgrade_schema(connection, 3, upgrade)
        assert (upgrades, user_version(connection)) == ([0, 0], 3)


def test_a_busy_file_is_reported_after_the_timeout(path: Path) -> None:
    with closing(open_database(path)) as one, closing(open_database(path, busy_seconds=0.05)) as other:
        one.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")


def test_a_file_opened_read_only_cannot_be_written(path: Path, database: Database) -> None:
    assert numbers(database) == []
    with (
        closing(open_read_only(path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("INSERT INTO numbers VALUES (1)")


INSERT_AND_STOP = """
import sys
from pathlib import Path
from ideagora.models.sqlite import open_database, transaction
connection = open_database(Path(sys.argv[1]))
connection.execute("CREATE TABLE numbers (n INTEGER)")
with transaction(connection):
    connection.execute("INSERT INTO numbers VALUES (1)")
with transaction(connection):
    connection.execute("INSERT INTO numbers VALUES (2)")
    print("now", flush=True)
    sys.stdin.readline()
"""


def test_a_killed_process_leaves_whole_transactions(path: Path, database: Database) -> None:
    command = [sys.executable, "-c", INSERT_AND_STOP, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "now\n"
        writer.kill()
    assert numbers(database) == [1]
