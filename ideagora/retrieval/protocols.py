"""Protocols of literature sources: what every source offers, and what some offer in addition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from ideagora.schema import Paper, ScoredPaper

MAX_NEIGHBORS = 1_000
"""Maximum number of references or citations read per paper."""


class Source(Protocol):
    """A source of literature. If nothing is found, methods return an empty list (or ``None``).

    Every method raises ``SourceUnavailable`` if the source did not respond. Sources ignore cut-off dates
    and exclusions; the library applies them to all results.
    """

    name: str

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """Up to k papers, best first, each with its cosine similarity to the query."""
        ...

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        ...

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers that a paper cites."""
        ...

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers that cite a paper."""
        ...

    async def disconnect(self) -> None:
        """Close connections, if any; the source stays usable."""
        ...


@runtime_checkable
class SupportsCutoff(Protocol):
    """A source that can filter by date itself, which makes early cut-offs efficient."""

    async def search_before(self, query: str, k: int, cutoff: str) -> list[ScoredPaper]:
        """As ``search``, restricted to papers certainly older than a day (YYYY-MM-DD)."""
        ...


@runtime_checkable
class SupportsListing(Protocol):
    """A source that can list all its papers."""

    def all_papers(self) -> list[Paper]:
        """All papers, ordered by id."""
        ...


@runtime_checkable
class SupportsRecommendations(Protocol):
    """A source that may recommend papers and count citations by year."""

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers recommended to readers of a paper; ``None`` if not supported."""
        ...

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year, as far as known; ``None`` if not supported."""
        ...


@runtime_checkable
class SupportsPrefetch(Protocol):
    """A source that can fetch what will be asked for soon.

    What cannot be fetched is left to the later calls, so no method raises ``SourceUnavailable``.
    """

    async def prefetch(self, papers: Sequence[Paper]) -> list[Paper]:
        """Fetch references and citations of papers in few requests; returns those, paper by paper."""
        ...

    async def prefetch_search(self, query: str, k: int) -> list[Paper]:
        """Fetch and return the results of a search."""
        ...


@runtime_checkable
class SupportsWords(Protocol):
    """A source that can list the words of its papers."""

    async def words(self) -> frozenset[str]:
        """The words of all titles and abstracts, in lower case."""
        ...


class Neighbors(NamedTuple):
    """References or citations of a paper, from one source."""

    papers: list[Paper]
    truncated: bool = False
    """Whether the source has more than were read."""


class RemoteSource(Protocol):
    """A source of literature on the network.

    Lists are in the source's order, best first. Papers may lack abstract, date and title (then "").
    Every method raises ``SourceUnavailable`` if the source did not respond.
    """

    name: str
    prefixes: tuple[str, ...]
    """Prefixes of the ids that it understands, preferred first."""
    has_citations: bool
    """Whether it offers references and citations."""

    async def search(self, query: str, k: int) -> list[Paper]:
        """Up to k papers; services may limit the number further."""
        ...

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        ...

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids, by id, in as few requests as possible; unknown ids are omitted."""
        ...

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that a paper cites."""
        ...

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite a paper."""
        ...

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers recommended to readers of a paper; ``None`` if not supported."""
        ...

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year, for the years known; ``None`` if not supported."""
        ...

    async def disconnect(self) -> None:
        """Close connections; the source stays usable."""
        ...


@runtime_checkable
class SupportsBatches(Protocol):
    """A source on the network that caches its responses and fetches lists of several papers together."""

    name: str
    prefixes: tuple[str, ...]

    async def search(self, query: str, k: int) -> list[Paper]:
        """As ``RemoteSource``."""
        ...

    async def prefetch(self, papers: Mapping[str, Paper]) -> None:
        """Fetch and cache the lists of papers, by the id that the source understands, most important first.

        Raises:
            SourceUnavailable: the source did not respond.
        """
        ...


class NoRecommendations:
    """Mixin for sources that neither recommend papers nor count citations by year."""

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """``None``: not supported."""
        return None

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """``None``: not supported."""
        return None
