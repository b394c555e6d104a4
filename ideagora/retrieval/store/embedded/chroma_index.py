"""The store's vectors in Chroma's embedded database.

Three things decide how Chroma is used here.

- Reading writes: opening a folder touches its database, and a read after an interrupted write
  finishes the index on disk. And a client that is open while another process writes fails at its
  next read ("Error finding id"). So a client is opened only by who holds the folder alone, is closed
  when the folder is let go (opening takes 15 ms, and 0.3 s with 100,000 vectors), and stays open only
  for queries to a large store, until the store has changed.
- An index with damaged files can end the process (segmentation fault in the index's C++ part) before
  anything could be caught. So the files are compared with a fingerprint before Chroma sees them.
- All vectors stand in a file of rows as well (``rows.py``), so a doubtful folder is no loss.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.retrieval.store.errors import corrupted_error, translate_errors

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

    from ideagora.errors import StoreCorrupted

CHROMA_FOLDER = "chroma"
COLLECTION = "papers"
_DATABASE = "chroma.sqlite3"
_UNIT_TOLERANCE = 1e-3
"""Chroma keeps vectors at unit length; one that is off has been damaged on disk."""
_PAGE_SIZE = 1_000
_MAX_BATCH = 5_000
"""Below what Chroma takes in one call."""


class ChromaIndex:
    """Vectors by paper id, cosine space.

    Not safe by itself: every call wants the store's folder held alone, but for ``nearest``.
    """

    def __init__(self, store_folder: Path) -> None:
        self._store_folder = store_folder
        self.folder = store_folder / CHROMA_FOLDER
        self._kept: tuple[int, ClientAPI, Collection] | None = None
        self._kept_count = 0
        self._writer: tuple[ClientAPI, Collection] | None = None
        self._is_checked = False
        self._digests: dict[Path, tuple[tuple[int, int], bytes]] = {}

    def create(self) -> int:
        """Make the collection unless it is there; the number of vectors in it."""
        space: Any = {"hnsw": {"space": "cosine"}}
        with self._client() as client:
            made = client.get_or_create_collection(COLLECTION, configuration=space, embedding_function=None)
            return made.count()

    def remove(self) -> None:
        """Throw all vectors away."""
        self.close()
        with translate_errors(self._store_folder):
            if self.folder.exists():
                shutil.rmtree(self.folder)

    def upsert(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Put vectors in, over those of the same ids; the client stays open until ``close``."""
        with translate_errors(self._store_folder, self.folder):
            if self._writer is None:
                self.close()
                self._writer = self._opened()
            for start in range(0, len(ids), _MAX_BATCH):
                some = slice(start, start + _MAX_BATCH)
                self._writer[1].upsert(ids=list(ids[some]), embeddings=vectors[some])

    def pages(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """All ids and their vectors of unit length, page by page, in no order."""
        import numpy as np

        with self._client() as client:
            collection = self._collection(client)
            for offset in range(0, collection.count(), _PAGE_SIZE):
                got = collection.get(include=["embeddings"], limit=_PAGE_SIZE, offset=offset)
                matrix = np.asarray(got["embeddings"], dtype=np.float32)
                lengths = np.linalg.norm(matrix, axis=1)
                if not np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE):  # so written that NaN is damage too
                    raise self.damaged("some vectors are not of unit length")
                yield list(got["ids"]), matrix

    def keep_open(self, generation: int) -> None:
        """Have a client open that has seen a generation of the store."""
        self.close()
        with translate_errors(self._store_folder, self.folder):
            self._kept = (generation, *self._opened())
            self._kept_count = self._kept[2].count()  # counting takes longer than a query
            self._kept[2].peek(1)  # reads the index in now, while nobody else is here

    def is_open_at(self, generation: int) -> bool:
        """Whether queries can be answered for this generation."""
        return self._kept is not None and self._kept[0] == generation

    def nearest(self, vector: NDArray[np.float64], k: int) -> list[str]:
        """Up to k ids by Chroma's index, nearest first; after ``keep_open``."""
        import numpy as np

        assert self._kept is not None
        collection = self._kept[2]
        with translate_errors(self._store_folder, self.folder):
            wanted = min(k, self._kept_count)
            if wanted == 0:
                return []
            query = np.asarray([vector], dtype=np.float32)
            return list(collection.query(query_embeddings=query, n_results=wanted, include=[])["ids"][0])

    def fingerprint(self) -> str:
        """SHA-256 over the index's files; changes with every byte of them.

        Chroma's database is not in it, since mere opening changes that; SQLite checks it instead, once
        in a process.

        Raises:
            StoreCorrupted: the database is damaged or missing.
        """
        digest = hashlib.sha256()
        with translate_errors(self._store_folder, self.folder):
            self._check_database()
            for path in sorted(self.folder.rglob("*")):
                if path.is_file() and not path.name.startswith(_DATABASE):
                    digest.update(f"{path.relative_to(self.folder)}\x1f".encode() + self._digest(path))
        return digest.hexdigest()

    def damaged(self, what: str) -> StoreCorrupted:
        """The error for this folder."""
        return corrupted_error(self._store_folder, f"{CHROMA_FOLDER}: {what}", self.folder)

    def close(self) -> None:
        """Close the clients that are open."""
        kept, writer, self._kept, self._writer = self._kept, self._writer, None, None
        for client in (kept and kept[1], writer and writer[0]):
            if client:
                client.close()  # type: ignore[attr-defined]

    def _digest(self, path: Path) -> bytes:
        """Digest of one file, read again only when its size or its time has changed."""
        status = path.stat()
        state = (status.st_size, status.st_mtime_ns)
        known = self._digests.get(path)
        if known is None or known[0] != state:
            with path.open("rb") as file:
                known = (state, hashlib.file_digest(file, "sha256").digest())
            self._digests[path] = known
        return known[1]

    def _check_database(self) -> None:
        path = self.folder / _DATABASE
        if not path.is_file():
            raise self.damaged(f"{_DATABASE} is missing")
        if self._is_checked:
            return
        with closing(sqlite3.connect(path)) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise self.damaged(f"{_DATABASE}: {verdict}")
        self._is_checked = True

    @contextmanager
    def _client(self) -> Iterator[ClientAPI]:
        with translate_errors(self._store_folder, self.folder):
            client = self._open()
            try:
                yield client
            finally:
                client.close()  # type: ignore[attr-defined]

    def _opened(self) -> tuple[ClientAPI, Collection]:
        """A client that stays open, and the collection; Chroma keeps what a lost client has open."""
        client = self._open()
        try:
            return client, self._collection(client)
        except BaseException:
            client.close()  # type: ignore[attr-defined]
            raise

    def _open(self) -> ClientAPI:
        import chromadb
        from chromadb.config import Settings

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            return chromadb.PersistentClient(str(self.folder), Settings(anonymized_telemetry=False))
        except ValueError as error:  # "Could not connect to tenant", when its tables are not there
            raise self.damaged(str(error)) from error

    def _collection(self, client: ClientAPI) -> Collection:
        from chromadb.errors import NotFoundError

        try:
            return client.get_collection(COLLECTION, embedding_function=None)
        except NotFoundError as error:
            raise self.damaged("the vectors are gone") from error
