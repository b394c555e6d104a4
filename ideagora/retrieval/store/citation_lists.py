"""What the sources told of a paper's neighbours, and under which names a paper is known.

    <store>/walks.sqlite   names (id or title with year -> the paper's id here), and complete lists of
                           references and citations with the sources and the day they are of

Papers are in the store before a list here names them, so a kill between the two loses a list only.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple

from ideagora.retrieval.store.errors import translate_errors

CITATION_LISTS_FILE = "walks.sqlite"
_BUSY_SECONDS = 30.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY, paper TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS names_by_paper ON names (paper)",
    "CREATE TABLE IF NOT EXISTS walks (paper TEXT NOT NULL, kind TEXT NOT NULL, sources TEXT NOT NULL,"
    " day TEXT NOT NULL, ids TEXT NOT NULL, PRIMARY KEY (paper, kind, sources)) WITHOUT ROWID",
)

ListKind = Literal["references", "citations"]


class NeighborList(NamedTuple):
    """A list as it was told on a day (YYYY-MM-DD)."""

    ids: tuple[str, ...]
    day: str


class CitationLists:
    """The file in a store's folder; for any number of threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / CITATION_LISTS_FILE
        self._threads = threading.RLock()
        with self._named():
            self._db = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            for statement in ("PRAGMA journal_mode=WAL", *_TABLES):
                self._db.execute(statement).close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def find_ids(self, names: Sequence[str]) -> list[str]:
        """The ids of the papers that go by one of these names, in the order of the names."""
        marks = ",".join("?" * len(names))
        with self._threads, self._named():
            query = f"SELECT name, paper FROM names WHERE name IN ({marks})"  # noqa: S608 - marks only
            rows = self._db.execute(query, names).fetchall()
        known = dict(rows)
        return list(dict.fromkeys(known[name] for name in names if name in known))

    def names(self, paper_id: str) -> list[str]:
        """All names of a paper."""
        with self._threads, self._named():
            query = "SELECT name FROM names WHERE paper = ? ORDER BY name"
            return [row[0] for row in self._db.execute(query, (paper_id,))]

    def add_names(self, names: Mapping[str, Iterable[str]]) -> None:
        """Take in the names of papers (id -> names); a name that is taken stays where it is."""
        rows = [(name, paper_id) for paper_id, some in names.items() for name in some]
        with self._threads, self._named():
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", rows)
            self._db.execute("COMMIT")

    def get(self, paper_id: str, kind: ListKind, sources: str) -> NeighborList | None:
        """What these sources told of a paper's neighbours."""
        query = "SELECT ids, day FROM walks WHERE paper = ? AND kind = ? AND sources = ?"
        with self._threads, self._named():
            row = self._db.execute(query, (paper_id, kind, sources)).fetchone()
        return NeighborList(tuple(json.loads(row[0])), row[1]) if row else None

    def save(self, paper_id: str, kind: ListKind, sources: str, neighbor_list: NeighborList) -> None:
        """Keep a complete list."""
        row = (paper_id, kind, sources, neighbor_list.day, json.dumps(neighbor_list.ids))
        with self._threads, self._named():
            self._db.execute("INSERT OR REPLACE INTO walks VALUES (?, ?, ?, ?, ?)", row).close()

    def _named(self) -> AbstractContextManager[None]:
        return translate_errors(self._path.parent, self._path)
