"""Your own papers into the store: read, told apart from what is there, embedded, linked.

It can be killed at any moment. What was written stays, a file counts as read when all of it was
written, and the same call goes on from there. The store is held only while something is written, so
that a run can use it meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.corpus.dedup import names_of, replaces_title, title_names, update_record
from ideagora.retrieval.ingest.documents import Document, Problem
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_with_limits
from ideagora.retrieval.ingest.paper_index import PaperIndex, identity_of
from ideagora.retrieval.ingest.read_file import READERS_VERSION
from ideagora.retrieval.ingest.scan import file_digest, scan_paths
from ideagora.retrieval.store.citation_lists import CitationLists
from ideagora.retrieval.store.fulltext import FullTextStore
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper, Record

_BATCH = 128
_MAX_PROBLEMS = 1_000
"""Of one file; more are counted."""
ProgressCallback = Callable[[str, float, int], None]


class IngestSummary(Record):
    """What came of adding, in files and papers."""

    files: int = 0
    read: int = 0
    """Files that gave at least one paper now."""
    skipped: int = 0
    """Files with a content that was read before."""
    ignored: int = 0
    """Files in folders that are of no kind that is read."""
    added: int = 0
    updated: int = 0
    same: int = 0
    full_texts: int = 0
    """Papers whose full text was read now."""
    citations: int = 0
    """Citations between papers of the store that are new."""
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether nothing at all could be read."""
        return self.read + self.skipped == 0


class PaperIngest:
    """One call of ``add``: reads files and writes what they hold, batch by batch."""

    def __init__(
        self, store: Store, texts: FullTextStore, embedder: Embedder, tell: ProgressCallback | None = None
    ) -> None:
        """``tell`` hears the file, the part (0 to 1) of all bytes that is done, and papers so far."""
        self._store = store
        self._texts = texts
        self._embedder = embedder
        self._tell = tell or (lambda file, part, papers: None)
        self._known = PaperIndex(store.identities())
        self._generation = store.generation
        self._waiting: list[Document] = []
        self._new: set[str] = set()
        self._changed: set[str] = set()
        self._met: set[str] = set()
        self._ids: list[str] = []
        self._full_texts = 0
        self._problems: list[Problem] = []
        self._notes: list[str] = []
        self._sizes: dict[Path, int] = {}
        self._bytes_done = 0

    def add(self, paths: Sequence[Path]) -> IngestSummary:
        """Read the files of paths and put what they hold into the store.

        Raises:
            FolderUnusable, StoreBusy, StoreCorrupted: as ``Store.add``.
        """
        found = scan_paths(paths)
        self._sizes = {path: _size(path) for path in found.files}
        self._problems += found.problems
        before = self._store.stats().citations
        outcomes = [self._file(path) for path in found.files]
        self._link()
        return IngestSummary(
            files=len(found.files),
            read=outcomes.count("read"),
            skipped=outcomes.count("skipped"),
            ignored=found.ignored,
            added=len(self._new),
            updated=len(self._changed - self._new),
            same=len(self._met - self._changed - self._new),
            full_texts=self._full_texts,
            citations=self._store.stats().citations - before,
            problems=tuple(self._problems),
            notes=tuple(self._notes),
        )

    def _file(self, path: Path) -> str | None:
        """Read one file, or remember what came of it; ``read``, ``skipped``, or ``None``: nothing in it."""
        self._progress(path, 0.0)
        try:
            content = file_digest(path)
        except OSError:
            self._problems += [one for one in read_with_limits(path) if isinstance(one, Problem)]
            return None
        outcome = "skipped" if self._is_remembered(path, content) else self._read(path, content)
        self._bytes_done += self._sizes[path]
        return outcome

    def _read(self, path: Path, content: str) -> str | None:
        wrong, more = [], 0
        self._ids = []
        for found in read_with_limits(path):
            one = (
                self._unlike_known(str(path), found.paper) or found if isinstance(found, Document) else found
            )
            if isinstance(one, Problem):
                wrong.append(one)
                if len(wrong) > _MAX_PROBLEMS:
                    wrong.pop()
                    more += 1
                continue
            self._waiting.append(one)
            if one.note:
                self._notes.append(f"{path}: {one.note}.")
            if len(self._waiting) >= _BATCH:
                self._flush()
                self._progress(path, one.done)
        self._flush()
        if more:
            what = f"{more:,} further things in it could not be read"
            wrong.append(Problem(path=str(path), what=what, step="Mend those above first."))
        self._problems += wrong
        if not self._ids:
            return None
        self._texts.put_file(content, READERS_VERSION, _outcome(self._ids, wrong))
        return "read"

    def _unlike_known(self, path: str, paper: Paper) -> Problem | None:
        """Why a record may not count: it would give a known paper, with its citations, another title."""
        known_id = self._known.find(paper)
        known = self._store.get(known_id) if known_id else None
        if known is None or not replaces_title(paper, known):
            return None
        what = f"“{paper.title[:80]}” has the id {known.id}, which is “{known.title[:80]}” here"
        return Problem(path=path, what=what, step="Mend the id or the title, and add the file again.")

    def _progress(self, path: Path, part: float) -> None:
        total = sum(self._sizes.values()) or 1
        self._tell(str(path), (self._bytes_done + part * self._sizes[path]) / total, len(self._met))

    def _is_remembered(self, path: Path, content: str) -> bool:
        """Whether this content was read and its papers are still here; tells again what was wrong in it."""
        noted = self._texts.file_outcome(content, READERS_VERSION)
        if noted is None:
            return False
        outcome = json.loads(noted)
        if not all(self._store.has(outcome["papers"])):
            return False
        self._met.update(outcome["papers"])
        self._problems += [Problem(**{**problem, "path": str(path)}) for problem in outcome["problems"]]
        return True

    def _flush(self) -> None:
        """Write what waits. Vectors are made before the store is held: they take nearly all the time."""
        if not self._waiting:
            return
        self._embedder.encode([paper_text(paper) for paper in self._changes(self._merged()[0])])
        with self._store.write_lock():
            if self._generation != self._store.generation:  # another process wrote meanwhile
                self._known = PaperIndex(self._store.identities())
            merged, ids = self._merged()
            self._write(merged, ids)
            self._generation = self._store.generation
        self._waiting.clear()

    def _merged(self) -> tuple[dict[str, Paper], list[str]]:
        """Records that are new or change by what waits, and the id of each that waits."""
        papers: dict[str, Paper] = {}
        ids: list[str] = []
        for document in self._waiting:
            paper = document.paper
            paper_id = self._known.find(paper) or paper.id
            old = papers.get(paper_id) or self._store.get(paper_id)
            whole = update_record(old, self._with_known_references(paper))
            papers[paper_id] = whole
            self._known.add(identity_of(whole))
            ids.append(paper_id)
        return papers, ids

    def _with_known_references(self, paper: Paper) -> Paper:
        if not paper.references:
            return paper
        return paper.model_copy(update={"references": tuple(map(self._known.find_id, paper.references))})

    def _changes(self, merged: dict[str, Paper]) -> list[Paper]:
        return [paper for paper in merged.values() if self._store.get(paper.id) != paper]

    def _write(self, merged: dict[str, Paper], ids: Sequence[str]) -> None:
        changed = self._changes(merged)
        here = dict(zip(merged, self._store.has(list(merged)), strict=True))
        self._store.add(changed)
        self._texts.put_own(merged)
        self._learn(merged.values())
        pairs = list(zip(ids, self._waiting, strict=True))
        full = [(paper_id, one.full_text) for paper_id, one in pairs if one.full_text]
        self._texts.put(full)
        self._texts.put_cited((paper_id, one.cited) for paper_id, one in pairs if one.cited)
        self._full_texts += len(full)
        self._new.update(paper_id for paper_id, is_here in here.items() if not is_here)
        self._changed.update(paper.id for paper in changed)
        self._met.update(ids)
        self._ids += ids

    def _learn(self, papers: Iterable[Paper]) -> None:
        """So that what a source on the network tells of these papers comes to the same records."""
        with closing(CitationLists(self._store.folder)) as citation_lists:
            citation_lists.add_names({one.id: [*names_of(one), *title_names(one)] for one in papers})

    def _link(self) -> None:
        """Make citations of all lists of references, also of papers that came long before what they cite.

        They are edges and no list of the paper's own: what could be read off a PDF and is here too is
        a part of what the paper cites.
        """
        cited = [(paper_id, self._known.find_cited(entry)) for paper_id, entry in self._texts.cited_works()]
        pairs = [(paper_id, found) for paper_id, found in cited if found and found != paper_id]
        here = dict(zip(pairs, self._store.has([paper_id for paper_id, _ in pairs]), strict=True))
        self._store.add_citations([pair for pair in dict.fromkeys(pairs) if here[pair]])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _outcome(ids: Sequence[str], problems: Sequence[Problem]) -> str:
    told = [problem.model_dump() for problem in problems]
    return json.dumps({"papers": list(dict.fromkeys(ids)), "problems": told})
