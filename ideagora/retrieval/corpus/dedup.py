"""The one rule of when two records are one paper, and what becomes of them.

By an id (arXiv, DOI, a source's own); else by title with years that differ by one at most, when no id
and no list of authors speaks against it. Sources on the network and one's own files go by it alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from ideagora.retrieval.cutoff import title_key
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.schema import Paper

_SHORTEST_TITLE = 8
"""Characters of a title's key: shorter ones (“Preface”) say nothing."""
_TELLING_TITLE = 16
"""Characters from which a title tells enough where a year is missing."""
_ALIKE = 0.5
"""Share of common characters from which on one title may be a correction of another."""
_LONGEST_COMPARED = 300
_OURS = "starter"
"""The source whose abstracts are summaries of ours."""
_WORTH = {"pdf": 0, "bibtex": 1, "ris": 1, "csl": 1, "jsonl": 3}
_OTHER_WORTH = 2
"""Of records of the starter corpus and of sources on the network."""
_ARXIV_DOI = "10.48550/arxiv."


KnownNames = Paper | PaperIdentity
"""What tells one paper from another; the store's names have no authors and no further ids."""


def names_of(paper: KnownNames) -> list[str]:
    """Ids that only this paper can have, in the form of ``Paper.id``; the best known first."""
    names = [f"arxiv:{paper.arxiv_id.lower()}"] if paper.arxiv_id else []
    names += [f"doi:{paper.doi.lower()}"] if paper.doi else []
    return list(dict.fromkeys([*names, paper.id, *getattr(paper, "other_ids", ())]))


def title_names(paper: KnownNames) -> list[str]:
    """The names that a paper has by its title: with its year, and without one where the title tells."""
    key = title_key(paper.title)
    if paper.date is None:
        return [f"titled:{key}:undated"] if len(key) >= _TELLING_TITLE else []
    dated = [f"titled:{key}:{paper.date[:4]}"] if len(key) >= _SHORTEST_TITLE else []
    return [*dated, f"titled:{key}:dated"] if len(key) >= _TELLING_TITLE else dated


def near_title_names(paper: KnownNames) -> list[str]:
    """The names by their titles of papers that may be this one: its year first, then those beside it."""
    key = title_key(paper.title)
    undated = [f"titled:{key}:undated"] if len(key) >= _TELLING_TITLE else []
    if paper.date is None:
        return [*undated, f"titled:{key}:dated"] if undated else []
    if len(key) < _SHORTEST_TITLE:
        return []
    year = int(paper.date[:4])
    return [*(f"titled:{key}:{near}" for near in (year, year - 1, year + 1)), *undated]


def is_same_paper(one: KnownNames, other: KnownNames) -> bool:
    """Whether two records are one paper.

    Ids that contradict each other, or authors of whom none is the same, decide against the title.
    A DOI of arXiv's own contradicts no other, since a preprint gets a second one when it is published.
    """
    if set(names_of(one)) & set(names_of(other)):
        return True
    key = title_key(one.title)
    if key != title_key(other.title) or not may_share_title(key, one.date, other.date):
        return False
    arxiv_ids = {paper.arxiv_id.lower() for paper in (one, other) if paper.arxiv_id}
    dois = {paper.doi.lower() for paper in (one, other) if paper.doi}
    published = {doi for doi in dois if not doi.startswith(_ARXIV_DOI)}
    return len(arxiv_ids) < 2 and len(published) < 2 and _may_share_author(one, other)


def may_share_title(key: str, date: str | None, other: str | None) -> bool:
    """Whether one title (its key) can be one paper's with these two dates, possibly partial."""
    if date and other:
        return len(key) >= _SHORTEST_TITLE and abs(int(date[:4]) - int(other[:4])) <= 1
    return len(key) >= _TELLING_TITLE


def update_record(old: Paper | None, new: Paper) -> Paper:
    """One record of two of the same paper, under the old one's id.

    The record that is worth more counts where both say something: one in our own fields before those
    of sources, these before other bibliographies, and what was read off a PDF last. Of equals the new
    one counts, since it may be a correction.
    """
    if old is None:
        return new
    references = {"references": _all_references(old, new)}
    if source_priority(new) >= source_priority(old):
        return old.model_copy(update={**_said(new), "id": old.id, **references})
    return new.model_copy(update={**_said(old), **references})


def replaces_title(new: Paper, known: Paper) -> bool:
    """Whether a record would give a paper that a source told another title, which no correction explains."""
    if known.source in _WORTH or source_priority(new) < source_priority(known):
        return False
    said, here = (title_key(paper.title)[:_LONGEST_COMPARED] for paper in (new, known))
    return bool(said and here) and SequenceMatcher(None, said, here).ratio() < _ALIKE


def merge_records(first: Paper, other: Paper) -> Paper:
    """One record of two: the first counts, what it lacks comes from the other.

    The starter corpus's summaries never pass for a paper's abstract: where one of them is the only
    text, the record stays the starter corpus's.
    """
    if other.source == _OURS and first.source != _OURS and other.abstract and not first.abstract:
        return merge_records(other, first)
    fields = {
        name: getattr(other, name)
        for name in ("abstract", "venue", "arxiv_id", "doi", "pdf_url", "references", "thread")
        if getattr(first, name) is None
    }
    if first.citation_count is None:
        fields |= {"citation_count": other.citation_count, "citations_as_of": other.citations_as_of}
    fields |= {"title": first.title or other.title, "authors": first.authors or other.authors}
    fields["date"] = _fuller(first.date, other.date)
    names = [*names_of(first), *names_of(other)]
    whole = first.model_copy(update=fields)
    best = names_of(whole)[0]
    own = (f"arxiv:{whole.arxiv_id}", f"doi:{whole.doi}", best)
    others = [name for name in dict.fromkeys(names) if name not in own and not name.startswith("title:")]
    return whole.model_copy(update={"id": best, "other_ids": tuple(others)})


def merge_papers(lists: Sequence[Sequence[Paper]]) -> list[Paper]:
    """Several ranked lists as one: the first of each, then the second of each …; each paper once."""
    papers: list[Paper] = []
    places: dict[str, int] = {}
    for paper in _in_turn(lists):
        place = _place(paper, papers, places)
        if place is None:
            place = len(papers)
            papers.append(paper)
        else:
            papers[place] = merge_records(papers[place], paper)
        places |= dict.fromkeys([*names_of(papers[place]), *title_names(papers[place])], place)
    return papers


def _place(paper: Paper, papers: Sequence[Paper], places: dict[str, int]) -> int | None:
    """Where the list has this paper already."""
    candidates = [name for name in [*names_of(paper), *near_title_names(paper)] if name in places]
    return next((places[name] for name in candidates if is_same_paper(papers[places[name]], paper)), None)


def _in_turn(lists: Sequence[Sequence[Paper]]) -> Iterator[Paper]:
    for place in range(max(map(len, lists), default=0)):
        yield from (one[place] for one in lists if place < len(one))


def _fuller(first: str | None, other: str | None) -> str | None:
    """The first date, or the other where that says the same more exactly."""
    if first is None or other is None:
        return first or other
    return other if other.startswith(first) else first


def _may_share_author(one: KnownNames, other: KnownNames) -> bool:
    names = [_name_parts(getattr(paper, "authors", ())) for paper in (one, other)]
    return not all(names) or bool(names[0] & names[1])


def _name_parts(authors: Iterable[str]) -> set[str]:
    return {part for author in authors for part in re.findall(r"\w{2,}", author.casefold())}


def _said(paper: Paper) -> dict[str, Any]:
    """What a record says: ``None`` and empty fields say nothing."""
    return {
        name: value for name in type(paper).model_fields if (value := getattr(paper, name)) not in (None, ())
    }


def _all_references(old: Paper, new: Paper) -> tuple[str, ...] | None:
    if old.references is None or new.references is None:
        return new.references if old.references is None else old.references
    return tuple(dict.fromkeys([*old.references, *new.references]))


def source_priority(paper: Paper) -> int:
    """How much a record counts against another one of the same paper."""
    return _WORTH.get(paper.source, _OTHER_WORTH)
