"""Results of reading a file: documents and problems."""

from __future__ import annotations

from ideagora.retrieval.store.fulltext import CitedWork, FullText
from ideagora.schema import Paper, Record


class Problem(Record):
    """A part of a file, or a whole file, that could not be read."""

    path: str
    place: str | None = None
    """``line 12``, ``page 3`` or ``item 4``; ``None``: the whole file."""
    what: str
    step: str
    """How to fix it."""

    def __str__(self) -> str:
        where = f"{self.path}, {self.place}" if self.place else self.path
        return f"{where}: {self.what}. {self.step}"


class Document(Record):
    """One paper, with its full text and reference list if the file has them."""

    paper: Paper
    full_text: FullText | None = None
    cited: tuple[CitedWork, ...] | None = None
    """The reference list as printed; ``None``: the file has none."""
    note: str | None = None
    """Which parts of the file were not read."""
    done: float = 1.0
    """Fraction of the file read up to and including this document."""


ReadResult = Document | Problem
