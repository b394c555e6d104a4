"""The papers that a sample of a benchmark supplies, with full texts as far as it has any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ideagora.schema import Paper

if TYPE_CHECKING:
    from ideagora.retrieval.store.fulltext import FullText


@dataclass(frozen=True)
class SuppliedText:
    """A full text that is read when it is needed, since those of all samples do not fit in memory."""

    digest: str
    """Changes with the text."""
    read: Callable[[], FullText | None]
    """Reads it, in a thread; ``None`` if it cannot be read any more."""


@dataclass(frozen=True)
class SamplePapers:
    """The papers of one sample."""

    papers: tuple[Paper, ...]
    texts: Mapping[str, SuppliedText] = field(default_factory=dict)
    """By paper id."""

    @property
    def identity(self) -> list[str]:
        """Changes with the papers and their texts."""
        digests = [f"{paper_id} {text.digest}" for paper_id, text in sorted(self.texts.items())]
        return [*(paper.model_dump_json() for paper in self.papers), *digests]

    def get(self, paper_id: str) -> FullText | None:
        """The full text of a paper; ``None`` if there is none."""
        text = self.texts.get(paper_id)
        return None if text is None else text.read()
