"""Copying a store to another place: folder to server, server to folder, folder to folder.

The source is only read. A folder of an older version, or one that is not writable (opening a store
needs a lock file in its folder), is copied first and the copy is upgraded. Papers that the target
already has are skipped, so an interrupted migration continues with the same call.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ideagora.errors import EmbedderError, LibraryError, UsageError
from ideagora.models.embeddings.embedder import Embedder
from ideagora.models.sqlite import open_database, transaction
from ideagora.retrieval.store.backend import STORE_VERSION, StoreBackend
from ideagora.retrieval.store.embedded.locking import FolderLock
from ideagora.retrieval.store.embedded.sqlite_records import RECORDS_FILE, read_manifest
from ideagora.retrieval.store.errors import translate_errors
from ideagora.retrieval.store.hashing import batches
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 500
_WAIT_SECONDS = 60.0
ProgressCallback = Callable[[int, int], None]


class StoreLocation(NamedTuple):
    """Where a store is: a folder, or a server's URL and a folder for this machine's own files."""

    url: str | None
    folder: Path

    def __str__(self) -> str:
        return self.url or str(self.folder)


class MigrationSummary(Record):
    """Result of a migration, counted in the target."""

    source: str
    target: str
    papers: int
    """Papers of the source; all of them are in the target."""
    sent: int
    """Papers written by this call; the others were already there."""
    embedded: int
    """Papers sent that had to be embedded again."""
    citations: int
    """Edges reported by other sources than the citing paper; all of them are in the target."""
    files: tuple[str, ...]
    """Further files whose content was copied (full texts, citation lists)."""


class _NameOnlyEmbedder:
    """Stands in for the embedder of a store that is only read."""

    dimension = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raise, since there is no model to embed with."""
        raise EmbedderError(
            f"the source store has lost its vectors, which the embedder {self.name} made. "
            "Set IDEAGORA_EMBEDDER to it, or add the papers again: ideagora library add PATH."
        )


def migrate(
    source: StoreLocation,
    target: StoreLocation,
    embedder: Embedder,
    on_progress: ProgressCallback | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> MigrationSummary:
    """Copy all papers of one store to another, with vectors, citations, metadata and full texts.

    If both have a paper, the source's record is written. Vectors are copied if both stores use the same
    embedder; otherwise every paper is embedded again.

    Args:
        embedder: the target's embedder.
        on_progress: called with (done, total) papers.
        on_wait: called with a message when another process holds a lock.

    Raises:
        UsageError: source and target are the same store.
        LibraryError: there is no store, one cannot be opened, or papers are missing at the end.
    """
    if (source.url or source.folder.resolve()) == (target.url or target.folder.resolve()):
        raise UsageError(f"the store in {source} cannot be copied to itself. Name another target.")
    with ExitStack() as stack:
        old = stack.enter_context(_open_source(source, embedder, on_wait))
        new = stack.enter_context(Store.open_at(target.url, target.folder, embedder, on_wait=on_wait))
        stack.enter_context(old.backend.read_lock())
        papers, sent, embedded = _send(
            old.backend, new, embedder.name, on_progress or (lambda done, total: None)
        )
        edges = _send_citations(old.backend, new)
        _verify(papers, edges, old.backend, new.backend)
        return MigrationSummary(
            source=str(source),
            target=str(target),
            papers=len(papers),
            sent=sent,
            embedded=embedded,
            citations=len(edges),
            files=tuple(_merge_files(old.folder, new.folder)),
        )


@contextmanager
def _open_source(
    place: StoreLocation, embedder: Embedder, on_wait: Callable[[str], None] | None
) -> Iterator[Store]:
    """Open the store to read, or an upgraded copy of it; the store itself is not changed."""
    if place.url:
        from ideagora.retrieval.store.chroma_server import stored_embedder

        stand_in = _NameOnlyEmbedder(stored_embedder(place.url))
        with Store.open_at(place.url, place.folder, stand_in, on_wait=on_wait) as store:
            yield store
        return
    manifest = read_manifest(place.folder)
    name = manifest.get("embedder", "")
    reading = embedder if name == embedder.name else _NameOnlyEmbedder(name)
    with tempfile.TemporaryDirectory(prefix="ideagora-migrate-") as scratch:
        folder = place.folder
        if manifest.get("version") != STORE_VERSION or not os.access(folder, os.W_OK):
            folder = _copy_folder(folder, Path(scratch) / "store", on_wait)
        with Store.open(folder, reading, on_wait=on_wait) as store:
            yield store


def _copy_folder(folder: Path, copy: Path, on_wait: Callable[[str], None] | None) -> Path:
    """Copy a store's folder, under its read lock if the folder is writable; returns the copy's path."""
    with ExitStack() as stack:
        if os.access(folder, os.W_OK):
            lock = FolderLock(folder, _WAIT_SECONDS, on_wait)
            stack.callback(lock.close)
            stack.enter_context(lock.shared())
        with translate_errors(copy.parent):
            return Path(shutil.copytree(folder, copy))


def _send(
    old: StoreBackend, new: Store, embedder: str, on_progress: ProgressCallback
) -> tuple[list[str], int, int]:
    """Send the papers that the target lacks; returns the source's ids, and the numbers sent and embedded."""
    ids = sorted(old.ids())
    done = sent = embedded = 0
    keeps_vectors = old.manifest()["embedder"] == embedder
    for batch in batches(ids, _BATCH):
        with new.write_lock():
            wanted = _papers_to_send(old, new.backend, batch)
            vectors = old.vectors([paper.id for paper in wanted]) if wanted and keeps_vectors else {}
            ready = [paper for paper in wanted if paper.id in vectors]
            if ready:
                new.add_embedded(ready, _stack(vectors, ready))
            new.add([paper for paper in wanted if paper.id not in vectors])
        sent += len(wanted)
        embedded += len(wanted) - len(ready)
        done += len(batch)
        on_progress(done, len(ids))
    return ids, sent, embedded


def _papers_to_send(old: StoreBackend, new: StoreBackend, ids: Sequence[str]) -> list[Paper]:
    """Papers that the target lacks or has with a different record."""
    existing = new.papers(ids)
    return [paper for paper in old.papers(ids).values() if existing.get(paper.id) != paper]


def _stack(vectors: dict[str, NDArray[np.float32]], papers: Sequence[Paper]) -> NDArray[np.float32]:
    import numpy as np

    return np.stack([vectors[paper.id] for paper in papers])


def _send_citations(old: StoreBackend, new: Store) -> list[tuple[str, str]]:
    """Send the reported citations and the metadata; returns the citations."""
    edges = old.reported_citations()
    for batch in batches(edges, _BATCH):
        new.add_citations(batch)
    for key, value in old.metadata().items():
        new.set_metadata(key, value)
    return edges


def _verify(
    ids: Sequence[str], edges: Sequence[tuple[str, str]], old: StoreBackend, new: StoreBackend
) -> None:
    """Raise ``LibraryError`` unless the target has every paper and every edge."""
    arrived = sum(len(new.content_hashes(batch)) for batch in batches(ids, _BATCH))
    reported = set(new.reported_citations())
    lost = sum(edge not in reported and edge[1] not in new.reference_ids(edge[0]) for edge in edges)
    if arrived != len(ids) or lost:
        raise LibraryError(
            f"only {arrived} of the {len(ids)} papers in {old.location} arrived in {new.location}, and "
            f"{lost} citations are missing: they were removed meanwhile. Run the same command again."
        )


def _merge_files(source: Path, target: Path) -> Iterator[str]:
    """Copy the other SQLite files table by table, keeping existing rows; yields the files' names."""
    for path in sorted(source.glob("*.sqlite")):
        if path.name != RECORDS_FILE:
            with translate_errors(target):
                _merge(path, target / path.name)
            yield path.name


def _merge(source: Path, target: Path) -> None:
    with closing(open_database(target, uri=True)) as connection:
        connection.execute("ATTACH ? AS old", (f"{source.resolve().as_uri()}?mode=ro",))
        with transaction(connection):
            _merge_tables(connection)


def _merge_tables(connection: sqlite3.Connection) -> None:
    """Create the tables and indexes of ``old`` that ``main`` lacks, and copy the rows of each table."""
    query = "SELECT type, name, sql FROM old.sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'index'"
    for kind, name, sql in connection.execute(query).fetchall():
        known = connection.execute("SELECT 1 FROM main.sqlite_schema WHERE name = ?", (name,)).fetchone()
        if not known:
            connection.execute(sql)
            version = int(connection.execute("PRAGMA old.user_version").fetchone()[0])
            connection.execute(f"PRAGMA main.user_version = {version}")
        if kind == "table":
            _copy_rows(connection, name)


def _copy_rows(connection: sqlite3.Connection, table: str) -> None:
    """Copy a table's rows from ``old`` to ``main``, by the columns that both have."""
    query = (
        "SELECT o.name FROM pragma_table_info(?, 'old') o JOIN pragma_table_info(?, 'main') m USING (name)"
    )
    columns = ", ".join(_quote(row[0]) for row in connection.execute(query, (table, table)))
    name = _quote(table)
    copy = f"INSERT OR IGNORE INTO main.{name} ({columns}) SELECT {columns} FROM old.{name}"  # noqa: S608
    connection.execute(copy)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
