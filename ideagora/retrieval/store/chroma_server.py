"""Papers on a Chroma server that several users share: vectors, records, citation edges, marks.

    collection ideagora-papers      vector; the record and what is asked of it as metadata
    collection ideagora-citations   edges that others than the citing paper told, one a row
    collection ideagora-marks       notes of fillers, one a row

Everything that one user adds another one sees, so everything is on the server. Writes are
idempotent, row by row, and the server keeps writers out of each other's way; there is no lock between
machines. Full texts and lists that sources told stay on the machine that fetched them.
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
"""Neighbours asked of the index beyond the k, since their order is settled by exact similarity."""
_DATE_OVERSAMPLING = 5
"""Times as many neighbours, of any date, as papers wanted that are old enough."""
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
        """Connect to a server, and make the collections unless they are there.

        Args:
            url: ``http://host:port``.
            folder: on this machine; its lock keeps this user's own processes from filling a store twice.

        Raises:
            LibraryError: nobody answers, or it is no Chroma server, or its store is of another version
                or another embedder.
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
        """Keep this user's other processes from writing; users on other machines are not kept."""
        return self._lock.exclusive()

    def read_lock(self) -> AbstractContextManager[None]:
        """See ``write_lock``."""
        return self._lock.shared()

    def manifest(self) -> dict[str, str]:
        """Version and embedder, as the server has them."""
        told = self._papers.metadata or {}
        return {"version": str(told.get(_VERSION)), "embedder": str(told.get(_EMBEDDER))}

    def get_metadata(self, key: str) -> str | None:
        """See ``StoreBackend``."""
        with self._named():
            found = self._marks.get(ids=[key], include=["metadatas"])["metadatas"]
        return str(found[0]["value"]) if found else None

    def metadata(self) -> dict[str, str]:
        """See ``StoreBackend``."""
        return {key: str(row["value"]) for key, row in self._pages(self._marks)}

    def set_metadata(self, key: str, value: str) -> None:
        """See ``StoreBackend``."""
        with self._named():
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
        with self._named():
            for places in batches(range(len(ids)), _WRITE_SIZE):
                some = slice(places[0], places[-1] + 1)
                if vectors is None:
                    self._papers.update(ids=ids[some], metadatas=rows[some])
                else:
                    self._papers.upsert(ids=ids[some], metadatas=rows[some], embeddings=vectors[some])
        known = [paper.id for paper in papers if paper.references is not None]
        self._forget_told(known)

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """See ``StoreBackend``."""
        rows = {_SEPARATOR.join(pair): {"citing": pair[0], "cited": pair[1]} for pair in pairs}
        with self._named():
            for ids in batches(list(rows), _WRITE_SIZE):
                self._citations.upsert(
                    ids=list(ids),
                    embeddings=_placeholder_vectors(ids),
                    metadatas=[rows[one] for one in ids],
                )

    def reported_citations(self) -> list[tuple[str, str]]:
        """See ``StoreBackend``."""
        pages = self._pages(self._citations)
        return sorted((str(row["citing"]), str(row["cited"])) for _, row in pages)

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """See ``StoreBackend``."""
        return {paper_id: self._parsed(paper_id, row) for paper_id, row in self._rows_of(ids)}

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """See ``StoreBackend``."""
        return {paper_id: str(row["hash"]) for paper_id, row in self._rows_of(ids)}

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """See ``StoreBackend``."""
        import numpy as np

        found: dict[str, NDArray[np.float32]] = {}
        with self._named():
            for some in batches(ids, _PAGE_SIZE):
                got = self._papers.get(ids=list(some), include=["embeddings"])
                found.update(zip(got["ids"], np.asarray(got["embeddings"], dtype=np.float32), strict=True))
        return found

    def ids(self) -> set[str]:
        """See ``StoreBackend``."""
        return {paper_id for paper_id, _ in self._pages(self._papers, with_rows=False)}

    def identities(self) -> Iterator[PaperIdentity]:
        """See ``StoreBackend``."""
        papers = sorted((self._parsed(*row) for row in self._pages(self._papers)), key=lambda paper: paper.id)
        return (PaperIdentity(one.id, one.title, one.date, one.arxiv_id, one.doi) for one in papers)

    def cited_by(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        own = [cited for _, row in self._rows_of([paper_id]) for cited in row.get("cites") or ()]
        told = [str(row["cited"]) for row in self._told({"citing": paper_id})]
        return list(dict.fromkeys([*own, *sorted(told)]))

    def citing(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        where: Any = {"cites": {"$contains": paper_id}}
        with self._named():
            got = self._papers.get(where=where, include=["metadatas"])
        rows = dict(zip(got["ids"], got["metadatas"] or [], strict=True))
        told = [str(row["citing"]) for row in self._told({"cited": paper_id})]
        rows |= dict(self._rows_of([one for one in told if one not in rows]))
        dates = {one: row.get("date") for one, row in rows.items()}
        return sorted(rows, key=lambda one: (dates[one] is None, dates[one] or "", one))

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """See ``StoreBackend``. The server's index finds who is near; dates are exact.

        The server's own filter is slow, so it is asked only when too few of the nearest are old enough.
        """
        if before is None:
            return self._asked(query, k + _EXTRA_NEIGHBORS, None, None)[:k]
        day = day_number(before)
        found = self._asked(query, _DATE_OVERSAMPLING * k, None, day)
        if len(found) < k + _EXTRA_NEIGHBORS:
            found = self._asked(query, k + _EXTRA_NEIGHBORS, {"day": {"$lt": day}}, day)
        return found[:k]

    def _asked(
        self, query: NDArray[np.float64], wanted: int, where: Any, day: int | None
    ) -> list[tuple[str, float]]:
        """The nearest by the index, those of them that are older than a day, in exact order."""
        import numpy as np

        include: Any = ["embeddings"] if day is None else ["embeddings", "metadatas"]
        asked = np.asarray([query], dtype=np.float32)
        with self._named():
            got = self._papers.query(query_embeddings=asked, n_results=wanted, where=where, include=include)
        ids, vectors = got["ids"][0], (got["embeddings"] or [[]])[0]
        rows: Sequence[Mapping[str, Any]] = (
            got["metadatas"][0] if day and got["metadatas"] else [{}] * len(ids)
        )
        old = [n for n, row in enumerate(rows) if day is None or (row.get("day") or day) < day]
        return rank([ids[n] for n in old], np.asarray([vectors[n] for n in old], dtype=np.float32), query)

    def count(self) -> int:
        """See ``StoreBackend``."""
        with self._named():
            return int(self._papers.count())

    def stats(self) -> BackendStats:
        """See ``StoreBackend``; reads all records but their vectors."""
        rows = dict(self._pages(self._papers))
        edges = {(one, cited) for one, row in rows.items() for cited in row.get("cites") or ()}
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
        """The collection of a name, made unless it is there; what is there keeps its own metadata."""
        from chromadb.errors import NotFoundError

        space: Any = {"hnsw": {"space": "cosine"}}
        with self._named():
            try:
                return self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return self._client.get_or_create_collection(
                    name, configuration=space, metadata=metadata, embedding_function=None
                )

    def _check(self) -> None:
        """Have all collections, of this version and embedder."""
        _ = (self._papers, self._citations, self._marks)
        told = self.manifest()
        if told["version"] != STORE_VERSION:
            raise LibraryError(
                f"the store on {self.location} has version {told['version']}, this program reads "
                f"{STORE_VERSION}. Use the ideagora that made it, or set IDEAGORA_STORE to another place."
            )
        if told["embedder"] != self._embedder.name:
            raise LibraryError(
                f"the store on {self.location} was made with the embedder {told['embedder']}, not "
                f"{self._embedder.name}. Set IDEAGORA_EMBEDDER to that one, or embed its papers anew: "
                f"ideagora library migrate OTHER --from {self.location}"
            )

    # --- rows -------------------------------------------------------------------------------------

    def _rows_of(self, ids: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for some in batches(list(dict.fromkeys(ids)), _PAGE_SIZE):
            with self._named():
                got = self._papers.get(ids=list(some), include=["metadatas"])
            yield from zip(got["ids"], got["metadatas"] or [], strict=True)

    def _pages(
        self, collection: Collection, *, with_rows: bool = True
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every id and its metadata; a page that another user's writing shifts may tell one twice."""
        offset = 0
        while True:
            with self._named():
                include: Any = ["metadatas"] if with_rows else []
                got = collection.get(include=include, limit=_PAGE_SIZE, offset=offset)
            rows: Sequence[Mapping[str, Any]] = (got["metadatas"] if with_rows else None) or []
            yield from zip(got["ids"], rows or [{}] * len(got["ids"]), strict=True)
            if len(got["ids"]) < _PAGE_SIZE:
                return
            offset += _PAGE_SIZE

    def _told(self, where: dict[str, Any]) -> list[Mapping[str, Any]]:
        with self._named():
            return list(self._citations.get(where=where, include=["metadatas"])["metadatas"] or [])

    def _forget_told(self, ids: Sequence[str]) -> None:
        """Papers whose own list of references is known need no others to tell."""
        with self._named():
            if ids and self._citations.count():
                for some in batches(ids, _PAGE_SIZE):
                    where: Any = {"citing": {"$in": list(some)}}
                    self._citations.delete(where=where)

    def _parsed(self, paper_id: str, row: Mapping[str, Any]) -> Paper:
        try:
            return Paper.model_validate_json(str(row.get("record")))
        except ValidationError as error:
            raise StoreCorrupted(
                f"the record of {paper_id} in the store on {self.location} is damaged "
                f"({error.errors()[0]['msg']}). Add the paper again, or delete it on the server."
            ) from error

    def _named(self) -> AbstractContextManager[None]:
        return translate_server_errors(self.location)


def stored_embedder(url: str) -> str:
    """The embedder that the store of a server was made with.

    Raises:
        LibraryError: the server does not answer, or has no store.
    """
    from chromadb.errors import NotFoundError

    client = connect(url)
    try:
        with translate_server_errors(url):
            try:
                collection = client.get_collection(PAPERS, embedding_function=None)
            except NotFoundError:
                raise LibraryError(
                    f"there is no store of ideagora on {url}. Look at host and port."
                ) from None
        return str((collection.metadata or {}).get(_EMBEDDER))
    finally:
        disconnect(client)


def _metadata(paper: Paper, content_hash: str) -> dict[str, Any]:
    """A paper as a row; ``None`` clears what was there."""
    return {
        "record": paper.model_dump_json(),
        "hash": content_hash,
        "source": paper.source,
        "date": paper.date,
        "day": day_number(last_day(paper.date)) if paper.date else None,
        "cites": list(paper.references) if paper.references else None,
    }


def _placeholder_vectors(keys: Sequence[str]) -> NDArray[np.float32]:
    """Vectors for rows that nobody searches, since Chroma wants some; spread, which its index likes."""
    import numpy as np

    angles = [2 * np.pi * zlib.crc32(key.encode("utf-8", "surrogatepass")) / 2**32 for key in keys]
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
