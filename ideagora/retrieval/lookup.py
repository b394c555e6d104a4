"""Looks up papers that a user or a data set names by id or title."""

from __future__ import annotations

from collections.abc import Iterable

from ideagora.retrieval.library import Library
from ideagora.retrieval.restrictions.cutoff import possible_ids, title_key
from ideagora.schema import Paper

_SEARCH_RESULTS = 5
"""Search results among which a title is looked up."""


async def find_papers(names: Iterable[str], library: Library) -> tuple[list[Paper], list[str]]:
    """The papers with these ids or titles, each once, and the names of those that the library does not have.

    Raises:
        SourceUnavailable: a source did not respond.
    """
    found: dict[str, Paper] = {}
    missing = []
    for name in names:
        paper = await find_paper(name, library)
        if paper is None:
            missing.append(name)
        else:
            found[paper.id] = paper
    return list(found.values()), missing


async def find_paper(name: str, library: Library) -> Paper | None:
    """The paper with an id (an arXiv id, a DOI, their addresses, or a source's own) or exactly this title."""
    for paper_id in possible_ids(name):
        paper = await library.paper(paper_id)
        if paper is not None:
            return paper
    if not title_key(name):
        return None
    results = await library.search(name, _SEARCH_RESULTS)
    return next(
        (result.paper for result in results if title_key(result.paper.title) == title_key(name)), None
    )
