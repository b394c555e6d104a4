"""References and citations as the sources returned them, and the names under which a paper is known.

    <store>/walks.sqlite   names (id or title with year -> the paper's id in the store), and complete
                           lists of references and citations with their sources and date

Papers are written to the store before a list names them, so a kill between the two loses only a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ideagora.models.sqlite import Database, create_tables, open_database
from ideagora.retrieval.store.errors import translate_errors

CITATION_LISTS_FILE = "walks.sqlite"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY, paper TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS names_by_paper ON names (paper)",
    "CREATE TABLE IF NOT EXISTS walks (paper TEXT NOT NULL, kind TEXT NOT NULL, sources TEXT NOT NULL,"
    " day TEXT NOT NULL, ids TEXT NOT NULL, PRIMARY KEY (paper, kind, sources)) WITHOUT ROWID",
)

ListKind = Literal["references", "citations"]


class NeighborList(NamedTuple):
    """A list of paper ids, and the day it was fetched (YYYY-MM-DD)."""

    ids: tuple[str, ...]
    day: str


class CitationLists:
    """The citation lists of one store's folder. Safe for threads and processes."""

    def __init__(self, folder: Path) -> None:
        path = folder / CITATION_LISTS_FILE
        self._database = Database(
            lambda: open_database(path, lambda connection: create_tables(connection, _TABLES)),
            lambda: translate_errors(folder, path),
        )
        with self._database.use():
            pass  # a damaged file is reported here, not at the first lookup

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def find_ids(self, names: Sequence[str]) -> list[str]:
        """Ids of the papers that have one of these names, in the order of the names."""
        marks = ",".join("?" * len(names))
        query = f"SELECT name, paper FROM names WHERE name IN ({marks})"  # noqa: S608 - marks only
        with self._database.use() as connection:
            papers = dict(connection.execute(query, names).fetchall())
        return list(dict.fromkeys(papers[name] for name in names if name in papers))

    def names(self, paper_id: str) -> list[str]:
        """All names of a paper."""
        query = "SELECT name FROM names WHERE paper = ? ORDER BY name"
        with self._database.use() as connection:
            return [row[0] for row in connection.execute(query, (paper_id,))]

    def add_names(self, names: Mapping[str, Iterable[str]]) -> None:
        """Add names of papers (id -> names); a name that already belongs to a paper is not changed."""
        rows = [(name, paper_id) for paper_id, of_paper in names.items() for name in of_paper]
        with self._database.transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", rows)

    def get(self, paper_id: str, kind: ListKind, sources: str) -> NeighborList | None:
        """The list that these sources returned for a paper; ``None`` if none is stored."""
        query = "SELECT ids, day FROM walks WHERE paper = ? AND kind = ? AND sources = ?"
        with self._database.use() as connection:
            row = connection.execute(query, (paper_id, kind, sources)).fetchone()
        return NeighborList(tuple(json.loads(row[0])), row[1]) if row else None

    def save(self, paper_id: str, kind: ListKind, sources: str, neighbor_list: NeighborList) -> None:
        """Store a complete list."""
        row = (paper_id, kind, sources, neighbor_list.day, json.dumps(neighbor_list.ids))
        with self._database.use() as connection:
            connection.execute("INSERT OR REPLACE INTO walks VALUES (?, ?, ?, ?, ?)", row).close()
