"""The starter corpus: real papers in connected threads, with our own summaries.

It ships with the package (``starter_papers/*.jsonl``, one file per thread, one paper per line), so that
the first idea needs neither network nor key.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ValidationError

from ideagora.errors import LibraryError
from ideagora.schema import Paper

_FOLDER = "starter_papers"


@dataclass(frozen=True)
class StarterCorpus:
    """The merged corpus."""

    papers: tuple[Paper, ...]
    """Each paper once, in the order of the files; references resolve within the corpus."""
    threads: Mapping[str, tuple[str, ...]]
    """Ids of each thread's papers, including those shared with other threads."""
    fingerprint: str
    """SHA-256 of the files; identifies the corpus in a store."""


@lru_cache(maxsize=1)
def starter_corpus() -> StarterCorpus:
    """The corpus of the package, read once.

    Raises:
        LibraryError: a line is invalid; the message names file and line.
    """
    folder = importlib.resources.files("ideagora.retrieval.corpus") / _FOLDER
    files = {entry.name: entry.read_text(encoding="utf-8") for entry in folder.iterdir()}
    return merge({name: text for name, text in files.items() if name.endswith(".jsonl")})


def merge(files: Mapping[str, str]) -> StarterCorpus:
    """Merge the files of the threads (name -> text) into one corpus.

    A paper in several threads keeps the record of the alphabetically first file, with the references of
    all. References outside the corpus, to the paper itself or to papers of a later month are dropped.

    Raises:
        LibraryError: a line is invalid; the message names file and line.
    """
    papers: dict[str, Paper] = {}
    threads: dict[str, dict[str, None]] = {}
    for name in sorted(files):
        for paper in _papers(name, files[name]):
            papers[paper.id] = _merge_references(papers.get(paper.id), paper)
            threads.setdefault(paper.thread or name, {})[paper.id] = None
    return StarterCorpus(
        papers=tuple(_with_valid_references(paper, papers) for paper in papers.values()),
        threads={thread: tuple(ids) for thread, ids in threads.items()},
        fingerprint=_fingerprint(files),
    )


def _papers(name: str, text: str) -> Iterator[Paper]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _paper(json.loads(line))
            except (ValueError, KeyError, TypeError, ValidationError) as error:
                reason = " ".join(str(error).split())[:200]
                raise LibraryError(
                    f"starter corpus, {name}, line {number}: {type(error).__name__}: {reason}. "
                    "Reinstall ideagora."
                ) from error


def _paper(line: object) -> Paper:
    if not isinstance(line, dict):
        raise TypeError("not an object")
    fields = {name: value for name, value in line.items() if name != "summary"}
    return Paper.model_validate({**fields, "abstract": line["summary"], "source": "starter"})


def _merge_references(first: Paper | None, paper: Paper) -> Paper:
    if first is None:
        return paper
    references = dict.fromkeys([*(first.references or ()), *(paper.references or ())])
    return first.model_copy(update={"references": tuple(references)})


def _with_valid_references(paper: Paper, papers: Mapping[str, Paper]) -> Paper:
    """The paper with its references to papers of the corpus that are not from a later month."""
    cited = [papers[i] for i in paper.references or () if i in papers and i != paper.id]
    references = [other.id for other in cited if _is_not_later(other, paper)]
    return paper.model_copy(update={"references": tuple(dict.fromkeys(references))})


def _is_not_later(cited: Paper, citing: Paper) -> bool:
    return cited.date is not None and citing.date is not None and cited.date[:7] <= citing.date[:7]


def _fingerprint(files: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\x1f{files[name]}\x1e".encode())
    return digest.hexdigest()
