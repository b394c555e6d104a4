"""Full texts of papers, section by section, in one SQLite file beside the store's records.

    <store>/texts.sqlite   sections by paper, reference lists as printed, which files were read, and
                           which papers came from the user's files

This file is separate from ``records.sqlite``, which is checked as a whole each time a store is opened.
It is created with the first text.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from ideagora.errors import LibraryError, StoreCorrupted
from ideagora.models.sqlite import create_tables, open_database, transaction, upgrade_schema, user_version
from ideagora.retrieval.store.errors import translate_errors
from ideagora.schema import Record, last_day

TEXTS_FILE = "texts.sqlite"
_VERSION = 2
_TABLES = (
    "CREATE TABLE IF NOT EXISTS texts (paper TEXT PRIMARY KEY, as_of TEXT, sections TEXT NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS cited (paper TEXT NOT NULL, position INTEGER NOT NULL, entry TEXT NOT NULL,"
    " year TEXT, arxiv_id TEXT, doi TEXT, PRIMARY KEY (paper, position)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS files (hash TEXT PRIMARY KEY, reader TEXT NOT NULL, outcome TEXT NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS own (paper TEXT PRIMARY KEY) WITHOUT ROWID",
    "INSERT OR IGNORE INTO own SELECT value FROM files, json_each(files.outcome, '$.papers')",
)
"""The last statement fills ``own``, which version 1 did not have."""

SectionKind = Literal["introduction", "method", "experiment", "limitation", "related", "other", "appendix"]


class Section(Record):
    """One section of a paper; ``text`` without its heading."""

    kind: SectionKind
    heading: str
    text: str


class FullText(Record):
    """The text of a paper as read from a file."""

    sections: tuple[Section, ...]
    as_of: str | None = None
    """Date of the version that was read (ISO, may be partial); ``None``: unknown."""

    def is_before(self, cutoff: str) -> bool:
        """Whether this version is known to be older than a day (YYYY-MM-DD)."""
        return self.as_of is not None and last_day(self.as_of) < cutoff


class CitedWork(Record):
    """One entry of a paper's reference list, as far as it could be parsed."""

    text: str = ""
    """The entry as printed, or its title."""
    year: str | None = None
    arxiv_id: str | None = None
    doi: str | None = None


class FullTextStore:
    """The texts of one store's folder. Safe for threads and processes: each call opens the file.

    Every method raises ``StoreCorrupted`` if the file cannot be read, ``FolderUnusable`` if it cannot
    be written, ``StoreBusy`` if another process locks it for too long, and ``LibraryError`` if a later
    version of this program wrote it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / TEXTS_FILE

    def get(self, paper_id: str) -> FullText | None:
        """The full text of a paper; ``None`` if there is none."""
        rows = self._rows("SELECT as_of, sections FROM texts WHERE paper = ?", (paper_id,))
        if not rows:
            return None
        return FullText(as_of=rows[0][0], sections=tuple(map(Section.model_validate, json.loads(rows[0][1]))))

    def put(self, texts: Iterable[tuple[str, FullText]]) -> None:
        """Write full texts by paper id, replacing existing ones."""
        rows = [
            (paper, text.as_of, json.dumps([section.model_dump() for section in text.sections]))
            for paper, text in texts
        ]
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", rows)

    def cited_works(self) -> Iterator[tuple[str, CitedWork]]:
        """Every entry of every reference list, ordered by paper and position."""
        query = "SELECT paper, entry, year, arxiv_id, doi FROM cited ORDER BY paper, position"
        for paper, entry, year, arxiv_id, doi in self._rows(query):
            yield paper, CitedWork(text=entry, year=year, arxiv_id=arxiv_id, doi=doi)

    def put_cited(self, lists: Iterable[tuple[str, Sequence[CitedWork]]]) -> None:
        """Write reference lists by paper id, replacing existing ones."""
        with self._transaction() as connection:
            for paper, entries in lists:
                connection.execute("DELETE FROM cited WHERE paper = ?", (paper,))
                rows = [(paper, n, e.text, e.year, e.arxiv_id, e.doi) for n, e in enumerate(entries)]
                connection.executemany("INSERT INTO cited VALUES (?, ?, ?, ?, ?, ?)", rows)

    def file_outcome(self, content_hash: str, reader: str) -> str | None:
        """The outcome recorded for a file with this content and this version of the readers, if any."""
        query = "SELECT outcome FROM files WHERE hash = ? AND reader = ?"
        rows = self._rows(query, (content_hash, reader))
        return str(rows[0][0]) if rows else None

    def put_file(self, content_hash: str, reader: str, outcome: str) -> None:
        """Record the outcome of reading a file with this content."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (content_hash, reader, outcome)
            )

    def own_papers(self) -> list[str]:
        """Ids of the papers that came from the user's files, ascending."""
        return [row[0] for row in self._rows("SELECT paper FROM own ORDER BY paper")]

    def put_own(self, ids: Iterable[str]) -> None:
        """Record that papers came from the user's files."""
        with self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO own VALUES (?)", [(paper_id,) for paper_id in ids])

    def count(self) -> int:
        """Number of papers with full text."""
        rows = self._rows("SELECT count(*) FROM texts")
        return int(rows[0][0]) if rows else 0

    def _rows(self, query: str, values: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        if not self._path.exists():
            return []
        with self._connect() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connect() as connection, transaction(connection):
            yield connection

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with self._translate_errors(), closing(open_database(self._path, self._upgrade)) as connection:
            yield connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            with translate_errors(self._folder):
                yield
        except StoreCorrupted as error:
            raise StoreCorrupted(
                f"the full texts in {self._path} cannot be read ({error.__cause__ or 'damaged'}). Remove "
                "this file (and its -wal and -shm) and add your papers again: ideagora library add PATH."
            ) from error

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        version = user_version(connection)
        if version > _VERSION:
            raise LibraryError(
                f"{self._path} has version {version}, this program reads {_VERSION}. "
                "Use the newer program, or set IDEAGORA_STORE to another folder."
            )
        upgrade_schema(connection, _VERSION, lambda db: create_tables(db, _TABLES))
