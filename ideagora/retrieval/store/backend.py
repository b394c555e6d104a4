"""What a store needs of the place where its papers stand: a folder, or a server."""

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
"""Of the layout, in folders and on servers. 1: vectors in Chroma alone. 2: also in a file of rows."""
StoreKind = Literal["embedded", "server"]


class BackendStats(NamedTuple):
    """What a place holds, in numbers."""

    papers: int
    citations: int
    """Citations between papers that are both here."""
    oldest: str | None
    newest: str | None
    sources: dict[str, int]
    """Papers by where their record came from."""
    size_bytes: int | None
    """``None``: the place does not tell."""


class StoreBackend(Protocol):
    """Papers with vectors, citation edges and marks. Safe for threads; so is every process of its own.

    What goes wrong with the place is raised as a named error with a next step.
    """

    kind: StoreKind
    location: str
    """Folder or URL, for the user."""

    def close(self) -> None:
        """Let go of files, connections and locks."""
        ...

    def write_lock(self) -> AbstractContextManager[None]:
        """Keep others on this machine from writing; may be nested."""
        ...

    def read_lock(self) -> AbstractContextManager[None]:
        """Keep others on this machine from writing, and let them read."""
        ...

    def manifest(self) -> dict[str, str]:
        """At least ``version`` and ``embedder``."""
        ...

    def get_metadata(self, key: str) -> str | None:
        """A note that was left with ``set_metadata``."""
        ...

    def metadata(self) -> dict[str, str]:
        """All notes."""
        ...

    def set_metadata(self, key: str, value: str) -> None:
        """Leave a note."""
        ...

    def generation(self) -> int:
        """A number that is another one when the set of papers has changed."""
        ...

    def put(
        self, papers: Sequence[Paper], hashes: Mapping[str, str], vectors: NDArray[np.float32] | None
    ) -> None:
        """Write records, over those that are there; ``None``: their vectors are there already.

        Args:
            papers: each id once.
            hashes: of the embedded texts, by id.
            vectors: unit length, shape (len(papers), dimension).
        """
        ...

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write edges (citing, cited) that others than the citing paper told."""
        ...

    def reported_citations(self) -> list[tuple[str, str]]:
        """Those edges."""
        ...

    def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Records by id, of those that are here."""
        ...

    def content_hashes(self, ids: Sequence[str]) -> dict[str, str]:
        """Hashes of what was embedded, by id, of those papers that are here."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors by id, as far as they can be had without mending anything."""
        ...

    def ids(self) -> set[str]:
        """Ids of all papers."""
        ...

    def identities(self) -> Iterator[PaperIdentity]:
        """What each paper goes by."""
        ...

    def cited_by(self, paper_id: str) -> list[str]:
        """Ids that a paper cites, in the order of its references."""
        ...

    def citing(self, paper_id: str) -> list[str]:
        """Ids of the papers that cite one, oldest first; undated ones last."""
        ...

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """Up to k ids with their cosine similarity, rounded to 4 decimals; best first, ties by id.

        Args:
            before: YYYY-MM-DD: only papers that are surely older than this day.
        """
        ...

    def count(self) -> int:
        """Number of papers."""
        ...

    def stats(self) -> BackendStats:
        """Figures for the user; reads as much as it takes."""
        ...


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
