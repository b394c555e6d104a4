"""The interface of a store's backend: a local folder or a Chroma server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STORE_VERSION = "2"
"""Version of the layout in folders and on servers. 1: vectors in Chroma only. 2: also in a flat file."""
StoreKind = Literal["embedded", "server"]


class BackendStats(NamedTuple):
    """Counts and dates of the papers in a backend."""

    papers: int
    citations: int
    """Citations between papers that are both in the store."""
    oldest: str | None
    newest: str | None
    sources: dict[str, int]
    """Number of papers per source."""
    size_bytes: int | None
    """``None``: unknown, as on a server."""


class StoreBackend(Protocol):
    """Papers with vectors, citation edges and metadata. Safe for threads and processes.

    Methods raise ``StoreCorrupted``, ``StoreBusy``, ``StoreDown`` or ``FolderUnusable`` with a next step.
    """

    kind: StoreKind
    location: str
    """Folder or URL, for the user."""

    def close(self) -> None:
        """Close files and connections, and release locks."""
        ...

    def write_lock(self) -> AbstractContextManager[None]:
        """Hold the write lock of this machine; reentrant."""
        ...

    def read_lock(self) -> AbstractContextManager[None]:
        """Hold a read lock of this machine: others may read, but not write."""
        ...

    def manifest(self) -> dict[str, str]:
        """Settings of the store, at least ``version`` and ``embedder``."""
        ...

    def get_metadata(self, key: str) -> str | None:
        """The value of a key; ``None`` if it was never set."""
        ...

    def metadata(self) -> dict[str, str]:
        """All keys and values written by ``set_metadata``."""
        ...

    def set_metadata(self, key: str, value: str) -> None:
        """Set the value of a key."""
        ...

    def generation(self) -> int:
        """A number that changes whenever the set of papers changes."""
        ...

    def put(
        self, papers: Sequence[Paper], hashes: Mapping[str, str], vectors: NDArray[np.float32] | None
    ) -> None:
        """Write records, replacing those of the same ids.

        Args:
            papers: each id once.
            hashes: content hash by id.
            vectors: of unit length, shape (len(papers), dimension); ``None``: keep the stored vectors.
        """
        ...

    def put_without_vectors(self, papers: Sequence[Paper], hashes: Mapping[str, str]) -> bool:
        """Write records whose vectors are written later; the old vectors of changed ones are dropped.

        Returns:
            Whether the backend can do this; if not, nothing is written.
        """
        ...

    def ids_without_vector(self) -> list[str]:
        """Ids of the papers that are not found by ``nearest`` until their vectors are written."""
        ...

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write edges (citing, cited) that do not come from the citing paper's own reference list."""
        ...

    def reported_citations(self) -> list[tuple[str, str]]:
        """The edges written by ``add_citations``, sorted."""
        ...

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Records by id; ids that are not stored are left out."""
        ...

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """Content hashes by id; ids that are not stored are left out."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors by id, as far as they can be read without a repair."""
        ...

    def ids(self) -> set[str]:
        """Ids of all papers."""
        ...

    def identities(self) -> Iterator[PaperIdentity]:
        """The identity of every paper, ordered by id."""
        ...

    def reference_ids(self, paper_id: str) -> list[str]:
        """Ids of the papers that a paper cites, in the order of its references."""
        ...

    def citation_ids(self, paper_id: str) -> list[str]:
        """Ids of the papers that cite a paper, oldest first, undated ones last."""
        ...

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """Up to k ids with their cosine similarity, rounded to 4 decimals; best first, ties by id.

        Args:
            before: YYYY-MM-DD; only papers whose latest possible date is earlier.
        """
        ...

    def count(self) -> int:
        """Number of papers."""
        ...

    def stats(self) -> BackendStats:
        """Counts for the user; may read every record."""
        ...


def folder_size(folder: Path) -> int:
    """Total size of all files below a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
