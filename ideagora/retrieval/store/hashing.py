"""The text that stands for a paper, and its hash: what a vector is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ideagora.schema import Paper

T = TypeVar("T")


def paper_text(paper: Paper) -> str:
    """The text that stands for a paper when it is embedded: title and abstract."""
    return f"{paper.title}\n{paper.abstract}" if paper.abstract else paper.title


def content_hash(paper: Paper) -> str:
    """SHA-256 of the embedded text: as long as it stays, so does the vector."""
    return hashlib.sha256(paper_text(paper).encode("utf-8", "surrogatepass")).hexdigest()


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """A sequence in pieces of a length."""
    return (items[start : start + size] for start in range(0, len(items), size))
