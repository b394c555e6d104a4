"""The starter corpus: real papers in connected threads, with summaries in our own words.

It ships in the package (``starter/*.jsonl``, one file a thread, one paper a line), so that the
first idea needs neither a network nor a key.
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
    """Ids of each thread's papers, also of those that another thread has first."""
    fingerprint: str
    """SHA-256 over the files: tells a store whether it holds this corpus."""


@lru_cache(maxsize=1)
def starter_corpus() -> StarterCorpus:
    """The corpus that ships in the package, read once.

    Raises:
        LibraryError: a line cannot be read; names file and line.
    """
    folder = importlib.resources.files("ideagora.retrieval.corpus") / _FOLDER
    files = {entry.name: entry.read_text(encoding="utf-8") for entry in folder.iterdir()}
    return merge({name: text for name, text in files.items() if name.endswith(".jsonl")})


def merge(files: Mapping[str, str]) -> StarterCorpus:
    """Make one corpus of the threads' files (name -> text).

    A paper of two threads is one paper: the record of the file that comes first in the alphabet, with
    the references of both. A reference is dropped when it leads out of the corpus, to the paper
    itself, or to a paper of a later month.

    Raises:
        LibraryError: a line cannot be read; names file and line.
    """
    papers: dict[str, Paper] = {}
    threads: dict[str, dict[str, None]] = {}
    for name in sorted(files):
        for paper in _papers(name, files[name]):
            papers[paper.id] = _united(papers.get(paper.id), paper)
            threads.setdefault(paper.thread or name, {})[paper.id] = None
    return StarterCorpus(
        papers=tuple(_resolved(paper, papers) for paper in papers.values()),
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
                    "Install ideagora anew."
                ) from error


def _paper(line: object) -> Paper:
    if not isinstance(line, dict):
        raise TypeError("not an object")
    fields = {name: value for name, value in line.items() if name != "summary"}
    return Paper.model_validate({**fields, "abstract": line["summary"], "source": "starter"})


def _united(first: Paper | None, paper: Paper) -> Paper:
    if first is None:
        return paper
    references = dict.fromkeys([*(first.references or ()), *(paper.references or ())])
    return first.model_copy(update={"references": tuple(references)})


def _resolved(paper: Paper, papers: Mapping[str, Paper]) -> Paper:
    """The paper with the references that lead to an earlier (or the same month's) paper of the corpus."""
    cited = [papers[i] for i in paper.references or () if i in papers and i != paper.id]
    kept = [other.id for other in cited if _is_not_later(other, paper)]
    return paper.model_copy(update={"references": tuple(dict.fromkeys(kept))})


def _is_not_later(cited: Paper, citing: Paper) -> bool:
    return cited.date is not None and citing.date is not None and cited.date[:7] <= citing.date[:7]


def _fingerprint(files: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\x1f{files[name]}\x1e".encode())
    return digest.hexdigest()
