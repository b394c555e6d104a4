"""The store of papers: adding, vector search, references and citations.

A backend keeps the papers in a local folder (``embedded/``) or on a Chroma server that several users
share (``chroma_server.py``).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from ideagora.config import Settings
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.backend import STORE_VERSION, StoreBackend, StoreKind
from ideagora.retrieval.store.embedded.backend import EXACT_BELOW, EmbeddedBackend
from ideagora.retrieval.store.embedded.read_only_copy import copy_to_temp, is_read_only_store
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.retrieval.store.embedding import embed_and_write, embed_pending
from ideagora.retrieval.store.hashing import content_hash, content_hashes, paper_text
from ideagora.schema import Paper, Record, ScoredPaper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EXACT_BELOW", "STORE_VERSION", "AddResult", "Store", "StoreStats", "content_hash", "paper_text"]

ProgressCallback = Callable[[int, int], None]


class AddResult(NamedTuple):
    """Number of papers that ``Store.add`` added, updated and left as they were."""

    new: int
    changed: int
    unchanged: int


class StoreStats(Record):
    """Where a store is, how it was made, and counts of its papers."""

    kind: StoreKind
    folder: str
    """The folder, or the server's URL."""
    version: str
    embedder: str
    papers: int
    citations: int
    """Citations between papers that are both in the store."""
    oldest: str | None
    newest: str | None
    size_bytes: int | None
    """``None`` on a server."""
    sources: dict[str, int]
    """Number of papers per source."""


class Store:
    """A store of papers. Safe for threads and processes.

    Create one with ``open``, ``open_at`` or ``from_settings``.
    """

    def __init__(
        self, folder: Path, embedder: Embedder, backend: StoreBackend, *, copy_of: Path | None = None
    ) -> None:
        """Wrap a backend.

        Args:
            folder: holds this machine's own files (full texts, citation lists).
            copy_of: the read-only store of which ``folder`` is a temporary copy.
        """
        self.folder = folder
        self.copy_of = copy_of
        self.backend = backend
        self._embedder = embedder

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        *,
        timeout: float = 60.0,
        on_wait: Callable[[str], None] | None = None,
        exact_below: int = EXACT_BELOW,
        copy_if_read_only: bool = False,
    ) -> Self:
        """Open the store in a folder; create an empty one if there is none.

        Args:
            folder: the store's own folder.
            embedder: makes the vectors; a store belongs to one embedder.
            timeout: seconds to wait for another process that holds the lock.
            on_wait: called with a message for each process waited for, and before a slow upgrade.
            exact_below: number of papers from which searches use Chroma's index.
            copy_if_read_only: if the folder is read-only, open a temporary copy, deleted by ``close``.

        Raises:
            FolderUnusable: the folder cannot be created or written, or holds other files.
            StoreBusy: another process held the lock for longer than the timeout.
            StoreCorrupted: the files cannot be read.
            LibraryError: the store has a version that cannot be upgraded, or another embedder.
        """
        if copy_if_read_only and is_read_only_store(folder):
            return cls._open_copy(folder, embedder)
        backend = EmbeddedBackend.open(
            folder, embedder, timeout=timeout, on_wait=on_wait, exact_below=exact_below
        )
        return cls(folder, embedder, backend)

    @classmethod
    def _open_copy(cls, folder: Path, embedder: Embedder) -> Self:
        place = copy_to_temp(folder)
        try:
            backend = EmbeddedBackend.open(place, embedder, exact_below=None)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        backend.location = str(folder)
        return cls(place, embedder, backend, copy_of=folder)

    @classmethod
    def open_at(
        cls,
        url: str | None,
        folder: Path,
        embedder: Embedder,
        *,
        timeout: float = 60.0,
        on_wait: Callable[[str], None] | None = None,
        copy_if_read_only: bool = False,
    ) -> Self:
        """Open the store on a Chroma server, or in a folder if ``url`` is ``None``.

        Args:
            url: ``http://host:port``.
            folder: with a server, holds this machine's own files.

        Raises:
            StoreDown: the server does not answer.
            LibraryError: it is not a Chroma server; otherwise as ``open``.
        """
        if url is None:
            return cls.open(
                folder, embedder, timeout=timeout, on_wait=on_wait, copy_if_read_only=copy_if_read_only
            )
        from ideagora.retrieval.store.chroma_server import ChromaServerBackend

        backend = ChromaServerBackend.open(url, folder, embedder, timeout=timeout, on_wait=on_wait)
        return cls(folder, embedder, backend)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        embedder: Embedder,
        on_wait: Callable[[str], None] | None = None,
        *,
        copy_if_read_only: bool = False,
    ) -> Self:
        """Open the store that the settings name; arguments and errors as ``open_at``."""
        return cls.open_at(
            settings.store_url,
            settings.store_folder,
            embedder,
            on_wait=on_wait,
            copy_if_read_only=copy_if_read_only,
        )

    def close(self) -> None:
        """Close files and release locks; delete a temporary copy."""
        self.backend.close()
        if self.copy_of is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Hold the write lock over several calls, which also makes many writes faster; reentrant."""
        with self.backend.write_lock():
            yield

    def add(
        self,
        papers: Iterable[Paper],
        on_progress: ProgressCallback | None = None,
        *,
        embed_later: bool = False,
    ) -> AddResult:
        """Add papers, and update those already in the store.

        Only papers whose title or abstract changed are embedded again. If a record's references are
        unknown (``None``), those of the stored record are kept.

        Args:
            papers: records; of several with the same id, the last one counts.
            on_progress: called with (done, total) papers as they are embedded.
            embed_later: write records only; the next search embeds them. A server needs vectors at once.
        """
        wanted = list({paper.id: paper for paper in papers}.values())
        ids = [paper.id for paper in wanted]
        stored = self.backend.papers(ids)
        hashes = self.backend.content_hashes(ids)
        merged = [_keep_references(paper, stored.get(paper.id)) for paper in wanted]
        to_embed = [paper for paper in merged if hashes.get(paper.id) != content_hash(paper)]
        to_update = [p for p in merged if hashes.get(p.id) == content_hash(p) and stored[p.id] != p]
        unchanged = len(wanted) - len(to_embed) - len(to_update)
        if not (embed_later and self.backend.put_without_vectors(to_embed, content_hashes(to_embed))):
            done = unchanged + len(to_update)
            report = on_progress or (lambda done, total: None)
            embed_and_write(
                self.backend, self._embedder, to_embed, lambda embedded: report(done + embedded, len(wanted))
            )
        self._put(to_update, None)
        new = sum(paper.id not in stored for paper in wanted)
        return AddResult(new, len(to_embed) + len(to_update) - new, unchanged)

    def embed_pending(self, on_progress: ProgressCallback | None = None) -> None:
        """Embed the papers that were added with ``embed_later``; ``search`` does it otherwise."""
        embed_pending(self.backend, self._embedder, on_progress)

    def add_embedded(self, papers: Sequence[Paper], vectors: NDArray[np.float32]) -> None:
        """Add papers with vectors made by this store's embedder, shape (len(papers), dimension)."""
        self._put(papers, vectors)

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Add edges (citing id, cited id) that do not come from the citing paper's own reference list."""
        self.backend.add_citations(pairs)

    def get(self, paper_id: str) -> Paper | None:
        """The paper with this id; ``None`` if it is not in the store."""
        return self.backend.papers([paper_id]).get(paper_id)

    def references(self, paper_id: str) -> list[Paper]:
        """The stored papers that a paper cites, in the order of its references."""
        return self._in_order(self.backend.reference_ids(paper_id))

    def citations(self, paper_id: str) -> list[Paper]:
        """The stored papers that cite a paper, oldest first."""
        return self._in_order(self.backend.citation_ids(paper_id))

    def search(self, vector: NDArray[np.float32], k: int, before: str | None = None) -> list[ScoredPaper]:
        """The k papers nearest to a vector of unit length, best first.

        Similarity is the cosine, rounded to 4 decimals; ties are ordered by id.

        Args:
            before: YYYY-MM-DD; only papers whose latest possible date is earlier, so none without a date.
        """
        import numpy as np

        if k < 1:
            return []
        self.embed_pending()
        nearest = self.backend.nearest(np.asarray(vector, dtype=np.float64), k, before)
        papers = self.backend.papers([paper_id for paper_id, _ in nearest])
        return [ScoredPaper(paper=papers[i], similarity=score) for i, score in nearest if i in papers]

    def count(self) -> int:
        """Number of papers."""
        return self.backend.count()

    def stats(self) -> StoreStats:
        """Counts for the user; may read every record."""
        manifest = self.backend.manifest()
        return StoreStats(
            kind=self.backend.kind,
            folder=self.backend.location,
            version=manifest["version"],
            embedder=manifest["embedder"],
            **self.backend.stats()._asdict(),
        )

    def identities(self) -> Iterator[PaperIdentity]:
        """Id, title, date, arXiv id and DOI of every paper, ordered by id."""
        return self.backend.identities()

    def has(self, ids: Sequence[str]) -> list[bool]:
        """Whether each paper is in the store."""
        stored = self.backend.content_hashes(ids)
        return [paper_id in stored for paper_id in ids]

    @property
    def generation(self) -> int:
        """A number that changes whenever any process changes the set of papers."""
        return self.backend.generation()

    def get_metadata(self, key: str) -> str | None:
        """The value of a metadata key; ``None`` if it was never set."""
        return self.backend.get_metadata(key)

    def set_metadata(self, key: str, value: str) -> None:
        """Set the value of a metadata key."""
        with self.write_lock():
            self.backend.set_metadata(key, value)

    def _put(self, papers: Sequence[Paper], vectors: NDArray[np.float32] | None) -> None:
        if papers:
            self.backend.put(papers, content_hashes(papers), vectors)

    def _in_order(self, ids: Sequence[str]) -> list[Paper]:
        papers = self.backend.papers(ids)
        return [papers[paper_id] for paper_id in ids if paper_id in papers]


def _keep_references(paper: Paper, stored: Paper | None) -> Paper:
    if stored is None or paper.references is not None or stored.references is None:
        return paper
    return paper.model_copy(update={"references": stored.references})
