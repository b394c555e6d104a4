"""Adding the user's files to the store: read, merge with known papers, embed, link citations.

It can be killed at any moment: written papers stay, a file is recorded as read once all of it is
written, and the same call continues from there. The store is locked only while writing, so that a run
can use it meanwhile.
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
"""Problems reported per file; further ones are only counted."""
ProgressCallback = Callable[[str, float, int], None]


class IngestSummary(Record):
    """Result of adding files."""

    files: int = 0
    read: int = 0
    """Files from which at least one paper was read by this call."""
    skipped: int = 0
    """Files whose content was read before."""
    ignored: int = 0
    """Files in folders that have no supported type."""
    added: int = 0
    updated: int = 0
    same: int = 0
    full_texts: int = 0
    """Papers whose full text was read by this call."""
    citations: int = 0
    """New citations between papers of the store."""
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether no file could be read."""
        return self.read + self.skipped == 0


class PaperIngest:
    """Reads files and writes their papers in batches; use one instance per call of ``add``."""

    def __init__(
        self,
        store: Store,
        texts: FullTextStore,
        embedder: Embedder,
        on_progress: ProgressCallback | None = None,
    ) -> None:
        """``on_progress`` is called with the file, the fraction of all bytes done, and papers so far."""
        self._store = store
        self._texts = texts
        self._embedder = embedder
        self._on_progress = on_progress or (lambda file, fraction, papers: None)
        self._index = PaperIndex(store.identities())
        self._generation = store.generation
        self._pending: list[Document] = []
        self._new: set[str] = set()
        self._changed: set[str] = set()
        self._seen: set[str] = set()
        self._file_ids: list[str] = []
        self._full_texts = 0
        self._problems: list[Problem] = []
        self._notes: list[str] = []
        self._sizes: dict[Path, int] = {}
        self._bytes_done = 0

    def add(self, paths: Sequence[Path]) -> IngestSummary:
        """Add the papers in files, and in all files below folders, to the store.

        Raises:
            FolderUnusable, StoreBusy, StoreCorrupted: as ``Store.add``.
        """
        scanned = scan_paths(paths)
        self._sizes = {path: _size(path) for path in scanned.files}
        self._problems += scanned.problems
        before = self._store.stats().citations
        outcomes = [self._add_file(path) for path in scanned.files]
        self._link_citations()
        return IngestSummary(
            files=len(scanned.files),
            read=outcomes.count("read"),
            skipped=outcomes.count("skipped"),
            ignored=scanned.ignored,
            added=len(self._new),
            updated=len(self._changed - self._new),
            same=len(self._seen - self._changed - self._new),
            full_texts=self._full_texts,
            citations=self._store.stats().citations - before,
            problems=tuple(self._problems),
            notes=tuple(self._notes),
        )

    def _add_file(self, path: Path) -> str | None:
        """Add one file's papers; returns ``read``, ``skipped`` (read before) or ``None`` (no papers)."""
        self._report_progress(path, 0.0)
        try:
            content = file_digest(path)
        except OSError:
            self._problems += [result for result in read_with_limits(path) if isinstance(result, Problem)]
            return None
        outcome = "skipped" if self._was_read_before(path, content) else self._read(path, content)
        self._bytes_done += self._sizes[path]
        return outcome

    def _read(self, path: Path, content: str) -> str | None:
        problems: list[Problem] = []
        more = 0
        self._file_ids = []
        for result in read_with_limits(path):
            if isinstance(result, Document):
                result = self._title_conflict(str(path), result.paper) or result
            if isinstance(result, Problem):
                if len(problems) < _MAX_PROBLEMS:
                    problems.append(result)
                else:
                    more += 1
                continue
            self._pending.append(result)
            if result.note:
                self._notes.append(f"{path}: {result.note}.")
            if len(self._pending) >= _BATCH:
                self._flush()
                self._report_progress(path, result.done)
        self._flush()
        if more:
            what = f"{more:,} further entries could not be read"
            problems.append(Problem(path=str(path), what=what, step="Fix those above first."))
        self._problems += problems
        if not self._file_ids:
            return None
        self._texts.put_file(content, READERS_VERSION, _outcome(self._file_ids, problems))
        return "read"

    def _title_conflict(self, path: str, paper: Paper) -> Problem | None:
        """The problem if a record has a known paper's id but another title; ``None`` otherwise."""
        known_id = self._index.find(paper)
        known = self._store.get(known_id) if known_id else None
        if known is None or not replaces_title(paper, known):
            return None
        what = f"“{paper.title[:80]}” has the id {known.id}, which is “{known.title[:80]}” in the store"
        return Problem(path=path, what=what, step="Fix the id or the title, and add the file again.")

    def _report_progress(self, path: Path, fraction: float) -> None:
        total = sum(self._sizes.values()) or 1
        done = (self._bytes_done + fraction * self._sizes[path]) / total
        self._on_progress(str(path), done, len(self._seen))

    def _was_read_before(self, path: Path, content: str) -> bool:
        """Whether this content was read and its papers are still stored; reports its problems again."""
        recorded = self._texts.file_outcome(content, READERS_VERSION)
        if recorded is None:
            return False
        outcome = json.loads(recorded)
        if not all(self._store.has(outcome["papers"])):
            return False
        self._seen.update(outcome["papers"])
        self._problems += [Problem(**{**problem, "path": str(path)}) for problem in outcome["problems"]]
        return True

    def _flush(self) -> None:
        """Write the pending papers. Embedding takes most of the time, so it is done before locking."""
        if not self._pending:
            return
        self._embedder.encode([paper_text(paper) for paper in self._select_changed(self._merge()[0])])
        with self._store.write_lock():
            if self._generation != self._store.generation:  # another process wrote meanwhile
                self._index = PaperIndex(self._store.identities())
            merged, ids = self._merge()
            self._write(merged, ids)
            self._generation = self._store.generation
        self._pending.clear()

    def _merge(self) -> tuple[dict[str, Paper], list[str]]:
        """Merge the pending papers with the stored ones; returns records by id, and each pending id."""
        papers: dict[str, Paper] = {}
        ids: list[str] = []
        for document in self._pending:
            paper = document.paper
            paper_id = self._index.find(paper) or paper.id
            old = papers.get(paper_id) or self._store.get(paper_id)
            merged = update_record(old, self._resolve_references(paper))
            papers[paper_id] = merged
            self._index.add(identity_of(merged))
            ids.append(paper_id)
        return papers, ids

    def _resolve_references(self, paper: Paper) -> Paper:
        if not paper.references:
            return paper
        return paper.model_copy(update={"references": tuple(map(self._index.find_id, paper.references))})

    def _select_changed(self, merged: dict[str, Paper]) -> list[Paper]:
        return [paper for paper in merged.values() if self._store.get(paper.id) != paper]

    def _write(self, merged: dict[str, Paper], ids: Sequence[str]) -> None:
        changed = self._select_changed(merged)
        stored = dict(zip(merged, self._store.has(list(merged)), strict=True))
        self._store.add(changed)
        self._texts.put_own(merged)
        self._add_names(merged.values())
        pairs = list(zip(ids, self._pending, strict=True))
        full = [(paper_id, document.full_text) for paper_id, document in pairs if document.full_text]
        self._texts.put(full)
        self._texts.put_cited((paper_id, document.cited) for paper_id, document in pairs if document.cited)
        self._full_texts += len(full)
        self._new.update(paper_id for paper_id, is_stored in stored.items() if not is_stored)
        self._changed.update(paper.id for paper in changed)
        self._seen.update(ids)
        self._file_ids += ids

    def _add_names(self, papers: Iterable[Paper]) -> None:
        """Record the papers' names, so that network sources' records of them map to the same papers."""
        with closing(CitationLists(self._store.folder)) as citation_lists:
            names = {paper.id: [*names_of(paper), *title_names(paper)] for paper in papers}
            citation_lists.add_names(names)

    def _link_citations(self) -> None:
        """Add a citation for every entry of a stored reference list that matches a paper of the store.

        They are added as edges, not as the paper's own reference list, since they are only the part of
        it that could be read from the file and is in the store.
        """
        cited = [(paper_id, self._index.find_cited(entry)) for paper_id, entry in self._texts.cited_works()]
        pairs = [(citing, cited_id) for citing, cited_id in cited if cited_id and cited_id != citing]
        stored = dict(zip(pairs, self._store.has([citing for citing, _ in pairs]), strict=True))
        self._store.add_citations([pair for pair in dict.fromkeys(pairs) if stored[pair]])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _outcome(ids: Sequence[str], problems: Sequence[Problem]) -> str:
    dumped = [problem.model_dump() for problem in problems]
    return json.dumps({"papers": list(dict.fromkeys(ids)), "problems": dumped})
