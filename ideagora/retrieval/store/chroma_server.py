"""Papers on a Chroma server shared by several users: vectors, records, citation edges, metadata.

    collection ideagora-papers      vectors, with the record and its searchable fields as metadata
    collection ideagora-citations   edges that do not come from the citing paper, one per row
    collection ideagora-marks       the store's metadata, one key per row

All users see what one user adds. Rows are written idempotently and the server serializes writers;
there is no lock between machines. Full texts and citation lists stay on the machine that fetched them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from ideagora.errors import LibraryError, StoreCorrupted
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import STORE_VERSION, BackendStats, StoreKind
from ideagora.retrieval.store.chroma_collection import ServerCollection
from ideagora.retrieval.store.chroma_connection import connect, disconnect, translate_server_errors
from ideagora.retrieval.store.embedded.exact_search import day_number, rank
from ideagora.retrieval.store.embedded.locking import FolderLock
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.schema import Paper, last_day

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAPERS, CITATIONS, MARKS = "ideagora-papers", "ideagora-citations", "ideagora-marks"
_VERSION, _EMBEDDER = "ideagora-version", "ideagora-embedder"
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
        settings = {_VERSION: STORE_VERSION, _EMBEDDER: embedder.name}
        self._papers = ServerCollection(self._client, url, PAPERS, settings)
        self._citations = ServerCollection(self._client, url, CITATIONS)
        self._marks = ServerCollection(self._client, url, MARKS)

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
        settings = self._papers.settings
        return {"version": str(settings.get(_VERSION)), "embedder": str(settings.get(_EMBEDDER))}

    def get_metadata(self, key: str) -> str | None:
        """See ``StoreBackend``."""
        return next((str(row["value"]) for _, row in self._marks.rows([key])), None)

    def metadata(self) -> dict[str, str]:
        """See ``StoreBackend``."""
        return {key: str(row["value"]) for key, row in self._marks.pages()}

    def set_metadata(self, key: str, value: str) -> None:
        """See ``StoreBackend``."""
        self._marks.upsert({key: {"value": value}})

    def generation(self) -> int:
        """The number of papers."""
        return self.count()

    def put(
        self, papers: Sequence[Paper], hashes: Mapping[str, str], vectors: NDArray[np.float32] | None
    ) -> None:
        """See ``StoreBackend``."""
        rows = {paper.id: _row(paper, hashes[paper.id]) for paper in papers}
        if vectors is None:
            self._papers.update(rows)
        else:
            self._papers.upsert(rows, vectors)
        # Reported edges are not needed where a paper's own reference list is known.
        self._citations.delete_where("citing", [paper.id for paper in papers if paper.references is not None])

    def put_without_vectors(self, papers: Sequence[Paper], hashes: Mapping[str, str]) -> bool:
        """See ``StoreBackend``. On a server, every row has a vector."""
        return False

    def ids_without_vector(self) -> list[str]:
        """See ``StoreBackend``."""
        return []

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """See ``StoreBackend``."""
        rows = {_SEPARATOR.join(pair): {"citing": pair[0], "cited": pair[1]} for pair in pairs}
        self._citations.upsert(rows)

    def reported_citations(self) -> list[tuple[str, str]]:
        """See ``StoreBackend``."""
        return sorted((str(row["citing"]), str(row["cited"])) for _, row in self._citations.pages())

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """See ``StoreBackend``."""
        return {paper_id: self._parse(paper_id, row) for paper_id, row in self._papers.rows(ids)}

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """See ``StoreBackend``."""
        return {paper_id: str(row["hash"]) for paper_id, row in self._papers.rows(ids)}

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """See ``StoreBackend``."""
        return self._papers.vectors(ids)

    def ids(self) -> set[str]:
        """See ``StoreBackend``."""
        return {paper_id for paper_id, _ in self._papers.pages(with_rows=False)}

    def identities(self) -> Iterator[PaperIdentity]:
        """See ``StoreBackend``."""
        papers = sorted((self._parse(*row) for row in self._papers.pages()), key=lambda paper: paper.id)
        return (PaperIdentity(p.id, p.title, p.date, p.arxiv_id, p.doi) for p in papers)

    def reference_ids(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        own = [cited for _, row in self._papers.rows([paper_id]) for cited in row.get("cites") or ()]
        reported = [str(row["cited"]) for _, row in self._citations.rows_where({"citing": paper_id})]
        return list(dict.fromkeys([*own, *sorted(reported)]))

    def citation_ids(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        rows = dict(self._papers.rows_where({"cites": {"$contains": paper_id}}))
        reported = [str(row["citing"]) for _, row in self._citations.rows_where({"cited": paper_id})]
        rows |= dict(self._papers.rows([citing for citing in reported if citing not in rows]))
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

        found = self._papers.query(query, wanted, where, with_rows=day is not None)
        old = [n for n, row in enumerate(found.rows) if day is None or (row.get("day") or day) < day]
        vectors = np.asarray([found.vectors[n] for n in old], dtype=np.float32)
        return rank([found.ids[n] for n in old], vectors, query)

    def count(self) -> int:
        """See ``StoreBackend``."""
        return self._papers.count()

    def stats(self) -> BackendStats:
        """See ``StoreBackend``; reads all records, without their vectors."""
        rows = dict(self._papers.pages())
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

    def _check(self) -> None:
        """Create the collections, and require this version and embedder."""
        for collection in (self._papers, self._citations, self._marks):
            collection.create()
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

    def _parse(self, paper_id: str, row: Mapping[str, Any]) -> Paper:
        try:
            return Paper.model_validate_json(str(row.get("record")))
        except ValidationError as error:
            raise StoreCorrupted(
                f"the record of {paper_id} in the store on {self.location} is damaged "
                f"({error.errors()[0]['msg']}). Add the paper again, or delete it on the server."
            ) from error


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


def _row(paper: Paper, content_hash: str) -> dict[str, Any]:
    """The row of a paper; ``None`` clears a field."""
    return {
        "record": paper.model_dump_json(),
        "hash": content_hash,
        "source": paper.source,
        "date": paper.date,
        "day": day_number(last_day(paper.date)) if paper.date else None,
        "cites": list(paper.references) if paper.references else None,
    }
