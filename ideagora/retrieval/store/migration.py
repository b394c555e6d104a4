"""Papers from one store to another: folder to server, server to folder, folder to folder.

The source is only read. A folder of an older version, or one that cannot be written (a store's lock
is a file of its folder), is copied first, and the copy is brought up to date. What the target has
already is not sent again, so the same call goes on where it was stopped.
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
    """Where a store is: a server's URL with a folder for what stays here, or a folder alone."""

    url: str | None
    folder: Path

    def __str__(self) -> str:
        return self.url or str(self.folder)


class MigrationSummary(Record):
    """What a migration did, counted in the target at its end."""

    source: str
    target: str
    papers: int
    """Of the source, all of which are in the target."""
    sent: int
    """Of them, by this call; the others were there."""
    embedded: int
    """Of those sent, papers that had to be embedded anew."""
    citations: int
    """Edges that others than the citing paper told, all of which are in the target."""
    files: tuple[str, ...]
    """Files beside the records whose content went along (full texts, lists that sources told)."""


class _NameOnlyEmbedder:
    """Stands for the embedder of a store that is only read."""

    dimension = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """There is nothing to embed with."""
        raise EmbedderError(
            f"the vectors of the store to read are gone, and they are of the embedder {self.name}. "
            "Set IDEAGORA_EMBEDDER to it, or add the papers again: ideagora library add PATH."
        )


def migrate(
    source: StoreLocation,
    target: StoreLocation,
    embedder: Embedder,
    tell: ProgressCallback | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> MigrationSummary:
    """Put all papers of one store into another, with vectors, citations, marks and full texts.

    Of a paper that both have, the source's record counts. Vectors go along when both stores are of
    one embedder, else every paper is embedded anew.

    Args:
        embedder: of the target.
        tell: called with (done, total) papers.

    Raises:
        UsageError: source and target are one.
        LibraryError: there is no store, either cannot be opened, or papers are missing at the end.
    """
    if (source.url or source.folder.resolve()) == (target.url or target.folder.resolve()):
        raise UsageError(f"the store in {source} is to be copied to itself. Name another place.")
    with ExitStack() as stack:
        old = stack.enter_context(_open_source(source, embedder, on_wait))
        new = stack.enter_context(Store.open_at(target.url, target.folder, embedder, on_wait=on_wait))
        stack.enter_context(old.backend.read_lock())
        papers, sent, embedded = _send(old.backend, new, embedder.name, tell or (lambda done, total: None))
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
    """The store to read; nothing of it is changed."""
    if place.url:
        from ideagora.retrieval.store.chroma_server import stored_embedder

        named = _NameOnlyEmbedder(stored_embedder(place.url))
        with Store.open_at(place.url, place.folder, named, on_wait=on_wait) as store:
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
    """A copy of a store's folder, made while nobody writes there (as far as it can be locked)."""
    with ExitStack() as stack:
        if os.access(folder, os.W_OK):
            lock = FolderLock(folder, _WAIT_SECONDS, on_wait)
            stack.callback(lock.close)
            stack.enter_context(lock.shared())
        with translate_errors(copy.parent):
            return Path(shutil.copytree(folder, copy))


def _send(old: StoreBackend, new: Store, embedder: str, tell: ProgressCallback) -> tuple[list[str], int, int]:
    """Send what the target does not have; the source's ids, papers sent, papers embedded for it."""
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
        tell(done, len(ids))
    return ids, sent, embedded


def _papers_to_send(old: StoreBackend, new: StoreBackend, ids: Sequence[str]) -> list[Paper]:
    """Papers that the target lacks, or has another record of."""
    theirs = new.papers(ids)
    return [paper for paper in old.papers(ids).values() if theirs.get(paper.id) != paper]


def _stack(vectors: dict[str, NDArray[np.float32]], papers: Sequence[Paper]) -> NDArray[np.float32]:
    import numpy as np

    return np.stack([vectors[paper.id] for paper in papers])


def _send_citations(old: StoreBackend, new: Store) -> list[tuple[str, str]]:
    """Send the edges that others told, and the marks that fillers left."""
    edges = old.reported_citations()
    for some in batches(edges, _BATCH):
        new.add_citations(some)
    for key, value in old.metadata().items():
        new.set_metadata(key, value)
    return edges


def _verify(
    ids: Sequence[str], edges: Sequence[tuple[str, str]], old: StoreBackend, new: StoreBackend
) -> None:
    """Count in the target what was sent; the source may not lose what the target does not have."""
    here = [new.content_hashes(some) for some in batches(ids, _BATCH)]
    known = sum(map(len, here))
    told = set(new.reported_citations())
    lost = sum(edge not in told and edge[1] not in new.cited_by(edge[0]) for edge in edges)
    if known != len(ids) or lost:
        raise LibraryError(
            f"only {known} of the {len(ids)} papers in {old.location} arrived in {new.location}, and {lost} "
            "citations are missing: they were removed meanwhile. Run the same command again."
        )


def _merge_files(source: Path, target: Path) -> Iterator[str]:
    """Copy the SQLite files beside the records table by table; rows that are there stay as they are."""
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
    """Rows of ``old`` into ``main``, by the columns that both have."""
    query = (
        "SELECT o.name FROM pragma_table_info(?, 'old') o JOIN pragma_table_info(?, 'main') m USING (name)"
    )
    columns = ", ".join(_quote(row[0]) for row in connection.execute(query, (table, table)))
    name = _quote(table)
    copy = f"INSERT OR IGNORE INTO main.{name} ({columns}) SELECT {columns} FROM old.{name}"  # noqa: S608
    connection.execute(copy)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
