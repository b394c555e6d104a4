"""A store's folder in version 1 of the layout: vectors in Chroma only, and no file of vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.embedded.chroma_index import ChromaIndex
from ideagora.retrieval.store.hashing import content_hash, paper_text
from ideagora.schema import Paper

_TABLES = """
CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, date TEXT, record TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE citations (citing TEXT NOT NULL, cited TEXT NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (citing, cited)) WITHOUT ROWID;
CREATE INDEX citations_by_cited ON citations (cited);
"""


def make_version_1(
    folder: Path, embedder: Embedder, papers: Sequence[Paper], reported: Sequence[tuple[str, str]] = ()
) -> None:
    """Write the folder; ``reported`` are citations that do not come from the citing paper."""
    folder.mkdir(parents=True)
    vectors = ChromaIndex(folder)
    vectors.create()
    vectors.upsert([paper.id for paper in papers], embedder.encode([paper_text(paper) for paper in papers]))
    vectors.close()
    manifest = {
        "generation": "7",
        "version": "1",
        "embedder": embedder.name,
        "vectors": vectors.fingerprint(),
        "mark:corpus": "kept",
    }
    rows = [(paper.id, content_hash(paper), paper.date, paper.model_dump_json()) for paper in papers]
    edges = [(one.id, cited, place) for one in papers for place, cited in enumerate(one.references or ())]
    edges += [(citing, cited, 1_000_000) for citing, cited in reported]
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(_TABLES)
        connection.executemany("INSERT INTO manifest VALUES (?, ?)", manifest.items())
        connection.executemany("INSERT INTO papers VALUES (?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO citations VALUES (?, ?, ?)", edges)
