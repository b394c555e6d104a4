"""The store's vectors in Chroma's embedded database.

Two things decide how Chroma is used here. Reading writes: opening a folder touches its database,
and a read after an interrupted write finishes the index on disk. And a client that is open while
another process writes fails at its next read ("Error finding id"). So a client is opened only by
who holds the folder alone, is closed again after each use (opening takes some 15 ms), and stays
open only for queries to a large store, until the store has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.retrieval.faults import corrupted, named_faults

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

COLLECTION = "papers"
_UNIT_TOLERANCE = 1e-3
"""Chroma keeps vectors at unit length; one that is off has been damaged on disk."""


class Vectors:
    """Vectors by paper id, cosine space. Not safe by itself: the store's lock is held around every call."""

    def __init__(self, store_folder: Path) -> None:
        self._store_folder = store_folder
        self.folder = store_folder / "chroma"
        self._kept: tuple[int, ClientAPI, Collection] | None = None

    def create(self) -> int:
        """Make the collection unless it is there; the number of vectors in it."""
        with self._client() as client:
            space: Any = {"hnsw": {"space": "cosine"}}
            return client.get_or_create_collection(
                COLLECTION, configuration=space, embedding_function=None
            ).count()

    def upsert(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Put vectors in, over those of the same ids. Wants the folder held alone."""
        self.close()
        with self._collection() as collection:
            collection.upsert(ids=list(ids), embeddings=vectors)

    def everything(self) -> tuple[list[str], NDArray[np.float64]]:
        """All ids and their vectors, shape (n, dimension). Wants the folder held alone."""
        import numpy as np

        with self._collection() as collection:
            got = collection.get(include=["embeddings"])
        if not got["ids"]:
            return [], np.empty((0, 0), dtype=np.float64)
        matrix = np.asarray(got["embeddings"], dtype=np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE):  # also true of NaN
            raise corrupted(self._store_folder, "some vectors in chroma/ are damaged")
        return list(got["ids"]), matrix / lengths

    def keep_open(self, generation: int) -> None:
        """Have a client that has seen a generation of the store. Wants the folder held alone."""
        if self._kept and self._kept[0] == generation:
            return
        self.close()
        with named_faults(self._store_folder):
            client = self._open()
            self._kept = (generation, client, self._found(client))
            self._kept[2].peek(1)  # finishes an interrupted write now, while nobody else is here

    def is_open_at(self, generation: int) -> bool:
        """Whether queries can be answered for this generation."""
        return self._kept is not None and self._kept[0] == generation

    def nearest(self, vector: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        """Up to k ids with their cosine similarity, by Chroma's index; after ``keep_open``."""
        import numpy as np

        assert self._kept is not None
        collection = self._kept[2]
        with named_faults(self._store_folder):
            wanted = min(k, collection.count())
            if wanted == 0:
                return []
            query = np.asarray([vector], dtype=np.float32)
            got = collection.query(query_embeddings=query, n_results=wanted, include=["distances"])
        distances = got["distances"]
        assert distances is not None
        return [(found, 1.0 - distance) for found, distance in zip(got["ids"][0], distances[0], strict=True)]

    def close(self) -> None:
        """Close the client that is kept open, if there is one."""
        if self._kept:
            self._kept[1].close()  # type: ignore[attr-defined]
            self._kept = None

    @contextmanager
    def _collection(self) -> Iterator[Collection]:
        with self._client() as client:
            yield self._found(client)

    @contextmanager
    def _client(self) -> Iterator[ClientAPI]:
        with named_faults(self._store_folder):
            client = self._open()
            try:
                yield client
            finally:
                client.close()  # type: ignore[attr-defined]

    def _open(self) -> ClientAPI:
        import chromadb
        from chromadb.config import Settings

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            return chromadb.PersistentClient(str(self.folder), Settings(anonymized_telemetry=False))
        except ValueError as error:  # "Could not connect to tenant", when its tables are not there
            raise corrupted(self._store_folder, str(error)) from error

    def _found(self, client: ClientAPI) -> Collection:
        from chromadb.errors import NotFoundError

        try:
            return client.get_collection(COLLECTION, embedding_function=None)
        except NotFoundError as error:
            raise corrupted(self._store_folder, "chroma/ has lost its vectors") from error
