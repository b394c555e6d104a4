"""Protocols of literature sources: what every source offers, and what some offer in addition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from ideagora.schema import Paper, ScoredPaper

MAX_NEIGHBORS = 1_000
"""References or citations of one paper that are read at most."""


class Source(Protocol):
    """A source of literature. Nothing found is an empty list (or ``None``); no answer is an error.

    Every method raises ``SourceUnavailable`` when the source did not answer. A source knows nothing of
    cut-off dates and bans: the library applies them to whatever comes from here.
    """

    name: str

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """Up to k papers, best first, each with its cosine similarity to the query."""
        ...

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        ...

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers that one cites."""
        ...

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers that cite one."""
        ...

    async def disconnect(self) -> None:
        """Close connections, if there are any; the source stays usable."""
        ...


@runtime_checkable
class SupportsCutoff(Protocol):
    """A source that can leave out late papers itself, so that an early cut-off takes no long way."""

    async def search_before(self, query: str, k: int, cutoff: str) -> list[ScoredPaper]:
        """As ``search``, of papers that are surely older than a day (YYYY-MM-DD)."""
        ...


@runtime_checkable
class SupportsListing(Protocol):
    """A source that has an end: all its papers are at hand."""

    def all_papers(self) -> list[Paper]:
        """Every paper, by id."""
        ...


@runtime_checkable
class SupportsRecommendations(Protocol):
    """What a source may do beyond that."""

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers that are recommended to readers of one; ``None``: the source cannot tell."""
        ...

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year, where they are told; ``None``: the source cannot tell."""
        ...


@runtime_checkable
class SupportsWords(Protocol):
    """A source that has all its papers at hand."""

    async def words(self) -> frozenset[str]:
        """The words of all papers' titles and abstracts, in lower case."""
        ...


class Neighbors(NamedTuple):
    """References or citations as one source tells them."""

    papers: list[Paper]
    cut: bool = False
    """There are more than we read."""


class RemoteSource(Protocol):
    """A source of literature on the network.

    Its lists are in its own order, best first; what it finds may lack abstract, date, even a title
    (then the title is empty). Every method raises ``SourceUnavailable`` when it did not answer.
    """

    name: str
    prefixes: tuple[str, ...]
    """Beginnings of the ids that it understands, the one it likes best first."""
    has_citations: bool
    """Whether it knows references and citations at all."""

    async def search(self, query: str, k: int) -> list[Paper]:
        """Up to k papers; there may be fewer, since a service has bounds of its own."""
        ...

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        ...

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids, by id, in as few requests as can be; unknown ones are left out."""
        ...

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that one cites."""
        ...

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite one."""
        ...

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Up to k papers that the source recommends to readers of one; ``None``: it cannot tell."""
        ...

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations of a paper by year, those years that the source tells; ``None``: it cannot tell."""
        ...

    async def disconnect(self) -> None:
        """Close connections; the source stays usable."""
        ...


class NoRecommendations:
    """Answers for a source that neither recommends papers nor counts citations by year."""

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """``None``: it cannot tell."""
        return None

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """``None``: it cannot tell."""
        return None
