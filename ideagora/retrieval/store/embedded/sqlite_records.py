"""The store's records and citation edges in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from ideagora.errors import LibraryError
from ideagora.models.sqlite import Database, create_tables, open_database, open_read_only, transaction
from ideagora.retrieval.store.errors import corrupted_error, translate_errors
from ideagora.schema import Paper

RECORDS_FILE = "records.sqlite"
_IDS_PER_QUERY = 500
NO_PLACE = -1
"""Row number of a paper whose vector has not been computed yet."""
_LAST_POSITION = 1_000_000
"""Position of an edge that does not come from the citing paper's reference list."""
_NEXT_GENERATION = "UPDATE manifest SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation'"
_SHORT_INDEX = "CREATE INDEX IF NOT EXISTS papers_short ON papers (id, place, date)"
"""Covering index, so that counting papers and reading their rows of vectors skips the records."""
_TABLES = (
    "CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE papers (id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, date TEXT, record TEXT NOT NULL,"
    " place INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE citations (citing TEXT NOT NULL, cited TEXT NOT NULL, position INTEGER NOT NULL,"
    " PRIMARY KEY (citing, cited)) WITHOUT ROWID",
    "CREATE INDEX citations_by_cited ON citations (cited)",
    _SHORT_INDEX,
)


_SAVE = "INSERT OR REPLACE INTO papers VALUES (:id, :hash, :date, :record, :place)"
_SAVE_TEXT = (
    f"INSERT INTO papers VALUES (:id, :hash, :date, :record, {NO_PLACE}) ON CONFLICT (id) DO UPDATE SET "  # noqa: S608
    f"content_hash = :hash, date = :date, record = :record, place = {NO_PLACE}"
)
_UPDATE = "UPDATE papers SET content_hash = :hash, date = :date, record = :record WHERE id = :id"


class PaperIdentity(NamedTuple):
    """The fields by which papers are matched."""

    id: str
    title: str
    date: str | None
    arxiv_id: str | None
    doi: str | None


def read_manifest(folder: Path) -> dict[str, str]:
    """The manifest of a store's folder, opened read-only.

    Raises:
        LibraryError: there is no store.
    """
    path = folder / RECORDS_FILE
    if not path.is_file():
        raise LibraryError(f"there is no store in {folder}. Name a folder that contains {RECORDS_FILE}.")
    with (
        translate_errors(folder),
        closing(open_read_only(path)) as connection,
    ):
        return dict(connection.execute("SELECT key, value FROM manifest").fetchall())


class SqliteRecords:
    """Papers, citation edges and the manifest (version, embedder, generation, metadata).

    Readers and the writer do not block each other; the store's lock ensures that there is one writer.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._database = Database(
            lambda: open_database(folder / RECORDS_FILE), lambda: translate_errors(folder)
        )

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def exists(self) -> bool:
        """Whether the tables exist; checks the whole file for damage.

        Raises:
            StoreCorrupted: the file is damaged.
        """
        with self._database.use() as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise corrupted_error(self._folder, f"{RECORDS_FILE}: {verdict}")
            row = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'manifest'").fetchone()
        return row is not None

    def create(self, manifest: Mapping[str, str]) -> None:
        """Create the tables and the manifest in one transaction."""
        with self._database.transaction() as connection:
            create_tables(connection, _TABLES)
            connection.executemany(
                "INSERT INTO manifest VALUES (?, ?)", [("generation", "0"), *manifest.items()]
            )

    def manifest(self) -> dict[str, str]:
        """All keys and values of the manifest."""
        with self._database.use() as connection:
            return dict(connection.execute("SELECT key, value FROM manifest").fetchall())

    def generation(self) -> int:
        """The number of changes to the store."""
        with self._database.use() as connection:
            row = connection.execute("SELECT value FROM manifest WHERE key = 'generation'").fetchone()
        return int(row[0])

    def next_generation(self) -> None:
        """Increase the generation, since the vector index was rebuilt."""
        with self._database.transaction() as connection:
            connection.execute(_NEXT_GENERATION)

    def set_manifest(self, key: str, value: str) -> None:
        """Set the value of a key of the manifest."""
        with self._database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO manifest VALUES (?, ?)", (key, value))

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """Content hashes by id; ids that are not stored are left out."""
        return {
            row[0]: row[1] for row in self._by_ids("SELECT id, content_hash FROM papers WHERE id IN", ids)
        }

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Records by id; ids that are not stored are left out.

        Raises:
            StoreCorrupted: a stored record is not valid.
        """
        rows = self._by_ids("SELECT id, record FROM papers WHERE id IN", ids)
        return {row[0]: self._parse(row[0], row[1]) for row in rows}

    def ids(self) -> set[str]:
        """Ids of all papers."""
        with self._database.use() as connection:
            return {row[0] for row in connection.execute("SELECT id FROM papers")}

    def identities(self) -> Iterator[PaperIdentity]:
        """The identity of every paper, ordered by id, without parsing the records."""
        query = (
            "SELECT id, json_extract(record, '$.title'), date, json_extract(record, '$.arxiv_id'), "
            "json_extract(record, '$.doi') FROM papers ORDER BY id"
        )
        with self._database.use() as connection:
            rows = connection.execute(query).fetchall()
        return (PaperIdentity(*row) for row in rows)

    def by_source(self) -> dict[str, int]:
        """Number of papers per source."""
        query = "SELECT json_extract(record, '$.source') s, count(*) FROM papers GROUP BY s ORDER BY s"
        with self._database.use() as connection:
            return dict(connection.execute(query).fetchall())

    def reference_ids(self, paper_id: str) -> list[str]:
        """Ids of the papers that a paper cites, in the order of its references."""
        return self._column("SELECT cited FROM citations WHERE citing = ? ORDER BY position, cited", paper_id)

    def citation_ids(self, paper_id: str) -> list[str]:
        """Ids of the papers that cite a paper, oldest first, undated ones last."""
        query = (
            "SELECT citing FROM citations JOIN papers ON papers.id = citing WHERE cited = ? "
            "ORDER BY papers.date IS NULL, papers.date, citing"
        )
        return self._column(query, paper_id)

    def save(
        self,
        papers: Sequence[Paper],
        hashes: Mapping[str, str],
        places: Sequence[int] | Literal["keep", "none"],
        manifest: Mapping[str, str] | None = None,
    ) -> None:
        """Write records, their edges and manifest entries in one transaction.

        Args:
            places: the papers' row numbers in the file of vectors; ``keep``: the stored ones; ``none``: the
                vectors are computed later.
        """
        rows = [
            {"id": p.id, "hash": hashes[p.id], "date": p.date, "record": p.model_dump_json()} for p in papers
        ]
        edges = [
            (paper.id, cited, place) for paper in papers for place, cited in enumerate(paper.references or ())
        ]
        with self._database.transaction() as connection:
            if isinstance(places, str):
                connection.executemany(_UPDATE if places == "keep" else _SAVE_TEXT, rows)
            else:
                placed = [{**row, "place": place} for row, place in zip(rows, places, strict=True)]
                connection.executemany(_SAVE, placed)
            connection.executemany(
                "DELETE FROM citations WHERE citing = ?",
                [(paper.id,) for paper in papers if paper.references is not None],
            )
            connection.executemany("INSERT OR IGNORE INTO citations VALUES (?, ?, ?)", edges)
            connection.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", (manifest or {}).items())
            connection.execute(_NEXT_GENERATION)

    def set_places(self, places: Sequence[tuple[int, str]], manifest: Mapping[str, str]) -> None:
        """Set papers' row numbers in the file of vectors (row, id) and manifest entries in one transaction.

        Adds the column to a table of version 1.
        """
        with self._database.transaction() as connection:
            if not self._has_places(connection):
                connection.execute("ALTER TABLE papers ADD COLUMN place INTEGER NOT NULL DEFAULT -1")
                connection.execute(_SHORT_INDEX)
            connection.executemany("UPDATE papers SET place = ? WHERE id = ?", places)
            connection.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", manifest.items())
            connection.execute(_NEXT_GENERATION)

    def read_placements(self) -> tuple[dict[str, str], list[tuple[str, int, str | None]]]:
        """The manifest, and (id, row of vectors, date) of every paper with a vector, from one snapshot.

        Ordered by id.
        """
        query = "SELECT id, place, date FROM papers INDEXED BY papers_short WHERE place >= 0 ORDER BY id"
        with self._database.use() as connection, transaction(connection, "DEFERRED"):
            manifest = dict(connection.execute("SELECT key, value FROM manifest").fetchall())
            return manifest, connection.execute(query).fetchall()

    def places(self, ids: Sequence[str]) -> dict[str, int]:
        """Row numbers in the file of vectors by id; ids without a vector are left out."""
        rows = self._by_ids("SELECT id, place FROM papers WHERE place >= 0 AND id IN", ids)
        return {row[0]: int(row[1]) for row in rows}

    def ids_without_vector(self) -> list[str]:
        """Ids of the papers whose vectors have not been computed yet, in ascending order."""
        query = "SELECT id FROM papers INDEXED BY papers_short WHERE place < 0 ORDER BY id"
        with self._database.use() as connection:
            if not self._has_places(connection):  # version 1
                return []
            return [row[0] for row in connection.execute(query)]

    def reported_citations(self) -> list[tuple[str, str]]:
        """The edges written by ``add_citations``, sorted."""
        query = "SELECT citing, cited FROM citations WHERE position = ? ORDER BY citing, cited"
        with self._database.use() as connection:
            return connection.execute(query, (_LAST_POSITION,)).fetchall()

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write edges (citing, cited) that do not come from the citing paper's own reference list."""
        rows = [(citing, cited, _LAST_POSITION) for citing, cited in pairs]
        with self._database.transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO citations VALUES (?, ?, ?)", rows)

    def count(self) -> int:
        """Number of papers."""
        return self._number("SELECT count(*) FROM papers")

    def count_citations(self) -> int:
        """Number of citations between papers that are both in the store."""
        return self._number(
            "SELECT count(*) FROM citations JOIN papers a ON a.id = citing JOIN papers b ON b.id = cited"
        )

    def dates(self) -> tuple[str | None, str | None]:
        """The oldest and the newest date; ``None`` if no paper has a date."""
        with self._database.use() as connection:
            oldest, newest = connection.execute("SELECT min(date), max(date) FROM papers").fetchone()
        return oldest, newest

    def _has_places(self, connection: sqlite3.Connection) -> bool:
        return "place" in {row[1] for row in connection.execute("PRAGMA table_info(papers)")}

    def _parse(self, paper_id: str, record: str) -> Paper:
        try:
            return Paper.model_validate_json(record)
        except ValidationError as error:
            reason = f"the record of {paper_id} is damaged ({error.errors()[0]['msg']})"
            raise corrupted_error(self._folder, reason) from error

    def _number(self, query: str) -> int:
        with self._database.use() as connection:
            return int(connection.execute(query).fetchone()[0])

    def _column(self, query: str, value: str) -> list[str]:
        with self._database.use() as connection:
            return [row[0] for row in connection.execute(query, (value,))]

    def _by_ids(self, query: str, ids: Sequence[str]) -> list[tuple[str, str]]:
        rows: list[tuple[str, str]] = []
        with self._database.use() as connection:
            for start in range(0, len(ids), _IDS_PER_QUERY):
                batch = ids[start : start + _IDS_PER_QUERY]
                marks = ",".join("?" * len(batch))
                rows += connection.execute(f"{query} ({marks})", tuple(batch)).fetchall()
        return rows
