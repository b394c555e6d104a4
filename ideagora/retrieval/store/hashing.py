"""The text of a paper that is embedded, and its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from ideagora.schema import Paper

T = TypeVar("T")


def paper_text(paper: Paper) -> str:
    """The text that is embedded for a paper: title and abstract."""
    return f"{paper.title}\n{paper.abstract}" if paper.abstract else paper.title


def content_hash(paper: Paper) -> str:
    """SHA-256 of the embedded text; the vector is kept while it stays the same."""
    return hashlib.sha256(paper_text(paper).encode("utf-8", "surrogatepass")).hexdigest()


def content_hashes(papers: Iterable[Paper]) -> dict[str, str]:
    """Content hashes by paper id."""
    return {paper.id: content_hash(paper) for paper in papers}


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split a sequence into batches of ``size`` items; the last may be shorter."""
    return (items[start : start + size] for start in range(0, len(items), size))
