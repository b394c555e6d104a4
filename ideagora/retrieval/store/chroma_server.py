"""Papers on a Chroma server shared by several users: vectors, records, citation edges, metadata.

    collection ideagora-papers      vectors, with the record and its searchable fields as metadata
    collection ideagora-citations   edges that do not come from the citing paper, one per row
    collection ideagora-marks       the store's metadata, one key per row

All users see what one user adds. Rows are written idempotently and the server serializes writers;
there is no lock between machines. Full texts and citation lists stay on the machine that fetched them.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from ideagora.errors import LibraryError, StoreCorrupted
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import STORE_VERSION, BackendStats, StoreKind
from ideagora.retrieval.store.chroma_connection import connect, disconnect, translate_server_errors
from ideagora.retrieval.store.embedded.exact_search import day_number, rank
from ideagora.retrieval.store.embedded.locking import FolderLock
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.retrieval.store.hashing import batches
from ideagora.schema import Paper, last_day

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

PAPERS, CITATIONS, MARKS = "ideagora-papers", "ideagora-citations", "ideagora-marks"
_VERSION, _EMBEDDER = "ideagora-version", "ideagora-embedder"
_PAGE_SIZE = 1_000
_WRITE_SIZE = 1_000
_EXTRA_NEIGHBORS = 8
"""Neighbors requested beyond k, because they are re-ranked by exact similarity."""
_DATE_OVERSAMPLING = 5
"""How many neighbors of any date to request per paper wanted from before the cut-off."""
_SEPARATOR = "\x1f"


class ChromaServerBackend:
    """See ``StoreBackend``."""

    kind: StoreKind = "server"

    def __init__(self, url: str, embedder: Embedder, lock: FolderLock) -> None:
        self.location = url
        self._embedder = embedder
        self._lock = lock
        self._client = connect(url)

    @classmethod
    def open(
        cls,
        url: str,
        folder: Path,
        embedder: Embedder,
        *,
        timeout: float = 60.0,
        on_wait: Callable[[str], None] | None = None,
    ) -> Self:
        """Connect to a server and create the collections if they do not exist.

        Args:
            url: ``http://host:port``.
            folder: on this machine; its lock keeps this user's processes from filling the store twice.

        Raises:
            StoreDown: the server does not answer.
            LibraryError: it is not a Chroma server, or its store has another version or embedder.
        """
        folder.mkdir(parents=True, exist_ok=True)
        backend = cls(url, embedder, FolderLock(folder, timeout, on_wait))
        try:
            backend._check()
        except BaseException:
            backend.close()
            raise
        return backend

    def close(self) -> None:
        """Close the connection and release the lock."""
        disconnect(self._client)
        self._lock.close()

    def write_lock(self) -> AbstractContextManager[None]:
        """Hold the lock that this user's processes share; other machines are not locked out."""
        return self._lock.exclusive()

    def read_lock(self) -> AbstractContextManager[None]:
        """See ``write_lock``."""
        return self._lock.shared()

    def manifest(self) -> dict[str, str]:
        """Version and embedder recorded on the server."""
        metadata = self._papers.metadata or {}
        return {"version": str(metadata.get(_VERSION)), "embedder": str(metadata.get(_EMBEDDER))}

    def get_metadata(self, key: str) -> str | None:
        """See ``StoreBackend``."""
        with self._translate_errors():
            rows = self._marks.get(ids=[key], include=["metadatas"])["metadatas"]
        return str(rows[0]["value"]) if rows else None

    def metadata(self) -> dict[str, str]:
        """See ``StoreBackend``."""
        return {key: str(row["value"]) for key, row in self._pages(self._marks)}

    def set_metadata(self, key: str, value: str) -> None:
        """See ``StoreBackend``."""
        with self._translate_errors():
            self._marks.upsert(
                ids=[key], embeddings=_placeholder_vectors([key]), metadatas=[{"value": value}]
            )

    def generation(self) -> int:
        """The number of papers."""
        return self.count()

    def put(
        self, papers: Sequence[Paper], hashes: Mapping[str, str], vectors: NDArray[np.float32] | None
    ) -> None:
        """See ``StoreBackend``."""
        rows: list[Any] = [_metadata(paper, hashes[paper.id]) for paper in papers]
        ids = [paper.id for paper in papers]
        with self._translate_errors():
            for start in range(0, len(ids), _WRITE_SIZE):
                batch = slice(start, start + _WRITE_SIZE)
                if vectors is None:
                    self._papers.update(ids=ids[batch], metadatas=rows[batch])
                else:
                    self._papers.upsert(ids=ids[batch], metadatas=rows[batch], embeddings=vectors[batch])
        self._delete_reported([paper.id for paper in papers if paper.references is not None])

    def put_without_vectors(self, papers: Sequence[Paper], hashes: Mapping[str, str]) -> bool:
        """See ``StoreBackend``. On a server, every row has a vector."""
        return False

    def ids_without_vector(self) -> list[str]:
        """See ``StoreBackend``."""
        return []

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """See ``StoreBackend``."""
        rows = {_SEPARATOR.join(pair): {"citing": pair[0], "cited": pair[1]} for pair in pairs}
        with self._translate_errors():
            for ids in batches(list(rows), _WRITE_SIZE):
                self._citations.upsert(
                    ids=list(ids),
                    embeddings=_placeholder_vectors(ids),
                    metadatas=[rows[edge_id] for edge_id in ids],
                )

    def reported_citations(self) -> list[tuple[str, str]]:
        """See ``StoreBackend``."""
        pages = self._pages(self._citations)
        return sorted((str(row["citing"]), str(row["cited"])) for _, row in pages)

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """See ``StoreBackend``."""
        return {paper_id: self._parse(paper_id, row) for paper_id, row in self._fetch_rows(ids)}

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """See ``StoreBackend``."""
        return {paper_id: str(row["hash"]) for paper_id, row in self._fetch_rows(ids)}

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """See ``StoreBackend``."""
        import numpy as np

        vectors: dict[str, NDArray[np.float32]] = {}
        with self._translate_errors():
            for batch in batches(ids, _PAGE_SIZE):
                result = self._papers.get(ids=list(batch), include=["embeddings"])
                rows = np.asarray(result["embeddings"], dtype=np.float32)
                vectors.update(zip(result["ids"], rows, strict=True))
        return vectors

    def ids(self) -> set[str]:
        """See ``StoreBackend``."""
        return {paper_id for paper_id, _ in self._pages(self._papers, with_rows=False)}

    def identities(self) -> Iterator[PaperIdentity]:
        """See ``StoreBackend``."""
        papers = sorted((self._parse(*row) for row in self._pages(self._papers)), key=lambda paper: paper.id)
        return (PaperIdentity(p.id, p.title, p.date, p.arxiv_id, p.doi) for p in papers)

    def reference_ids(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        own = [cited for _, row in self._fetch_rows([paper_id]) for cited in row.get("cites") or ()]
        reported = [str(row["cited"]) for row in self._reported({"citing": paper_id})]
        return list(dict.fromkeys([*own, *sorted(reported)]))

    def citation_ids(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        where: Any = {"cites": {"$contains": paper_id}}
        with self._translate_errors():
            result = self._papers.get(where=where, include=["metadatas"])
        rows = dict(zip(result["ids"], result["metadatas"] or [], strict=True))
        reported = [str(row["citing"]) for row in self._reported({"cited": paper_id})]
        rows |= dict(self._fetch_rows([citing for citing in reported if citing not in rows]))
        dates = {citing: row.get("date") for citing, row in rows.items()}
        return sorted(rows, key=lambda citing: (dates[citing] is None, dates[citing] or "", citing))

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """See ``StoreBackend``. The server's index is approximate; the date limit is exact.

        The server's own filter is slow, so it is used only if too few of the nearest are old enough.
        """
        if before is None:
            return self._query(query, k + _EXTRA_NEIGHBORS, None, None)[:k]
        day = day_number(before)
        nearest = self._query(query, _DATE_OVERSAMPLING * k, None, day)
        if len(nearest) < k + _EXTRA_NEIGHBORS:
            nearest = self._query(query, k + _EXTRA_NEIGHBORS, {"day": {"$lt": day}}, day)
        return nearest[:k]

    def _query(
        self, query: NDArray[np.float64], wanted: int, where: Any, day: int | None
    ) -> list[tuple[str, float]]:
        """The nearest papers of the index that are older than a day, ranked by exact similarity."""
        import numpy as np

        include: Any = ["embeddings"] if day is None else ["embeddings", "metadatas"]
        queries = np.asarray([query], dtype=np.float32)
        with self._translate_errors():
            result = self._papers.query(
                query_embeddings=queries, n_results=wanted, where=where, include=include
            )
        ids, vectors = result["ids"][0], (result["embeddings"] or [[]])[0]
        rows: Sequence[Mapping[str, Any]] = (
            result["metadatas"][0] if day and result["metadatas"] else [{}] * len(ids)
        )
        old = [n for n, row in enumerate(rows) if day is None or (row.get("day") or day) < day]
        return rank([ids[n] for n in old], np.asarray([vectors[n] for n in old], dtype=np.float32), query)

    def count(self) -> int:
        """See ``StoreBackend``."""
        with self._translate_errors():
            return int(self._papers.count())

    def stats(self) -> BackendStats:
        """See ``StoreBackend``; reads all records, without their vectors."""
        rows = dict(self._pages(self._papers))
        edges = {(citing, cited) for citing, row in rows.items() for cited in row.get("cites") or ()}
        edges.update(self.reported_citations())
        dates = [str(row["date"]) for row in rows.values() if row.get("date")]
        return BackendStats(
            papers=len(rows),
            citations=sum(citing in rows and cited in rows for citing, cited in edges),
            oldest=min(dates, default=None),
            newest=max(dates, default=None),
            sources=dict(sorted(Counter(str(row["source"]) for row in rows.values()).items())),
            size_bytes=None,
        )

    # --- collections ------------------------------------------------------------------------------

    @cached_property
    def _papers(self) -> Collection:
        return self._collection(PAPERS, {_VERSION: STORE_VERSION, _EMBEDDER: self._embedder.name})

    @cached_property
    def _citations(self) -> Collection:
        return self._collection(CITATIONS, None)

    @cached_property
    def _marks(self) -> Collection:
        return self._collection(MARKS, None)

    def _collection(self, name: str, metadata: dict[str, str] | None) -> Collection:
        """The collection of a name, created if it does not exist; an existing one keeps its metadata."""
        from chromadb.errors import NotFoundError

        space: Any = {"hnsw": {"space": "cosine"}}
        with self._translate_errors():
            try:
                return self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return self._client.get_or_create_collection(
                    name, configuration=space, metadata=metadata, embedding_function=None
                )

    def _check(self) -> None:
        """Create the collections, and require this version and embedder."""
        _ = (self._papers, self._citations, self._marks)
        manifest = self.manifest()
        if manifest["version"] != STORE_VERSION:
            raise LibraryError(
                f"the store on {self.location} has version {manifest['version']}, this program reads "
                f"{STORE_VERSION}. Use the version of ideagora that wrote it, or set "
                "IDEAGORA_STORE to another store."
            )
        if manifest["embedder"] != self._embedder.name:
            raise LibraryError(
                f"the store on {self.location} was made with the embedder {manifest['embedder']}, not "
                f"{self._embedder.name}. Set IDEAGORA_EMBEDDER to that one, or embed its papers again: "
                f"ideagora library migrate OTHER --from {self.location}"
            )

    # --- rows -------------------------------------------------------------------------------------

    def _fetch_rows(self, ids: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for batch in batches(list(dict.fromkeys(ids)), _PAGE_SIZE):
            with self._translate_errors():
                result = self._papers.get(ids=list(batch), include=["metadatas"])
            yield from zip(result["ids"], result["metadatas"] or [], strict=True)

    def _pages(
        self, collection: Collection, *, with_rows: bool = True
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every id and its metadata; an id may appear twice if another user writes meanwhile."""
        offset = 0
        while True:
            with self._translate_errors():
                include: Any = ["metadatas"] if with_rows else []
                result = collection.get(include=include, limit=_PAGE_SIZE, offset=offset)
            rows: Sequence[Mapping[str, Any]] = (result["metadatas"] if with_rows else None) or []
            yield from zip(result["ids"], rows or [{}] * len(result["ids"]), strict=True)
            if len(result["ids"]) < _PAGE_SIZE:
                return
            offset += _PAGE_SIZE

    def _reported(self, where: dict[str, Any]) -> list[Mapping[str, Any]]:
        with self._translate_errors():
            return list(self._citations.get(where=where, include=["metadatas"])["metadatas"] or [])

    def _delete_reported(self, ids: Sequence[str]) -> None:
        """Delete the reported edges of papers whose own reference list is known."""
        with self._translate_errors():
            if ids and self._citations.count():
                for batch in batches(ids, _PAGE_SIZE):
                    where: Any = {"citing": {"$in": list(batch)}}
                    self._citations.delete(where=where)

    def _parse(self, paper_id: str, row: Mapping[str, Any]) -> Paper:
        try:
            return Paper.model_validate_json(str(row.get("record")))
        except ValidationError as error:
            raise StoreCorrupted(
                f"the record of {paper_id} in the store on {self.location} is damaged "
                f"({error.errors()[0]['msg']}). Add the paper again, or delete it on the server."
            ) from error

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_server_errors(self.location)


def stored_embedder(url: str) -> str:
    """The name of the embedder that the store on a server was made with.

    Raises:
        StoreDown: the server does not answer.
        LibraryError: there is no store on it.
    """
    from chromadb.errors import NotFoundError

    client = connect(url)
    try:
        with translate_server_errors(url):
            try:
                collection = client.get_collection(PAPERS, embedding_function=None)
            except NotFoundError:
                raise LibraryError(f"there is no ideagora store on {url}. Check host and port.") from None
        return str((collection.metadata or {}).get(_EMBEDDER))
    finally:
        disconnect(client)


def _metadata(paper: Paper, content_hash: str) -> dict[str, Any]:
    """The metadata of a paper's row; ``None`` clears a field."""
    return {
        "record": paper.model_dump_json(),
        "hash": content_hash,
        "source": paper.source,
        "date": paper.date,
        "day": day_number(last_day(paper.date)) if paper.date else None,
        "cites": list(paper.references) if paper.references else None,
    }


def _placeholder_vectors(keys: Sequence[str]) -> NDArray[np.float32]:
    """Vectors for rows that are never searched, since Chroma requires some; spread out for its index."""
    import numpy as np

    angles = [2 * np.pi * zlib.crc32(key.encode("utf-8", "surrogatepass")) / 2**32 for key in keys]
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
