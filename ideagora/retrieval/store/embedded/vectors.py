"""The vectors of a folder's papers: in a flat file, and in Chroma's index, which is made from it.

The file is written before the records, and a vector without a record is ignored. While Chroma's files
change, the manifest says so (``vectors`` = "open"). A process that gets the write lock and finds this
state knows that a writer died, and rebuilds Chroma's folder from the rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.embedded.chroma_index import ChromaIndex
from ideagora.retrieval.store.embedded.exact_search import Snapshot, rank
from ideagora.retrieval.store.embedded.locking import FolderLock
from ideagora.retrieval.store.embedded.sqlite_records import RECORDS_FILE, SqliteRecords
from ideagora.retrieval.store.embedded.vector_file import VectorFile, VectorFileInfo, file_name
from ideagora.retrieval.store.errors import corrupted_error
from ideagora.retrieval.store.hashing import batches, paper_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_MAX_INDEXED = 100
"""Largest k for the index; beyond it, the index is neither fast nor complete."""
_REBUILD_BATCH = 1_000
_EXTRA_NEIGHBORS = 8
"""Neighbors requested beyond k, because they are re-ranked by exact similarity."""
_CHROMA_STATE, _OPEN = "vectors", "open"
"""Manifest key for the state of Chroma's folder: its fingerprint, or ``_OPEN`` while it changes."""
_VECTOR_FILE = "rows"


class EmbeddedVectors:
    """The vectors in one folder.

    Args:
        records: of the same folder; its manifest holds the state of the vectors.
        lock: the folder's lock.
        exact_below: number of papers from which searches use Chroma's index; ``None``: no index is kept.
    """

    def __init__(
        self,
        folder: Path,
        embedder: Embedder,
        records: SqliteRecords,
        lock: FolderLock,
        exact_below: int | None,
    ) -> None:
        self._folder = folder
        self._embedder = embedder
        self._records = records
        self._lock = lock
        lock.before_release = self._end_writing
        self._exact_below = exact_below
        self._index = ChromaIndex(folder)
        self._file = VectorFile(folder)
        self._snapshot: Snapshot | None = None
        self._cached_count = (-1, 0)
        self._is_marked_open = False
        self._may_be_damaged = False

    def create(self) -> dict[str, str]:
        """Create the index of a new store; returns what the manifest says of the vectors.

        Raises:
            StoreCorrupted: there are vectors already.
        """
        if self._index.create():
            raise corrupted_error(self._folder, f"there are vectors, but {RECORDS_FILE} is missing or empty")
        return {_CHROMA_STATE: self._index.fingerprint(), _VECTOR_FILE: str(VectorFileInfo(file_name(1)))}

    def write_file(self, manifest: Mapping[str, str]) -> None:
        """Write the file of vectors of a store that has none, and entries of the manifest."""
        self._rebuild_rows(file_name(1), manifest)

    def add(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> tuple[range, dict[str, str]]:
        """Write vectors; returns their places in the file and the manifest's entry, for the records.

        Requires the write lock.
        """
        before = self._require_rows()
        after = self._file.append(before, vectors)
        if self._exact_below is not None:
            self._mark_chroma_open()
            with self._chroma_write():
                self._index.upsert(ids, vectors)
        return range(before.count, after.count), {_VECTOR_FILE: str(after)}

    def get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors by id; empty if the file of vectors is missing."""
        info = self._file_info()
        if not self._file.exists(info):
            return {}
        matrix = self._file.matrix(info)
        return {paper_id: matrix[place] for paper_id, place in self._records.places(ids).items()}

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """See ``StoreBackend``. Exact, unless the store is large and there is no date limit."""
        if (
            self._exact_below is not None
            and before is None
            and k <= _MAX_INDEXED
            and self._count_once() >= self._exact_below
        ):
            return self._search_index(query, k)
        return self._current_snapshot().nearest(query, k, before)

    def close(self) -> None:
        """Close files."""
        self._index.close()

    def _count_once(self) -> int:
        """Number of papers, counted once per generation."""
        generation = self._records.generation()
        if self._cached_count[0] != generation:
            self._cached_count = (generation, self._records.count())
        return self._cached_count[1]

    # --- file of vectors --------------------------------------------------------------------------

    def _file_info(self) -> VectorFileInfo:
        return VectorFileInfo.read(self._records.manifest()[_VECTOR_FILE])

    def _require_rows(self) -> VectorFileInfo:
        """The file of vectors, rebuilt if it is missing; requires the write lock."""
        info = self._file_info()
        if not self._file.exists(info):
            logger.warning("rebuilding the file of vectors of the store in %s", self._folder)
            self._rebuild_rows(info.next_file(), {})
        return self._file_info()

    def _rebuild_rows(self, file: str, manifest: Mapping[str, str]) -> None:
        """Write a new file of vectors and switch to it."""
        ids: list[str] = []

        def pages() -> Iterator[NDArray[np.float32]]:
            for page_ids, vectors in self._all_vectors():
                ids.extend(page_ids)
                yield vectors

        info = self._file.fill(file, pages())
        self._records.set_places(list(zip(count(), ids)), {**manifest, _VECTOR_FILE: str(info)})
        self._file.remove_others(info)

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

    def _end_writing(self) -> None:
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
        logger.warning("rebuilding the vector index of the store in %s", self._folder)
        self._records.set_manifest(_CHROMA_STATE, _OPEN)
        self._index.remove()
        self._index.create()
        matrix = self._file.matrix(self._require_rows())
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
        with self._lock.exclusive():
            self._require_rows()
            self._mark_chroma_open()
            with self._chroma_write():
                self._index.keep_open(self._records.generation())
            return self._query_index(query, k)

    def _query_index(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        places = self._records.places(self._index.nearest(query, k + _EXTRA_NEIGHBORS))
        rows = self._file.matrix(self._file_info())[list(places.values())]
        return rank(list(places), rows, query)[:k]

    def _current_snapshot(self) -> Snapshot:
        """All papers of the current generation; takes no lock."""
        snapshot = self._snapshot
        while snapshot is None or snapshot.generation != self._records.generation():
            manifest, placed = self._records.read_placements()
            try:
                rows = self._file.matrix(VectorFileInfo.read(manifest[_VECTOR_FILE]))
            except FileNotFoundError:  # replaced by another process, or lost
                with self._lock.exclusive():
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
