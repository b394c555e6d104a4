"""Papers in one folder: records in SQLite, vectors in Chroma's embedded database and in a flat file.

    <folder>/records.sqlite   records, citation edges, manifest (version, embedder, generation, metadata)
    <folder>/chroma/          vectors, with Chroma's index
    <folder>/vectors.N.f32    the same vectors as rows, for exact searches
    <folder>/store.lock       the write lock

Killing a writer at any moment loses at most the current batch: vectors are written before the records,
and a vector without a record is ignored. While Chroma's files change, the manifest says so
(``vectors`` = "open"). A process that gets the write lock and finds this state knows that a writer
died, and rebuilds Chroma's folder from the rows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ideagora.errors import LibraryError
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import STORE_VERSION, BackendStats, StoreKind, folder_size
from ideagora.retrieval.store.embedded.chroma_index import ChromaIndex
from ideagora.retrieval.store.embedded.exact_search import Snapshot, rank
from ideagora.retrieval.store.embedded.folder_ownership import require_store_folder, unsupported_version
from ideagora.retrieval.store.embedded.locking import FolderLock
from ideagora.retrieval.store.embedded.sqlite_records import RECORDS_FILE, PaperIdentity, SqliteRecords
from ideagora.retrieval.store.embedded.vector_file import VectorFile, VectorFileInfo, file_name
from ideagora.retrieval.store.errors import corrupted_error, translate_errors
from ideagora.retrieval.store.hashing import batches, paper_text
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

EXACT_BELOW = 20_000
"""Number of papers below which every search is exact, since that is faster than the index."""
_UPGRADABLE = ("1",)
"""Versions that are upgraded in place."""
_MAX_INDEXED = 100
"""Largest k for the index; beyond it, the index is neither fast nor complete."""
_REBUILD_BATCH = 1_000
_EXTRA_NEIGHBORS = 8
"""Neighbors requested beyond k, because they are re-ranked by exact similarity."""
_CHROMA_STATE, _OPEN = "vectors", "open"
"""Manifest key for the state of Chroma's folder: its fingerprint, or ``_OPEN`` while it changes."""
_VECTOR_FILE = "rows"
_MARK = "mark:"


class EmbeddedBackend:
    """A folder; see ``StoreBackend``. There is one writer at a time; a crash releases its lock."""

    kind: StoreKind = "embedded"

    def __init__(
        self, folder: Path, embedder: Embedder, lock: FolderLock, exact_below: int, *, has_index: bool = True
    ) -> None:
        """``has_index``: whether to keep Chroma's index; without it, every search is exact."""
        self.folder = folder
        self._has_index = has_index
        self.location = str(folder)
        self._embedder = embedder
        self._lock = lock
        self._exact_below = exact_below
        self._records = SqliteRecords(folder)
        self._index = ChromaIndex(folder)
        self._vector_file = VectorFile(folder)
        self._snapshot: Snapshot | None = None
        self._cached_count = (-1, 0)
        self._complete_at = -1
        self._lock_depth = 0
        self._is_marked_open = False
        self._may_be_damaged = False

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        *,
        timeout: float = 60.0,
        on_wait: Callable[[str], None] | None = None,
        exact_below: int = EXACT_BELOW,
        has_index: bool = True,
    ) -> Self:
        """Open a folder, creating or upgrading the store in it; see ``Store.open``."""
        with translate_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            require_store_folder(folder)
            lock = FolderLock(folder, timeout, on_wait)
            backend = cls(folder, embedder, lock, exact_below, has_index=has_index)
            try:
                backend._create_or_check(on_wait or (lambda text: None))
            except BaseException:
                backend.close()
                raise
        return backend

    def close(self) -> None:
        """Close files and release locks."""
        self._index.close()
        self._records.close()
        self._lock.close()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Hold the folder's lock exclusively. Chroma stays open between writes, which makes many fast."""
        with self._lock.exclusive():
            self._lock_depth += 1
            try:
                yield
            finally:
                self._lock_depth -= 1
                if self._lock_depth == 0:
                    self._mark_chroma_closed()

    def read_lock(self) -> AbstractContextManager[None]:
        """Share the folder's lock with other readers."""
        return self._lock.shared()

    def manifest(self) -> dict[str, str]:
        """All keys and values of the manifest."""
        return self._records.manifest()

    def get_metadata(self, key: str) -> str | None:
        """See ``StoreBackend``."""
        return self.metadata().get(key)

    def metadata(self) -> dict[str, str]:
        """See ``StoreBackend``."""
        lines = self._records.manifest().items()
        return {key.removeprefix(_MARK): value for key, value in lines if key.startswith(_MARK)}

    def set_metadata(self, key: str, value: str) -> None:
        """See ``StoreBackend``."""
        self._records.set_manifest(f"{_MARK}{key}", value)

    def generation(self) -> int:
        """The number of changes by any process."""
        return self._records.generation()

    def put(
        self, papers: Sequence[Paper], hashes: Mapping[str, str], vectors: NDArray[np.float32] | None
    ) -> None:
        """See ``StoreBackend``. Vectors are written first, then the records in one transaction."""
        with self.write_lock():
            if vectors is None:
                self._records.save(papers, hashes, "keep")
                return
            before = self._require_rows()
            after = self._vector_file.append(before, vectors)
            if self._has_index:
                self._mark_chroma_open()
                with self._chroma_write():
                    self._index.upsert([paper.id for paper in papers], vectors)
            places = range(before.count, after.count)
            self._records.save(papers, hashes, places, {_VECTOR_FILE: str(after)})

    def put_without_vectors(self, papers: Sequence[Paper], hashes: Mapping[str, str]) -> bool:
        """See ``StoreBackend``."""
        if papers:
            with self.write_lock():
                self._records.save(papers, hashes, "none")
        return True

    def ids_without_vector(self) -> list[str]:
        """See ``StoreBackend``. Reads the records only if the generation has changed."""
        if self._complete_at == (generation := self.generation()):
            return []
        ids = self._records.ids_without_vector()
        if not ids:
            self._complete_at = generation
        return ids

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """See ``StoreBackend``."""
        with self.write_lock():
            self._records.add_citations(pairs)

    def reported_citations(self) -> list[tuple[str, str]]:
        """See ``StoreBackend``."""
        return self._records.reported_citations()

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """See ``StoreBackend``."""
        return self._records.papers(ids)

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """See ``StoreBackend``."""
        return self._records.content_hashes(ids)

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """See ``StoreBackend``. Empty if the file of vectors is missing."""
        info = self._file_info()
        if not self._vector_file.exists(info):
            return {}
        matrix = self._vector_file.matrix(info)
        return {paper_id: matrix[place] for paper_id, place in self._records.places(ids).items()}

    def ids(self) -> set[str]:
        """See ``StoreBackend``."""
        return self._records.ids()

    def identities(self) -> Iterator[PaperIdentity]:
        """See ``StoreBackend``."""
        return self._records.identities()

    def reference_ids(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        return self._records.reference_ids(paper_id)

    def citation_ids(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        return self._records.citation_ids(paper_id)

    def count(self) -> int:
        """See ``StoreBackend``."""
        return self._records.count()

    def stats(self) -> BackendStats:
        """See ``StoreBackend``."""
        oldest, newest = self._records.dates()
        return BackendStats(
            papers=self.count(),
            citations=self._records.count_citations(),
            oldest=oldest,
            newest=newest,
            sources=self._records.by_source(),
            size_bytes=folder_size(self.folder),
        )

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """See ``StoreBackend``. Exact, unless the store is large and there is no date limit."""
        if (
            self._has_index
            and before is None
            and k <= _MAX_INDEXED
            and self._count_once() >= self._exact_below
        ):
            return self._search_index(query, k)
        return self._current_snapshot().nearest(query, k, before)

    def _count_once(self) -> int:
        """Number of papers, counted once per generation."""
        generation = self.generation()
        if self._cached_count[0] != generation:
            self._cached_count = (generation, self.count())
        return self._cached_count[1]

    # --- opening ----------------------------------------------------------------------------------

    def _create_or_check(self, on_wait: Callable[[str], None]) -> None:
        if not self._records.exists():
            with self.write_lock():
                if not self._records.exists():  # another process may have created it meanwhile
                    self._create()
        manifest = self._records.manifest()
        self._check_embedder(manifest.get("embedder"))
        if manifest.get("version") in _UPGRADABLE:
            with self.write_lock():
                self._upgrade(on_wait)
        version = self._records.manifest().get("version")
        if version != STORE_VERSION:
            raise LibraryError(unsupported_version(self.folder, version))

    def _create(self) -> None:
        if self._index.create():
            raise corrupted_error(self.folder, f"there are vectors, but {RECORDS_FILE} is missing or empty")
        manifest = {"version": STORE_VERSION, "embedder": self._embedder.name}
        state = {_CHROMA_STATE: self._index.fingerprint(), _VECTOR_FILE: str(VectorFileInfo(file_name(1)))}
        self._records.create({**manifest, **state})

    def _check_embedder(self, embedder: str | None) -> None:
        if embedder != self._embedder.name:
            raise LibraryError(
                f"the store in {self.folder} was made with the embedder {embedder}, "
                f"not {self._embedder.name}. Set IDEAGORA_EMBEDDER back, set IDEAGORA_STORE to another "
                f"folder, or embed its papers again: ideagora library migrate OTHER --from {self.folder}"
            )

    def _upgrade(self, on_wait: Callable[[str], None]) -> None:
        """Upgrade a folder of version 1 by writing the file of vectors."""
        if self._records.manifest().get("version") in _UPGRADABLE:  # or another process did it meanwhile
            on_wait(f"upgrading the store in {self.folder} to version {STORE_VERSION}; this is done once")
            self._rebuild_rows(file_name(1), {"version": STORE_VERSION})

    # --- file of vectors --------------------------------------------------------------------------

    def _file_info(self) -> VectorFileInfo:
        return VectorFileInfo.read(self._records.manifest()[_VECTOR_FILE])

    def _require_rows(self) -> VectorFileInfo:
        """The file of vectors, rebuilt if it is missing; requires the write lock."""
        info = self._file_info()
        if not self._vector_file.exists(info):
            logger.warning("rebuilding the file of vectors of the store in %s", self.folder)
            self._rebuild_rows(info.next_file(), {})
        return self._file_info()

    def _rebuild_rows(self, file: str, manifest: Mapping[str, str]) -> None:
        """Write a new file of vectors and switch to it."""
        ids: list[str] = []

        def pages() -> Iterator[NDArray[np.float32]]:
            for page_ids, vectors in self._all_vectors():
                ids.extend(page_ids)
                yield vectors

        info = self._vector_file.fill(file, pages())
        self._records.set_places(list(zip(count(), ids)), {**manifest, _VECTOR_FILE: str(info)})
        self._vector_file.remove_others(info)

    def _all_vectors(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """The vectors that have been computed, each once: from Chroma, else from the embedder."""
        missing = self._records.ids() - set(self._records.ids_without_vector())
        if self._is_chroma_intact():
            self._mark_chroma_open()
            for ids, vectors in self._index.pages():
                known = [n for n, paper_id in enumerate(ids) if paper_id in missing]
                missing.difference_update(ids)
                if known:
                    yield [ids[n] for n in known], vectors[known]
        for batch in batches(sorted(missing), _REBUILD_BATCH):
            papers = self._records.papers(batch)
            yield list(batch), self._embedder.encode([paper_text(papers[paper_id]) for paper_id in batch])

    # --- Chroma -----------------------------------------------------------------------------------

    def _is_chroma_intact(self) -> bool:
        return self._records.manifest().get(_CHROMA_STATE) != _OPEN and self._index.folder.exists()

    def _mark_chroma_open(self) -> None:
        """Repair Chroma's folder if necessary and mark it as open; requires the write lock."""
        if self._is_marked_open:
            return
        self._index.close()
        if not self._is_chroma_intact():
            self._rebuild()
        elif self._records.manifest()[_CHROMA_STATE] != self._index.fingerprint():
            raise self._index.damaged("the files of the index are not as they were written")
        self._records.set_manifest(_CHROMA_STATE, _OPEN)
        self._is_marked_open, self._may_be_damaged = True, False

    def _mark_chroma_closed(self) -> None:
        """Close Chroma unless it stays open for queries, and record the fingerprint of its files."""
        if self._is_marked_open:
            self._is_marked_open = False
            if not self._index.is_open_at(self._records.generation()):
                self._index.close()
            if not self._may_be_damaged:
                self._records.set_manifest(_CHROMA_STATE, self._index.fingerprint())

    @contextmanager
    def _chroma_write(self) -> Iterator[None]:
        """Wrap a call that writes Chroma's files: if it fails, the folder stays marked as open."""
        self._may_be_damaged = True
        yield
        self._may_be_damaged = False

    def _rebuild(self) -> None:
        """Rebuild Chroma's folder from the file of vectors."""
        logger.warning("rebuilding the vector index of the store in %s", self.folder)
        self._records.set_manifest(_CHROMA_STATE, _OPEN)
        self._index.remove()
        self._index.create()
        matrix = self._vector_file.matrix(self._require_rows())
        places = self._records.places(sorted(self._records.ids()))
        for batch in batches(list(places), _REBUILD_BATCH):
            self._index.upsert(batch, matrix[[places[paper_id] for paper_id in batch]])
        self._index.close()
        self._records.next_generation()  # clients of the old files must reopen

    def _search_index(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        """Query Chroma's index with a client opened at the current generation."""
        with self._lock.shared():
            if self._index.is_open_at(self._records.generation()):
                return self._query_index(query, k)
        with self.write_lock():
            self._require_rows()
            self._mark_chroma_open()
            with self._chroma_write():
                self._index.keep_open(self._records.generation())
            return self._query_index(query, k)

    def _query_index(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        places = self._records.places(self._index.nearest(query, k + _EXTRA_NEIGHBORS))
        rows = self._vector_file.matrix(self._file_info())[list(places.values())]
        return rank(list(places), rows, query)[:k]

    def _current_snapshot(self) -> Snapshot:
        """All papers of the current generation; takes no lock."""
        snapshot = self._snapshot
        while snapshot is None or snapshot.generation != self._records.generation():
            manifest, placed = self._records.read_placements()
            try:
                rows = self._vector_file.matrix(VectorFileInfo.read(manifest[_VECTOR_FILE]))
            except FileNotFoundError:  # replaced by another process, or lost
                with self.write_lock():
                    self._require_rows()
                continue
            snapshot = self._snapshot = _snapshot(int(manifest["generation"]), placed, rows)
        return snapshot


def _snapshot(
    generation: int, placed: Sequence[tuple[str, int, str | None]], rows: NDArray[np.float32]
) -> Snapshot:
    import numpy as np

    places = np.array([place for _, place, _ in placed], dtype=np.int64)
    ids, dates = [paper_id for paper_id, _, _ in placed], [date for _, _, date in placed]
    return Snapshot(generation, ids, places, dates, rows)
