"""What a ban means in the literature at hand: the papers that it holds back, or that it holds back none."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from ideagora.errors import SourceUnavailable
from ideagora.retrieval.cutoff import LiteratureFilter, possible_ids, title_key
from ideagora.retrieval.http.client import NotCached
from ideagora.retrieval.protocols import Source
from ideagora.retrieval.run_notes import RunNotes
from ideagora.schema import Paper

_LOOKED_AT = 20
"""Search results among which a banned title is looked for."""
_SIMILAR = 0.6
"""Share of common characters from which on another title may be the one that was meant."""
_SHORTEST_PART = 4
"""Characters of the beginning of a title that may stand for all of it."""
_LONGEST_COMPARED = 300
"""Characters of a title that are compared."""


class Exclusion(NamedTuple):
    """A ban as it was looked up."""

    text: str
    papers: tuple[Paper, ...]
    """What it matches; none when nothing here is meant by it."""
    nearest: Paper | None = None
    """A paper with a similar title, where nothing matches."""


async def resolve_exclusion(text: str, source: Source) -> Exclusion | None:
    """A ban as the source knows it; ``None``: its title could not be looked up.

    Raises:
        SourceUnavailable: the source did not answer to an id, so what must be held back is not known.
    """
    known = [await source.paper(paper_id) for paper_id in possible_ids(text)]
    papers = tuple(paper for paper in known if paper)
    if papers:
        return Exclusion(text, papers)
    try:
        found = [one.paper for one in await source.search(text, _LOOKED_AT)]
    except (SourceUnavailable, NotCached):
        return None
    literature_filter = LiteratureFilter().narrow(None, [text])
    papers = tuple(paper for paper in found if literature_filter.excludes(paper))
    return Exclusion(text, papers, None if papers else _nearest(text, found))


def note_exclusion(exclusion: Exclusion, run_notes: RunNotes) -> None:
    """Tell what a ban holds back."""
    if exclusion.papers:
        told = ", ".join(f"“{paper.title}” ({paper.id})" for paper in exclusion.papers)
        run_notes.note("ban", exclusion.text, told)
    else:
        near = f"“{exclusion.nearest.title}” ({exclusion.nearest.id})" if exclusion.nearest else ""
        run_notes.note("ban missed", exclusion.text, near)


def _nearest(text: str, papers: list[Paper]) -> Paper | None:
    wanted = title_key(text)[:_LONGEST_COMPARED]

    def likeness(paper: Paper) -> float:
        title = title_key(paper.title)[:_LONGEST_COMPARED]
        if len(wanted) >= _SHORTEST_PART and title.startswith(wanted):  # a method's name, without the rest
            return 1.0
        return SequenceMatcher(None, wanted, title).ratio()

    best = max(papers, key=likeness, default=None)
    return best if best and likeness(best) >= _SIMILAR else None
