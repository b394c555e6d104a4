"""Access to one collection on a Chroma server, in batches, with its errors translated."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ideagora.retrieval.store.chroma_connection import translate_server_errors
from ideagora.retrieval.store.hashing import batches

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

_PAGE_SIZE = 1_000
_WRITE_SIZE = 1_000
Row = Mapping[str, Any]
"""Chroma calls it the metadata of an id."""


class QueryResult(NamedTuple):
    """Ids near a query, nearest first, with their vectors and rows."""

    ids: Sequence[str]
    vectors: Sequence[Any]
    rows: Sequence[Row]
    """Empty mappings if they were not requested."""


class ServerCollection:
    """The collection of a name, created when it is first used; an existing one keeps its settings.

    Args:
        url: of the server, for messages.
        settings: Chroma calls them the metadata of the collection.
    """

    def __init__(
        self, client: ClientAPI, url: str, name: str, settings: dict[str, str] | None = None
    ) -> None:
        self._client = client
        self._url = url
        self._name = name
        self._settings = settings

    @property
    def settings(self) -> Row:
        """The settings of the collection on the server."""
        return self._collection.metadata or {}

    def create(self) -> None:
        """Create the collection unless it exists."""
        _ = self._collection

    def count(self) -> int:
        """Number of rows."""
        with self._translate_errors():
            return int(self._collection.count())

    def rows(self, ids: Sequence[str]) -> Iterator[tuple[str, Row]]:
        """The rows of ids, each once; unknown ids are left out."""
        for batch in batches(list(dict.fromkeys(ids)), _PAGE_SIZE):
            with self._translate_errors():
                result = self._collection.get(ids=list(batch), include=["metadatas"])
            yield from zip(result["ids"], result["metadatas"] or [], strict=True)

    def rows_where(self, where: Any) -> list[tuple[str, Row]]:
        """The ids and rows that meet a condition in Chroma's notation."""
        with self._translate_errors():
            result = self._collection.get(where=where, include=["metadatas"])
        return list(zip(result["ids"], result["metadatas"] or [], strict=True))

    def pages(self, *, with_rows: bool = True) -> Iterator[tuple[str, Row]]:
        """Every id and its row; an id may appear twice if another user writes meanwhile."""
        offset = 0
        while True:
            with self._translate_errors():
                include: Any = ["metadatas"] if with_rows else []
                result = self._collection.get(include=include, limit=_PAGE_SIZE, offset=offset)
            rows: Sequence[Row] = (result["metadatas"] if with_rows else None) or []
            yield from zip(result["ids"], rows or [{}] * len(result["ids"]), strict=True)
            if len(result["ids"]) < _PAGE_SIZE:
                return
            offset += _PAGE_SIZE

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors by id; unknown ids are left out."""
        import numpy as np

        vectors: dict[str, NDArray[np.float32]] = {}
        with self._translate_errors():
            for batch in batches(ids, _PAGE_SIZE):
                result = self._collection.get(ids=list(batch), include=["embeddings"])
                rows = np.asarray(result["embeddings"], dtype=np.float32)
                vectors.update(zip(result["ids"], rows, strict=True))
        return vectors

    def query(
        self, vector: NDArray[np.float64], wanted: int, where: Any = None, *, with_rows: bool
    ) -> QueryResult:
        """The nearest ids in the server's index, which is approximate."""
        import numpy as np

        include: Any = ["embeddings", "metadatas"] if with_rows else ["embeddings"]
        queries = np.asarray([vector], dtype=np.float32)
        with self._translate_errors():
            result = self._collection.query(
                query_embeddings=queries, n_results=wanted, where=where, include=include
            )
        ids, vectors = result["ids"][0], (result["embeddings"] or [[]])[0]
        rows: Sequence[Row] = result["metadatas"][0] if with_rows and result["metadatas"] else [{}] * len(ids)
        return QueryResult(ids, list(vectors), rows)

    def upsert(self, rows: Mapping[str, Row], vectors: NDArray[np.float32] | None = None) -> None:
        """Write rows by id, replacing existing ones; without vectors, they are never searched."""
        ids = list(rows)
        vectors = _placeholder_vectors(ids) if vectors is None and ids else vectors
        with self._translate_errors():
            for start in range(0, len(ids), _WRITE_SIZE):
                batch = slice(start, start + _WRITE_SIZE)
                metadatas: list[Any] = [rows[row_id] for row_id in ids[batch]]
                assert vectors is not None
                self._collection.upsert(ids=ids[batch], metadatas=metadatas, embeddings=vectors[batch])

    def update(self, rows: Mapping[str, Row]) -> None:
        """Write rows of existing ids, whose vectors are kept."""
        with self._translate_errors():
            for ids in batches(list(rows), _WRITE_SIZE):
                metadatas: list[Any] = [rows[row_id] for row_id in ids]
                self._collection.update(ids=list(ids), metadatas=metadatas)

    def delete_where(self, field: str, values: Sequence[str]) -> None:
        """Delete the rows in which a field has one of these values."""
        with self._translate_errors():
            if values and self._collection.count():
                for batch in batches(values, _PAGE_SIZE):
                    where: Any = {field: {"$in": list(batch)}}
                    self._collection.delete(where=where)

    @cached_property
    def _collection(self) -> Collection:
        from chromadb.errors import NotFoundError

        space: Any = {"hnsw": {"space": "cosine"}}
        with self._translate_errors():
            try:
                return self._client.get_collection(self._name, embedding_function=None)
            except NotFoundError:
                return self._client.get_or_create_collection(
                    self._name, configuration=space, metadata=self._settings, embedding_function=None
                )

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_server_errors(self._url)


def _placeholder_vectors(keys: Sequence[str]) -> NDArray[np.float32]:
    """Vectors for rows that are never searched, since Chroma requires some; spread out for its index."""
    import numpy as np

    angles = [2 * np.pi * zlib.crc32(key.encode("utf-8", "surrogatepass")) / 2**32 for key in keys]
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
