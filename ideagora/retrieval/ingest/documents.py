"""What a reader finds in a file: documents, and problems that have a name."""

from __future__ import annotations

from ideagora.retrieval.store.fulltext import CitedWork, FullText
from ideagora.schema import Paper, Record


class Problem(Record):
    """Something that could not be read. The rest was."""

    path: str
    place: str | None = None
    """``line 12``, ``page 3``, ``item 4``; ``None``: the whole file."""
    what: str
    step: str
    """What to do about it."""

    def __str__(self) -> str:
        where = f"{self.path}, {self.place}" if self.place else self.path
        return f"{where}: {self.what}. {self.step}"


class Document(Record):
    """One paper, with what the file told beyond its record."""

    paper: Paper
    full_text: FullText | None = None
    cited: tuple[CitedWork, ...] | None = None
    """The list of references as printed; ``None``: the file has none."""
    note: str | None = None
    """What was left out though it could have been read."""
    done: float = 1.0
    """Part of the file (0 to 1) that is read with this document."""


ReadResult = Document | Problem
