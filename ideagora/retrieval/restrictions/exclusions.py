"""Looks up which papers an exclusion (an id or a title) matches."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from ideagora.errors import SourceUnavailable
from ideagora.retrieval.http.cache import NotCached
from ideagora.retrieval.protocols import Source
from ideagora.retrieval.restrictions.cutoff import LiteratureFilter, possible_ids, title_key
from ideagora.retrieval.retrieval_log import RetrievalLog
from ideagora.schema import Paper

_SEARCH_RESULTS = 20
"""Search results among which an excluded title is looked up."""
_MIN_SIMILARITY = 0.6
"""Share of common characters from which another title is suggested."""
_MIN_PREFIX = 4
"""Characters from which the beginning of a title is enough to suggest it."""
_MAX_COMPARED = 300
"""Characters of a title that are compared."""


class Exclusion(NamedTuple):
    """An exclusion and the papers that it matches."""

    text: str
    papers: tuple[Paper, ...]
    nearest: Paper | None = None
    """The paper with the most similar title, if none matches."""

    @property
    def names(self) -> list[str]:
        """The titles and ids of the papers, since other records of them may carry only some."""
        fields = [field for paper in self.papers for field in (paper.title, paper.arxiv_id, paper.doi)]
        return [field for field in fields if field]


async def resolve_exclusion(text: str, source: Source) -> Exclusion | None:
    """Look up an exclusion in a source; ``None`` if its title could not be searched.

    Raises:
        SourceUnavailable: an id could not be looked up, so the papers to exclude are not known.
    """
    records = [await source.paper(paper_id) for paper_id in possible_ids(text)]
    papers = tuple(paper for paper in records if paper)
    if papers:
        return Exclusion(text, papers)
    try:
        results = [result.paper for result in await source.search(text, _SEARCH_RESULTS)]
    except (SourceUnavailable, NotCached):
        return None
    literature_filter = LiteratureFilter().narrow(None, [text])
    papers = tuple(paper for paper in results if literature_filter.excludes(paper))
    return Exclusion(text, papers, None if papers else _nearest(text, results))


def note_exclusion(exclusion: Exclusion, log: RetrievalLog) -> None:
    """Note which papers an exclusion matches."""
    if exclusion.papers:
        matches = ", ".join(f"“{paper.title}” ({paper.id})" for paper in exclusion.papers)
        log.note("ban", exclusion.text, matches)
    else:
        nearest = exclusion.nearest
        log.note("ban missed", exclusion.text, f"“{nearest.title}” ({nearest.id})" if nearest else "")


def _nearest(text: str, papers: list[Paper]) -> Paper | None:
    key = title_key(text)[:_MAX_COMPARED]

    def similarity(paper: Paper) -> float:
        title = title_key(paper.title)[:_MAX_COMPARED]
        if len(key) >= _MIN_PREFIX and title.startswith(key):  # a method's name without the rest
            return 1.0
        return SequenceMatcher(None, key, title).ratio()

    best = max(papers, key=similarity, default=None)
    return best if best and similarity(best) >= _MIN_SIMILARITY else None
