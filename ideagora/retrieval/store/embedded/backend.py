"""Papers in one folder: records in SQLite, vectors in Chroma's embedded database and as rows of a file.

    <folder>/records.sqlite   records, citation edges, manifest (version, embedder, generation, marks)
    <folder>/chroma/          vectors, with Chroma's index over them
    <folder>/vectors.N.f32    the same vectors as rows, for exact searches
    <folder>/store.lock       held alone by who writes

Killing a writer at any moment loses at most the batch it was at: rows and Chroma's vectors are written
before the records, and one without a record is one that nobody asks for. The manifest says while
Chroma is worked on (``vectors`` = "open"): who finds that, with the folder held alone, knows that a
process died over it, and makes Chroma's folder anew from the rows.
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
"""Papers up to which a search compares with every vector: below it that is faster than the index."""
_UPGRADABLE = ("1",)
"""Versions that are brought up to date in place."""
_MAX_INDEXED = 100
"""Neighbours up to which the index is asked; for more of them it is neither quick nor complete."""
_REBUILD_BATCH = 1_000
_EXTRA_NEIGHBORS = 8
"""Neighbours asked of the index beyond the k, since their order is settled by exact similarity."""
_VECTORS, _OPEN = "vectors", "open"
"""Line of the manifest on the state of Chroma's folder, and what it says while that is worked on."""
_ROWS = "rows"
_MARK = "mark:"


class EmbeddedBackend:
    """See ``StoreBackend``; one writer at a time, by a lock that a crash releases."""

    kind: StoreKind = "embedded"

    def __init__(
        self, folder: Path, embedder: Embedder, lock: FolderLock, exact_below: int, *, has_index: bool = True
    ) -> None:
        """``has_index``: whether Chroma has the vectors too; without it every search is exact."""
        self.folder = folder
        self._has_index = has_index
        self.location = str(folder)
        self._embedder = embedder
        self._lock = lock
        self._exact_below = exact_below
        self._records = SqliteRecords(folder)
        self._vectors = ChromaIndex(folder)
        self._rows = VectorFile(folder)
        self._snapshot: Snapshot | None = None
        self._counted = (-1, 0)
        self._holds = 0
        self._is_begun = False
        self._is_doubtful = False

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
        """Open a folder, or make an empty one; an older version is brought up to date. See ``Store.open``."""
        with translate_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            require_store_folder(folder)
            lock = FolderLock(folder, timeout, on_wait)
            backend = cls(folder, embedder, lock, exact_below, has_index=has_index)
            try:
                backend._make_or_check(on_wait or (lambda text: None))
            except BaseException:
                backend.close()
                raise
        return backend

    def close(self) -> None:
        """Close files and release locks."""
        self._vectors.close()
        self._records.close()
        self._lock.close()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Hold the folder alone. Chroma stays open between the writes within, which makes many quick."""
        with self._lock.exclusive():
            self._holds += 1
            try:
                yield
            finally:
                self._holds -= 1
                if self._holds == 0:
                    self._settle()

    def read_lock(self) -> AbstractContextManager[None]:
        """Hold the folder with other readers."""
        return self._lock.shared()

    def manifest(self) -> dict[str, str]:
        """Everything in the manifest."""
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
        """Counts the changes by any process."""
        return self._records.generation()

    def put(
        self, papers: Sequence[Paper], hashes: Mapping[str, str], vectors: NDArray[np.float32] | None
    ) -> None:
        """See ``StoreBackend``; in one transaction, once the vectors are there."""
        with self.write_lock():
            if vectors is None:
                self._records.save(papers, hashes, None)
                return
            before = self._whole_rows()
            after = self._rows.append(before, vectors)
            if self._has_index:
                self._begin()
                with self._changing():
                    self._vectors.upsert([paper.id for paper in papers], vectors)
            places = range(before.count, after.count)
            self._records.save(papers, hashes, places, {_ROWS: str(after)})

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
        """See ``StoreBackend``; reads the rows, and writes nothing."""
        note = self._note()
        if not self._rows.exists(note):
            return {}
        matrix = self._rows.matrix(note)
        return {paper_id: matrix[place] for paper_id, place in self._records.places(ids).items()}

    def ids(self) -> set[str]:
        """See ``StoreBackend``."""
        return self._records.ids()

    def identities(self) -> Iterator[PaperIdentity]:
        """See ``StoreBackend``."""
        return self._records.identities()

    def cited_by(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        return self._records.cited_by(paper_id)

    def citing(self, paper_id: str) -> list[str]:
        """See ``StoreBackend``."""
        return self._records.citing(paper_id)

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
        """See ``StoreBackend``. Exact, except that Chroma finds papers without a date in large stores."""
        if (
            self._has_index
            and before is None
            and k <= _MAX_INDEXED
            and self._known_count() >= self._exact_below
        ):
            return self._indexed(query, k)
        return self._current_snapshot().nearest(query, k, before)

    def _known_count(self) -> int:
        """Number of papers, counted once in a generation."""
        generation = self.generation()
        if self._counted[0] != generation:
            self._counted = (generation, self.count())
        return self._counted[1]

    # --- opening ----------------------------------------------------------------------------------

    def _make_or_check(self, say: Callable[[str], None]) -> None:
        if not self._records.exists():
            with self.write_lock():
                if not self._records.exists():  # nobody made it while we waited
                    self._make()
        manifest = self._records.manifest()
        self._check_embedder(manifest.get("embedder"))
        if manifest.get("version") in _UPGRADABLE:
            with self.write_lock():
                self._upgrade(say)
        version = self._records.manifest().get("version")
        if version != STORE_VERSION:
            raise LibraryError(unsupported_version(self.folder, version))

    def _make(self) -> None:
        if self._vectors.create():
            raise corrupted_error(self.folder, f"there are vectors, but {RECORDS_FILE} is missing or empty")
        manifest = {"version": STORE_VERSION, "embedder": self._embedder.name}
        state = {_VECTORS: self._vectors.fingerprint(), _ROWS: str(VectorFileInfo(file_name(1)))}
        self._records.create({**manifest, **state})

    def _check_embedder(self, embedder: str | None) -> None:
        if embedder != self._embedder.name:
            raise LibraryError(
                f"the store in {self.folder} was made with the embedder {embedder}, "
                f"not {self._embedder.name}. Set IDEAGORA_EMBEDDER back, set IDEAGORA_STORE to another "
                f"folder, or embed its papers anew: ideagora library migrate OTHER --from {self.folder}"
            )

    def _upgrade(self, say: Callable[[str], None]) -> None:
        """Bring a folder of version 1 up to date: it gets rows, and all else stays as it is."""
        if self._records.manifest().get("version") in _UPGRADABLE:  # nobody did it while we waited
            say(f"bringing the store in {self.folder} up to version {STORE_VERSION}; this is done once")
            self._make_rows(file_name(1), {"version": STORE_VERSION})

    # --- rows -------------------------------------------------------------------------------------

    def _note(self) -> VectorFileInfo:
        return VectorFileInfo.read(self._records.manifest()[_ROWS])

    def _whole_rows(self) -> VectorFileInfo:
        """The rows as they are, or made anew where the file is gone; with the folder held alone."""
        note = self._note()
        if not self._rows.exists(note):
            logger.warning("the rows of the store in %s are made anew", self.folder)
            self._make_rows(note.next_file(), {})
        return self._note()

    def _make_rows(self, file: str, manifest: Mapping[str, str]) -> None:
        """Write a new file of rows and change over to it."""
        ids: list[str] = []

        def told() -> Iterator[NDArray[np.float32]]:
            for some, vectors in self._all_vectors():
                ids.extend(some)
                yield vectors

        note = self._rows.fill(file, told())
        self._records.set_places(list(zip(count(), ids)), {**manifest, _ROWS: str(note)})
        self._rows.remove_others(note)

    def _all_vectors(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """The vectors of all papers, each once: Chroma's, and from the embedder what it does not have."""
        missing = self._records.ids()
        if self._is_chroma_whole():
            self._begin()
            for ids, vectors in self._vectors.pages():
                known = [n for n, paper_id in enumerate(ids) if paper_id in missing]
                missing.difference_update(ids)
                if known:
                    yield [ids[n] for n in known], vectors[known]
        for batch in batches(sorted(missing), _REBUILD_BATCH):
            papers = self._records.papers(batch)
            yield list(batch), self._embedder.encode([paper_text(papers[one]) for one in batch])

    # --- Chroma -----------------------------------------------------------------------------------

    def _is_chroma_whole(self) -> bool:
        return self._records.manifest().get(_VECTORS) != _OPEN and self._vectors.folder.exists()

    def _begin(self) -> None:
        """Have Chroma's folder whole and marked as worked on; with the folder held alone."""
        if self._is_begun:
            return
        self._vectors.close()
        if not self._is_chroma_whole():
            self._rebuild()
        elif self._records.manifest()[_VECTORS] != self._vectors.fingerprint():
            raise self._vectors.damaged("the files of the index are not as they were written")
        self._records.set_manifest(_VECTORS, _OPEN)
        self._is_begun, self._is_doubtful = True, False

    def _settle(self) -> None:
        """Close Chroma, unless it is kept for queries, and note how its files were left."""
        if self._is_begun:
            self._is_begun = False
            if not self._vectors.is_open_at(self._records.generation()):
                self._vectors.close()
            if not self._is_doubtful:
                self._records.set_manifest(_VECTORS, self._vectors.fingerprint())

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Chroma writes: who fails within leaves a folder that is made anew."""
        self._is_doubtful = True
        yield
        self._is_doubtful = False

    def _rebuild(self) -> None:
        """Make Chroma's folder anew from the rows."""
        logger.warning("the vectors of the store in %s are made anew from its rows", self.folder)
        self._records.set_manifest(_VECTORS, _OPEN)
        self._vectors.remove()
        self._vectors.create()
        matrix = self._rows.matrix(self._whole_rows())
        places = self._records.places(sorted(self._records.ids()))
        for batch in batches(list(places), _REBUILD_BATCH):
            self._vectors.upsert(batch, matrix[[places[paper_id] for paper_id in batch]])
        self._vectors.close()
        self._records.next_generation()  # whoever has the old files open must open the new ones

    def _indexed(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        """Ask Chroma's index, with a client that has seen the store as it is now."""
        with self._lock.shared():
            if self._vectors.is_open_at(self._records.generation()):
                return self._asked(query, k)
        with self.write_lock():
            self._whole_rows()
            self._begin()
            with self._changing():
                self._vectors.keep_open(self._records.generation())
            return self._asked(query, k)

    def _asked(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        places = self._records.places(self._vectors.nearest(query, k + _EXTRA_NEIGHBORS))
        rows = self._rows.matrix(self._note())[list(places.values())]
        return rank(list(places), rows, query)[:k]

    def _current_snapshot(self) -> Snapshot:
        """All papers as they are now. Readers take no lock for it."""
        snapshot = self._snapshot
        while snapshot is None or snapshot.generation != self._records.generation():
            manifest, placed = self._records.read_placements()
            try:
                rows = self._rows.matrix(VectorFileInfo.read(manifest[_ROWS]))
            except FileNotFoundError:  # made anew by another process, or gone
                with self.write_lock():
                    self._whole_rows()
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
