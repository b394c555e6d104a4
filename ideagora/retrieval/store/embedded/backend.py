"""Papers in one folder: records in SQLite, vectors in Chroma's embedded database and in a flat file.

    <folder>/records.sqlite   records, citation edges, manifest (version, embedder, generation, metadata)
    <folder>/chroma/          vectors, with Chroma's index
    <folder>/vectors.N.f32    the same vectors as rows, for exact searches
    <folder>/store.lock       the write lock

Killing a writer at any moment loses at most the current batch: vectors are written before the records
(see ``vectors.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ideagora.errors import LibraryError
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import STORE_VERSION, BackendStats, StoreKind, folder_size
from ideagora.retrieval.store.embedded.folder_ownership import require_store_folder, unsupported_version
from ideagora.retrieval.store.embedded.locking import FolderLock
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity, SqliteRecords
from ideagora.retrieval.store.embedded.vectors import EmbeddedVectors
from ideagora.retrieval.store.errors import translate_errors
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_BELOW = 20_000
"""Number of papers below which every search is exact, since that is faster than the index."""
_UPGRADABLE = ("1",)
"""Versions that are upgraded in place."""
_MARK = "mark:"


class EmbeddedBackend:
    """A folder; see ``StoreBackend``. There is one writer at a time; a crash releases its lock."""

    kind: StoreKind = "embedded"

    def __init__(self, folder: Path, embedder: Embedder, lock: FolderLock, exact_below: int | None) -> None:
        self.folder = folder
        self.location = str(folder)
        self._embedder = embedder
        self._lock = lock
        self._records = SqliteRecords(folder)
        self._vectors = EmbeddedVectors(folder, embedder, self._records, lock, exact_below)
        self._complete_at = -1

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        *,
        timeout: float = 60.0,
        on_wait: Callable[[str], None] | None = None,
        exact_below: int | None = EXACT_BELOW,
    ) -> Self:
        """Open a folder, creating or upgrading the store in it; see ``Store.open``.

        Args:
            exact_below: ``None``: Chroma's index is not kept, and every search is exact.
        """
        with translate_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            require_store_folder(folder)
            lock = FolderLock(folder, timeout, on_wait)
            backend = cls(folder, embedder, lock, exact_below)
            try:
                backend._create_or_check(on_wait or (lambda text: None))
            except BaseException:
                backend.close()
                raise
        return backend

    def close(self) -> None:
        """Close files and release locks."""
        self._vectors.close()
        self._records.close()
        self._lock.close()

    def write_lock(self) -> AbstractContextManager[None]:
        """Hold the folder's lock exclusively. Chroma stays open between writes, which makes many fast."""
        return self._lock.exclusive()

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
            places, manifest = self._vectors.add([paper.id for paper in papers], vectors)
            self._records.save(papers, hashes, places, manifest)

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
        return self._vectors.get(ids)

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
        return self._vectors.nearest(query, k, before)

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
        manifest = {"version": STORE_VERSION, "embedder": self._embedder.name}
        self._records.create({**manifest, **self._vectors.create()})

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
            self._vectors.write_file({"version": STORE_VERSION})
