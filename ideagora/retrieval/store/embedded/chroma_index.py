"""The store's vectors in Chroma's embedded database.

Three properties of Chroma determine how it is used here.

- Reading writes: opening a folder changes its database, and a read after an interrupted write
  finishes the index on disk. A client that is open while another process writes fails at its next
  read ("Error finding id"). So a client is opened only under the exclusive lock and closed when the
  lock is released (opening takes 15 ms, and 0.3 s with 100,000 vectors). It stays open only for queries
  to a large store, until the store changes.
- Damaged index files can crash the process (segmentation fault in C++ code), which cannot be caught.
  So the files are compared with a fingerprint before Chroma opens them.
- All vectors are also in a flat file (``vector_file.py``), so the folder can always be rebuilt.
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
"""Chroma normalizes vectors to unit length; any other length means damage on disk."""
_PAGE_SIZE = 1_000
_MAX_BATCH = 5_000
"""Below Chroma's limit per call."""


class ChromaIndex:
    """Vectors by paper id, in cosine space.

    Every method but ``nearest`` requires the store's exclusive lock.
    """

    def __init__(self, store_folder: Path) -> None:
        self._store_folder = store_folder
        self.folder = store_folder / CHROMA_FOLDER
        self._reader: tuple[int, ClientAPI, Collection] | None = None
        self._reader_count = 0
        self._writer: tuple[ClientAPI, Collection] | None = None
        self._is_checked = False
        self._digests: dict[Path, tuple[tuple[int, int], bytes]] = {}

    def create(self) -> int:
        """Create the collection if it does not exist; returns the number of vectors in it."""
        space: Any = {"hnsw": {"space": "cosine"}}
        with self._client() as client:
            collection = client.get_or_create_collection(
                COLLECTION, configuration=space, embedding_function=None
            )
            return collection.count()

    def remove(self) -> None:
        """Delete the folder."""
        self.close()
        with translate_errors(self._store_folder):
            if self.folder.exists():
                shutil.rmtree(self.folder)

    def upsert(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Write vectors, replacing those of the same ids; the client stays open until ``close``."""
        with translate_errors(self._store_folder, self.folder):
            if self._writer is None:
                self.close()
                self._writer = self._open_collection()
            for start in range(0, len(ids), _MAX_BATCH):
                batch = slice(start, start + _MAX_BATCH)
                self._writer[1].upsert(ids=list(ids[batch]), embeddings=vectors[batch])

    def pages(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """All ids and their vectors, page by page, in no particular order.

        Raises:
            StoreCorrupted: a vector is not of unit length, or the collection is missing.
        """
        import numpy as np

        with self._client() as client:
            collection = self._collection(client)
            for offset in range(0, collection.count(), _PAGE_SIZE):
                result = collection.get(include=["embeddings"], limit=_PAGE_SIZE, offset=offset)
                matrix = np.asarray(result["embeddings"], dtype=np.float32)
                lengths = np.linalg.norm(matrix, axis=1)
                if not np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE):  # also true for NaN
                    raise self.damaged("some vectors are not of unit length")
                yield list(result["ids"]), matrix

    def keep_open(self, generation: int) -> None:
        """Open a client for queries at a generation of the store."""
        self.close()
        with translate_errors(self._store_folder, self.folder):
            self._reader = (generation, *self._open_collection())
            self._reader_count = self._reader[2].count()  # counting is slower than a query
            self._reader[2].peek(1)  # loads the index now, under the lock

    def is_open_at(self, generation: int) -> bool:
        """Whether a client is open for queries at this generation."""
        return self._reader is not None and self._reader[0] == generation

    def nearest(self, vector: NDArray[np.float64], k: int) -> list[str]:
        """Up to k ids from Chroma's index, nearest first; requires ``keep_open``."""
        import numpy as np

        assert self._reader is not None
        collection = self._reader[2]
        with translate_errors(self._store_folder, self.folder):
            wanted = min(k, self._reader_count)
            if wanted == 0:
                return []
            query = np.asarray([vector], dtype=np.float32)
            return list(collection.query(query_embeddings=query, n_results=wanted, include=[])["ids"][0])

    def fingerprint(self) -> str:
        """SHA-256 over the index's files.

        Chroma's database is left out, since opening it changes it; it is checked by SQLite instead, once
        per process.

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
        """The error for damage to this folder."""
        return corrupted_error(self._store_folder, f"{CHROMA_FOLDER}: {what}", self.folder)

    def close(self) -> None:
        """Close the open clients."""
        reader, writer, self._reader, self._writer = self._reader, self._writer, None, None
        for client in (reader and reader[1], writer and writer[0]):
            if client:
                client.close()  # type: ignore[attr-defined]

    def _digest(self, path: Path) -> bytes:
        """Digest of one file, read again only if its size or modification time has changed."""
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
            client = self._create_client()
            try:
                yield client
            finally:
                client.close()  # type: ignore[attr-defined]

    def _open_collection(self) -> tuple[ClientAPI, Collection]:
        """An open client and the collection; the client is closed if there is none."""
        client = self._create_client()
        try:
            return client, self._collection(client)
        except BaseException:
            client.close()  # type: ignore[attr-defined]
            raise

    def _create_client(self) -> ClientAPI:
        import chromadb
        from chromadb.config import Settings

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            return chromadb.PersistentClient(str(self.folder), Settings(anonymized_telemetry=False))
        except ValueError as error:  # "Could not connect to tenant" if its tables are missing
            raise self.damaged(str(error)) from error

    def _collection(self, client: ClientAPI) -> Collection:
        from chromadb.errors import NotFoundError

        try:
            return client.get_collection(COLLECTION, embedding_function=None)
        except NotFoundError as error:
            raise self.damaged("the vectors are gone") from error
