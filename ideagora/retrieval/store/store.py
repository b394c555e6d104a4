"""The store of papers: what is in it, what it is near to, who cites whom.

Where its papers stand is the business of a shelf (``backend.py``): a folder (``folder.py``), or a
Chroma server that several users share (``server.py``).
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
from ideagora.retrieval.store.hashing import batches, content_hash, paper_text
from ideagora.schema import Paper, Record, ScoredPaper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EXACT_BELOW", "STORE_VERSION", "AddResult", "Store", "StoreStats", "content_hash", "paper_text"]

EMBED_BATCH = 32
"""Papers between two words on the progress; the embedder's cache keeps them from then on."""
WRITE_BATCH = 512
"""Papers that are written at once: half a minute of embedding, half a second of writing when large."""
ProgressCallback = Callable[[int, int], None]


class AddResult(NamedTuple):
    """What ``add`` did, in papers."""

    new: int
    changed: int
    same: int


class StoreStats(Record):
    """What a store holds."""

    kind: StoreKind
    folder: str
    """The folder, or the server's URL."""
    version: str
    embedder: str
    papers: int
    citations: int
    """Citations between papers that are both here."""
    oldest: str | None
    newest: str | None
    size_bytes: int | None
    """``None``: a server does not tell."""
    sources: dict[str, int]
    """Papers by where their record came from."""


class Store:
    """Papers, for any number of threads and processes; ``open`` makes one of a folder."""

    def __init__(
        self, folder: Path, embedder: Embedder, backend: StoreBackend, *, copy_of: Path | None = None
    ) -> None:
        """Take a shelf into use.

        Args:
            folder: where what belongs to the papers is kept on this machine (full texts, …).
            copy_of: the store that may only be read, of which this one is a passing copy.
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
        """Open the store of a folder, or make an empty one.

        Args:
            folder: the store's own folder.
            embedder: makes the vectors; a store belongs to one embedder.
            timeout: seconds to wait for another process before giving up.
            on_wait: told whom we wait for, once per holder, and what takes long.
            exact_below: number of papers from which searches go to Chroma's index.
            may_copy: of a folder that may only be read, open a copy that is gone when it is closed.

        Raises:
            FolderUnusable: the folder cannot be made or written, or holds something else.
            StoreBusy: another process held the store for longer than the timeout.
            StoreCorrupted: the files cannot be read.
            LibraryError: the store was made by another version that cannot be brought up to date, or
                with another embedder.
        """
        if copy_if_read_only and is_read_only_store(folder):
            return cls._copied(folder, embedder)
        backend = EmbeddedBackend.open(
            folder, embedder, timeout=timeout, on_wait=on_wait, exact_below=exact_below
        )
        return cls(folder, embedder, backend)

    @classmethod
    def _copied(cls, folder: Path, embedder: Embedder) -> Self:
        place = copy_to_temp(folder)
        try:
            backend = EmbeddedBackend.open(place, embedder, has_index=False)
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
        """Open the store of a Chroma server, or without a URL that of the folder.

        Args:
            url: ``http://host:port``.
            folder: with a server, for what stays on this machine.

        Raises:
            LibraryError: nobody answers, or it is no Chroma server, or see ``open``.
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
        """Close files and release locks."""
        self.backend.close()
        if self.copy_of is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Keep other processes from writing between several calls; many writes within are quicker."""
        with self.backend.write_lock():
            yield

    def add(self, papers: Iterable[Paper], on_progress: ProgressCallback | None = None) -> AddResult:
        """Put papers in; those that are there already are brought up to date.

        Only a paper whose title or abstract changed is embedded again. References that a record does
        not know (``None``) are kept from the record that was there.

        Args:
            papers: records; of two with one id the last one counts.
            on_progress: called with (done, total) papers as they are embedded.
        """
        wanted = list({paper.id: paper for paper in papers}.values())
        ids = [paper.id for paper in wanted]
        here = self.backend.papers(ids)
        hashes = self.backend.content_hashes(ids)
        merged = [_keep_references(paper, here.get(paper.id)) for paper in wanted]
        embedded = [paper for paper in merged if hashes.get(paper.id) != content_hash(paper)]
        updated = [p for p in merged if hashes.get(p.id) == content_hash(p) and here[p.id] != p]
        same = len(wanted) - len(embedded) - len(updated)
        self._embed(embedded, same + len(updated), len(wanted), on_progress)
        self._put(updated, None)
        new = sum(paper.id not in here for paper in wanted)
        return AddResult(new, len(embedded) + len(updated) - new, same)

    def add_embedded(self, papers: Sequence[Paper], vectors: NDArray[np.float32]) -> None:
        """Put papers in whose vectors this store's embedder has made, shape (len(papers), dimension)."""
        self._put(papers, vectors)

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Note who cites whom (citing id, cited id), as told by somebody else than the citing paper."""
        self.backend.add_citations(pairs)

    def get(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return self.backend.papers([paper_id]).get(paper_id)

    def references(self, paper_id: str) -> list[Paper]:
        """The papers here that one cites, in the order of its references."""
        return self._in_order(self.backend.cited_by(paper_id))

    def citations(self, paper_id: str) -> list[Paper]:
        """The papers here that cite one, oldest first."""
        return self._in_order(self.backend.citing(paper_id))

    def search(self, vector: NDArray[np.float32], k: int, before: str | None = None) -> list[ScoredPaper]:
        """The k papers nearest to a vector of unit length, best first.

        Similarity is the cosine, rounded to 4 decimals; ties are ordered by id.

        Args:
            before: YYYY-MM-DD: only papers that are surely older than this day; one without a date is not.
        """
        import numpy as np

        if k < 1:
            return []
        found = self.backend.nearest(np.asarray(vector, dtype=np.float64), k, before)
        papers = self.backend.papers([paper_id for paper_id, _ in found])
        return [ScoredPaper(paper=papers[i], similarity=similarity) for i, similarity in found if i in papers]

    def count(self) -> int:
        """Number of papers."""
        return self.backend.count()

    def stats(self) -> StoreStats:
        """Figures for the user."""
        manifest = self.backend.manifest()
        return StoreStats(
            kind=self.backend.kind,
            folder=self.backend.location,
            version=manifest["version"],
            embedder=manifest["embedder"],
            **self.backend.stats()._asdict(),
        )

    def identities(self) -> Iterator[PaperIdentity]:
        """What each paper goes by: id, title, date, arXiv id, DOI."""
        return self.backend.identities()

    def by_source(self) -> dict[str, int]:
        """Number of papers by where their record came from."""
        return self.backend.stats().sources

    def has(self, ids: Sequence[str]) -> list[bool]:
        """Whether each paper is here."""
        here = self.backend.content_hashes(ids)
        return [paper_id in here for paper_id in ids]

    @property
    def generation(self) -> int:
        """Another number when the set of papers has changed, by any process."""
        return self.backend.generation()

    def get_metadata(self, key: str) -> str | None:
        """A note that a filler of the store left."""
        return self.backend.get_metadata(key)

    def set_metadata(self, key: str, value: str) -> None:
        """Leave a note."""
        with self.write_lock():
            self.backend.set_metadata(key, value)

    def _embed(
        self, papers: Sequence[Paper], done: int, total: int, on_progress: ProgressCallback | None
    ) -> None:
        """Embed in small batches and write in larger ones.

        Others may write in between, since embedding takes its time. What was embedded is written also
        when embedding is broken off.
        """
        waiting: list[tuple[Sequence[Paper], NDArray[np.float32]]] = []
        try:
            for batch in batches(papers, EMBED_BATCH):
                waiting.append((batch, self._embedder.encode([paper_text(paper) for paper in batch])))
                if len(waiting) * EMBED_BATCH >= WRITE_BATCH:
                    self._write(waiting)
                done += len(batch)
                if on_progress:
                    on_progress(done, total)
        finally:
            self._write(waiting)

    def _write(self, waiting: list[tuple[Sequence[Paper], NDArray[np.float32]]]) -> None:
        """Write what waits, and wait no more for it: a write that failed is not tried again."""
        import numpy as np

        if waiting:
            papers = [paper for some, _ in waiting for paper in some]
            vectors = np.concatenate([rows for _, rows in waiting])
            waiting.clear()
            self._put(papers, vectors)

    def _put(self, papers: Sequence[Paper], vectors: NDArray[np.float32] | None) -> None:
        if papers:
            self.backend.put(papers, {paper.id: content_hash(paper) for paper in papers}, vectors)

    def _in_order(self, ids: Sequence[str]) -> list[Paper]:
        papers = self.backend.papers(ids)
        return [papers[paper_id] for paper_id in ids if paper_id in papers]


def _keep_references(paper: Paper, before: Paper | None) -> Paper:
    if before is None or paper.references is not None or before.references is None:
        return paper
    return paper.model_copy(update={"references": before.references})
