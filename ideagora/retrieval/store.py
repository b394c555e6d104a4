"""The embedded store: one folder with papers, their vectors and who cites whom.

    <folder>/records.sqlite   records, citation edges, manifest (version, embedder, generation, marks)
    <folder>/chroma/          vectors, in Chroma's embedded database
    <folder>/store.lock       held alone by who writes, and by who loads the vectors

Killing a writer at any moment loses at most the batch it was at. Its vectors are written before its
records, so a vector without a record is one that nobody asks for. And the manifest says while
vectors are worked on (``vectors`` = "open"): who finds that, with the folder held alone, knows that
a process died over them, and makes all vectors anew from the records. That costs little, since the
embedder's cache has them.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from ideagora.errors import LibraryError
from ideagora.models.embeddings import Embedder
from ideagora.retrieval.faults import corrupted, named_faults, unusable
from ideagora.retrieval.locking import HOLDER_FILE, LOCK_FILE, FolderLock
from ideagora.retrieval.records import RECORDS_FILE, Names, Records
from ideagora.retrieval.vectors import CHROMA_FOLDER, Vectors
from ideagora.schema import Paper, Record, Scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

T = TypeVar("T")

STORE_VERSION = "1"
EXACT_BELOW = 20_000
"""Papers up to which a search compares with every vector: below it that is faster than the index."""
_BATCH = 32
_REBUILD_BATCH = 256
_VECTORS, _OPEN = "vectors", "open"
"""Line of the manifest on the state of the vectors, and what it says while they are worked on."""
_OWN_FILES = {
    RECORDS_FILE,
    f"{RECORDS_FILE}-wal",
    f"{RECORDS_FILE}-shm",
    CHROMA_FOLDER,
    LOCK_FILE,
    HOLDER_FILE,
}


class Added(NamedTuple):
    """What ``add`` did, in papers."""

    new: int
    changed: int
    same: int


class StoreStats(Record):
    """What a store holds."""

    folder: str
    version: str
    embedder: str
    papers: int
    citations: int
    """Citations between papers that are both here."""
    oldest: str | None
    newest: str | None
    size_bytes: int


@dataclass(frozen=True)
class _Snapshot:
    """All vectors of one generation in memory; ``ids`` ascending, ``matrix`` (n, dimension)."""

    generation: int
    ids: list[str]
    matrix: NDArray[np.float64]


def paper_text(paper: Paper) -> str:
    """The text that stands for a paper when it is embedded: title and abstract."""
    return f"{paper.title}\n{paper.abstract}" if paper.abstract else paper.title


def content_hash(paper: Paper) -> str:
    """SHA-256 of the embedded text: as long as it stays, so does the vector."""
    return hashlib.sha256(paper_text(paper).encode("utf-8", "surrogatepass")).hexdigest()


class Store:
    """Papers of one folder, for any number of threads and processes; ``open`` makes one."""

    def __init__(self, folder: Path, embedder: Embedder, lock: FolderLock, exact_below: int) -> None:
        self.folder = folder
        self._embedder = embedder
        self._lock = lock
        self._exact_below = exact_below
        self._records = Records(folder)
        self._vectors = Vectors(folder)
        self._snapshot: _Snapshot | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        *,
        timeout: float = 60.0,
        on_wait: Callable[[str], None] | None = None,
        exact_below: int = EXACT_BELOW,
    ) -> Self:
        """Open a store, or make an empty one.

        Args:
            folder: the store's own folder.
            embedder: makes the vectors; a store belongs to one embedder.
            timeout: seconds to wait for another process before giving up.
            on_wait: told whom we wait for, once per holder.
            exact_below: number of papers from which searches go to Chroma's index.

        Raises:
            FolderUnusable: the folder cannot be made or written, or holds something else.
            StoreBusy: another process held the store for longer than the timeout.
            StoreCorrupted: the files cannot be read.
            LibraryError: the store was made by another version or with another embedder.
        """
        with named_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _demand_own(folder)
            lock = FolderLock(folder, timeout, on_wait)
            store = cls(folder, embedder, lock, exact_below)
            try:
                store._make_or_check()
            except BaseException:
                store.close()
                raise
        return store

    def close(self) -> None:
        """Close files and release locks."""
        self._vectors.close()
        self._records.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes from writing between several calls."""
        with self._lock.alone():
            yield

    def add(self, papers: Iterable[Paper], on_progress: Callable[[int, int], None] | None = None) -> Added:
        """Put papers in; those that are there already are brought up to date.

        Only a paper whose title or abstract changed is embedded again. References that a record does
        not know (``None``) are kept from the record that was there.

        Args:
            papers: records; of two with one id the last one counts.
            on_progress: called with (done, total) papers after each batch.
        """
        wanted = list({paper.id: paper for paper in papers}.values())
        ids = [paper.id for paper in wanted]
        here = self._records.papers(ids)
        hashes = self._records.content_hashes(ids)
        merged = [_with_references(paper, here.get(paper.id)) for paper in wanted]
        embedded = [paper for paper in merged if hashes.get(paper.id) != content_hash(paper)]
        updated = [p for p in merged if hashes.get(p.id) == content_hash(p) and here[p.id] != p]
        same = len(wanted) - len(embedded) - len(updated)
        self._embed(embedded, same + len(updated), len(wanted), on_progress)
        self._save(updated, new_vectors=False)
        new = sum(paper.id not in here for paper in wanted)
        return Added(new, len(embedded) + len(updated) - new, same)

    def add_citations(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Note who cites whom (citing id, cited id), as told by somebody else than the citing paper."""
        with self.writing():
            self._records.add_citations(pairs)

    def get(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return self._records.papers([paper_id]).get(paper_id)

    def references(self, paper_id: str) -> list[Paper]:
        """The papers here that one cites, in the order of its references."""
        return self._in_order(self._records.cited_by(paper_id))

    def citations(self, paper_id: str) -> list[Paper]:
        """The papers here that cite one, oldest first."""
        return self._in_order(self._records.citing(paper_id))

    def search(self, vector: NDArray[np.float32], k: int) -> list[Scored]:
        """The k papers nearest to a vector of unit length, best first.

        Similarity is the cosine, rounded to 4 decimals; ties are ordered by id.
        """
        import numpy as np

        if k < 1:
            return []
        query = np.asarray(vector, dtype=np.float64)
        found = self._exact(query, k) if self.count() < self._exact_below else self._indexed(query, k)
        papers = self._records.papers([paper_id for paper_id, _ in found])
        return [Scored(paper=papers[i], similarity=similarity) for i, similarity in found if i in papers]

    def count(self) -> int:
        """Number of papers."""
        return self._records.count()

    def stats(self) -> StoreStats:
        """Figures for the user."""
        manifest = self._records.manifest()
        oldest, newest = self._records.dates()
        return StoreStats(
            folder=str(self.folder),
            version=manifest["version"],
            embedder=manifest["embedder"],
            papers=self.count(),
            citations=self._records.count_citations(),
            oldest=oldest,
            newest=newest,
            size_bytes=sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()),
        )

    def names(self) -> Iterator[Names]:
        """What each paper goes by: id, title, date, arXiv id, DOI."""
        return self._records.names()

    def by_source(self) -> dict[str, int]:
        """Number of papers by where their record came from."""
        return self._records.by_source()

    def has(self, ids: Sequence[str]) -> list[bool]:
        """Whether each paper is here."""
        here = self._records.content_hashes(ids)
        return [paper_id in here for paper_id in ids]

    @property
    def generation(self) -> int:
        """Counts the changes to the set of papers and their texts, by any process."""
        return self._records.generation()

    def mark(self, key: str) -> str | None:
        """A note that a filler of the store left in its manifest."""
        return self._records.manifest().get(f"mark:{key}")

    def set_mark(self, key: str, value: str) -> None:
        """Leave a note in the manifest."""
        with self.writing():
            self._records.set_mark(f"mark:{key}", value)

    def _make_or_check(self) -> None:
        if not self._records.exists():
            with self.writing():
                if not self._records.exists():  # nobody made it while we waited
                    self._make()
        self._check(self._records.manifest())

    def _make(self) -> None:
        if self._vectors.create():
            raise corrupted(self.folder, f"there are vectors, but {RECORDS_FILE} is missing or empty")
        manifest = {"version": STORE_VERSION, "embedder": self._embedder.name}
        self._records.create({**manifest, _VECTORS: self._vectors.fingerprint()})

    def _check(self, manifest: dict[str, str]) -> None:
        version, embedder = manifest.get("version"), manifest.get("embedder")
        if version != STORE_VERSION:
            raise LibraryError(
                f"the store in {self.folder} has version {version}, this program reads {STORE_VERSION}. "
                "Remove the folder (it is then rebuilt), or set IDEAGORA_STORE to another one."
            )
        if embedder != self._embedder.name:
            raise LibraryError(
                f"the store in {self.folder} was made with the embedder {embedder}, "
                f"not {self._embedder.name}. Set IDEAGORA_EMBEDDER back, "
                "set IDEAGORA_STORE to another folder, or remove this one "
                "(it is then rebuilt)."
            )

    def _embed(
        self, papers: Sequence[Paper], done: int, total: int, on_progress: Callable[[int, int], None] | None
    ) -> None:
        """Embed and write batch by batch; others may come in between, since embedding takes its time."""
        for batch in _batches(papers, _BATCH):
            vectors = self._embedder.encode([paper_text(paper) for paper in batch])
            with self._at_vectors():
                self._vectors.upsert([paper.id for paper in batch], vectors)
                self._save(batch, new_vectors=True)
            done += len(batch)
            if on_progress:
                on_progress(done, total)

    def _save(self, papers: Sequence[Paper], *, new_vectors: bool) -> None:
        if papers:
            with self.writing():
                hashes = {paper.id: content_hash(paper) for paper in papers}
                self._records.save(papers, hashes, new_vectors=new_vectors)

    def _in_order(self, ids: Sequence[str]) -> list[Paper]:
        papers = self._records.papers(ids)
        return [papers[paper_id] for paper_id in ids if paper_id in papers]

    def _exact(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        """Compare with every vector. In double precision, so that rounding hides the order of summation."""
        import numpy as np

        snapshot = self._current_snapshot()
        if not snapshot.ids:
            return []
        rounded = np.round(snapshot.matrix @ query, 4) + 0.0  # no minus zero
        best = np.argsort(-rounded, kind="stable")[:k]
        return [(snapshot.ids[place], float(rounded[place])) for place in best]

    def _indexed(self, query: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        """Ask Chroma's index, with a client that has seen the store as it is now."""
        with self._lock.together():
            generation = self._records.generation()
            if self._vectors.is_open_at(generation):
                return _ranked(self._vectors.nearest(query, k))
        with self._at_vectors():
            self._vectors.keep_open(self._records.generation())
            return _ranked(self._vectors.nearest(query, k))

    @contextmanager
    def _at_vectors(self) -> Iterator[None]:
        """Hold the folder alone, with whole vectors, and leave a mark while they are worked on."""
        with self.writing():
            self._make_whole()
            self._records.set_mark(_VECTORS, _OPEN)
            yield
            self._records.set_mark(_VECTORS, self._vectors.fingerprint())

    def _make_whole(self) -> None:
        """See that the vectors are as they were left; make them anew where a process died over them."""
        self._vectors.close()
        left_as = self._records.manifest().get(_VECTORS)
        if left_as == _OPEN or not self._vectors.folder.exists():
            self._rebuild_vectors()
        elif left_as != self._vectors.fingerprint():
            raise self._vectors.damaged("the files of the index are not as they were written")

    def _rebuild_vectors(self) -> None:
        logger.warning("the vectors of the store in %s are made anew from its records", self.folder)
        self._records.set_mark(_VECTORS, _OPEN)
        self._vectors.remove()
        self._vectors.create()
        for batch in _batches(sorted(self._records.ids()), _REBUILD_BATCH):
            papers = self._in_order(batch)
            self._vectors.upsert(batch, self._embedder.encode([paper_text(paper) for paper in papers]))
        self._records.next_generation()  # whoever has the old files open must open the new ones

    def _current_snapshot(self) -> _Snapshot:
        snapshot = self._snapshot
        if snapshot is None or snapshot.generation != self._records.generation():
            with self._at_vectors():
                snapshot = self._loaded_snapshot()
            self._snapshot = snapshot
        return snapshot

    def _loaded_snapshot(self) -> _Snapshot:
        """Read all vectors; every paper must have one (a vector without a paper is from a killed writer)."""
        generation, known = self._records.generation(), self._records.ids()
        if self._snapshot and self._snapshot.generation == generation:  # another thread was faster
            return self._snapshot
        ids, matrix = self._vectors.everything()
        missing = known.difference(ids)
        if missing:
            raise self._vectors.damaged(f"{len(missing)} papers have lost their vectors")
        order = sorted((place for place, i in enumerate(ids) if i in known), key=ids.__getitem__)
        return _Snapshot(generation, [ids[place] for place in order], matrix[order])


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _ranked(found: list[tuple[str, float]]) -> list[tuple[str, float]]:
    rounded = [(paper_id, round(similarity, 4) + 0.0) for paper_id, similarity in found]
    return sorted(rounded, key=lambda row: (-row[1], row[0]))


def _with_references(paper: Paper, before: Paper | None) -> Paper:
    if before is None or paper.references is not None or before.references is None:
        return paper
    return paper.model_copy(update={"references": before.references})


def _demand_own(folder: Path) -> None:
    """Refuse a folder that holds something else: the store's files would end up among it."""
    names = {path.name for path in folder.iterdir()}
    if RECORDS_FILE not in names and names - _OWN_FILES:
        raise unusable(folder, f"it holds {sorted(names - _OWN_FILES)[0]} and no store")
