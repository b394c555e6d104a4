"""Papers, and what is read from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from ideagora.schema.base import Record, checked_date


class Paper(Record):
    """One record of the literature."""

    id: str
    """``arxiv:<id>``, ``doi:<doi>`` or a source's own ``<source>:<id>``."""
    title: str
    abstract: str | None = None
    """Abstract, or in the starter corpus our own summary; ``None`` if the source has none."""
    authors: tuple[str, ...] = ()
    date: str | None = None
    """ISO date, possibly partial (YYYY or YYYY-MM)."""
    venue: str | None = None
    arxiv_id: str | None = None
    doi: str | None = None
    pdf_url: str | None = None
    """Link to an open-access PDF, as reported by a source; not verified."""
    other_ids: tuple[str, ...] = ()
    """Ids in other sources (``s2:…``, ``openalex:…``)."""
    citation_count: int | None = None
    citations_as_of: str | None = None
    references: tuple[str, ...] | None = None
    """Ids of the papers that this one cites, as far as known; ``None`` if they were not requested."""
    source: str = "unknown"
    thread: str | None = None
    """The paper's thread in the starter corpus, if it comes from there."""

    @field_validator("date")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return checked_date(value)

    @property
    def year(self) -> str:
        """Year for display; ``n.d.`` if the date is unknown."""
        return self.date[:4] if self.date else "n.d."

    @property
    def url(self) -> str | None:
        """The paper's web page, if it has an arXiv id or a DOI."""
        if self.arxiv_id:
            return f"https://arxiv.org/abs/{self.arxiv_id}"
        return f"https://doi.org/{self.doi}" if self.doi else None


class ScoredPaper(Record):
    """A paper with its cosine similarity to the query, -1 to 1."""

    paper: Paper
    similarity: float = Field(allow_inf_nan=False)


class Entity(Record):
    """A model, data set, metric or technique, with its description in the paper."""

    name: str
    description: str
    kind: Literal["model", "dataset", "metric", "technique", "other"] = "other"


class Reading(Record):
    """What the reader extracted from one paper (Chain of Ideas, Tables 10 and 11)."""

    method: str
    problem: str | None = None
    why_it_works: str | None = None
    details: str | None = None
    """What is needed to rebuild it."""
    finding: str | None = None
    limitation: str | None = None
    experiment: str | None = None
    entities: tuple[Entity, ...] = ()
    read_from: Literal["full text", "abstract", "our summary", "title"] = "abstract"
