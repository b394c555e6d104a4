"""Detects records of the same paper and merges them; used for web services and the user's files.

Records match by an id (arXiv, DOI, a source's own), otherwise by title with years at most one apart,
unless ids or authors contradict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.schema import Paper

_MIN_TITLE = 8
"""Characters of a title's key; shorter titles (“Preface”) are not distinctive."""
_DISTINCTIVE_TITLE = 16
"""Characters from which a title is distinctive without a year."""
_MIN_SIMILARITY = 0.5
"""Share of common characters from which on one title may be a correction of another."""
_MAX_COMPARED = 300
_STARTER = "starter"
"""The source whose abstracts are our summaries."""
_PRIORITY = {"pdf": 0, "bibtex": 1, "ris": 1, "csl": 1, "jsonl": 3}
_DEFAULT_PRIORITY = 2
"""For the starter corpus and web services."""
_ARXIV_DOI = "10.48550/arxiv."


KnownNames = Paper | PaperIdentity
"""What identifies a paper; the store's ``Names`` have neither authors nor further ids."""


def names_of(paper: KnownNames) -> list[str]:
    """The unique ids of a paper in the form of ``Paper.id``, preferred first."""
    names = [f"arxiv:{paper.arxiv_id.lower()}"] if paper.arxiv_id else []
    names += [f"doi:{paper.doi.lower()}"] if paper.doi else []
    return list(dict.fromkeys([*names, paper.id, *getattr(paper, "other_ids", ())]))


def title_names(paper: KnownNames) -> list[str]:
    """Lookup names from a paper's title: with its year, and without if the title is distinctive."""
    key = title_key(paper.title)
    if paper.date is None:
        return [f"titled:{key}:undated"] if len(key) >= _DISTINCTIVE_TITLE else []
    dated = [f"titled:{key}:{paper.date[:4]}"] if len(key) >= _MIN_TITLE else []
    return [*dated, f"titled:{key}:dated"] if len(key) >= _DISTINCTIVE_TITLE else dated


def near_title_names(paper: KnownNames) -> list[str]:
    """Title names of records that may be this paper: same year first, then adjacent years."""
    key = title_key(paper.title)
    undated = [f"titled:{key}:undated"] if len(key) >= _DISTINCTIVE_TITLE else []
    if paper.date is None:
        return [*undated, f"titled:{key}:dated"] if undated else []
    if len(key) < _MIN_TITLE:
        return []
    year = int(paper.date[:4])
    return [*(f"titled:{key}:{near}" for near in (year, year - 1, year + 1)), *undated]


def is_same_paper(record: KnownNames, other: KnownNames) -> bool:
    """Whether two records describe the same paper.

    Contradicting ids or disjoint authors override equal titles. DOIs assigned by arXiv contradict no
    other DOI, since a published preprint gets a second one.
    """
    if set(names_of(record)) & set(names_of(other)):
        return True
    key = title_key(record.title)
    if key != title_key(other.title) or not may_share_title(key, record.date, other.date):
        return False
    arxiv_ids = {paper.arxiv_id.lower() for paper in (record, other) if paper.arxiv_id}
    dois = {paper.doi.lower() for paper in (record, other) if paper.doi}
    published = {doi for doi in dois if not doi.startswith(_ARXIV_DOI)}
    return len(arxiv_ids) < 2 and len(published) < 2 and _may_share_author(record, other)


def may_share_title(key: str, date: str | None, other: str | None) -> bool:
    """Whether records with the same title key and these possibly partial dates may be one paper."""
    if date and other:
        return len(key) >= _MIN_TITLE and abs(int(date[:4]) - int(other[:4])) <= 1
    return len(key) >= _DISTINCTIVE_TITLE


def update_record(old: Paper | None, new: Paper) -> Paper:
    """Merge a new record into an old one of the same paper, under the old id.

    Where both have a value, the record with higher priority wins: JSON lines in our own format, then
    sources, then bibliographies, then PDFs. Of equal priority the new record wins, as a correction.
    """
    if old is None:
        return new
    references = {"references": _all_references(old, new)}
    if source_priority(new) >= source_priority(old):
        return old.model_copy(update={**_values(new), "id": old.id, **references})
    return new.model_copy(update={**_values(old), **references})


def replaces_title(new: Paper, known: Paper) -> bool:
    """Whether a record would replace a title from a source by one too different for a correction."""
    if known.source in _PRIORITY or source_priority(new) < source_priority(known):
        return False
    new_title, known_title = (title_key(paper.title)[:_MAX_COMPARED] for paper in (new, known))
    return (
        bool(new_title and known_title)
        and SequenceMatcher(None, new_title, known_title).ratio() < _MIN_SIMILARITY
    )


def merge_records(first: Paper, other: Paper) -> Paper:
    """Merge two records; values of the first take precedence.

    Summaries of the starter corpus are never presented as abstracts: if such a summary is the only text,
    the record keeps the starter corpus as its source.
    """
    if other.source == _STARTER and first.source != _STARTER and other.abstract and not first.abstract:
        return merge_records(other, first)
    fields = {
        name: getattr(other, name)
        for name in ("abstract", "venue", "arxiv_id", "doi", "pdf_url", "references", "thread")
        if getattr(first, name) is None
    }
    if first.citation_count is None:
        fields |= {"citation_count": other.citation_count, "citations_as_of": other.citations_as_of}
    fields |= {"title": first.title or other.title, "authors": first.authors or other.authors}
    fields["date"] = _more_precise(first.date, other.date)
    names = [*names_of(first), *names_of(other)]
    whole = first.model_copy(update=fields)
    best = names_of(whole)[0]
    own = (f"arxiv:{whole.arxiv_id}", f"doi:{whole.doi}", best)
    others = [name for name in dict.fromkeys(names) if name not in own and not name.startswith("title:")]
    return whole.model_copy(update={"id": best, "other_ids": tuple(others)})


def merge_papers(lists: Sequence[Sequence[Paper]]) -> list[Paper]:
    """Interleave ranked lists (all first, then all second papers, …) without duplicates."""
    papers: list[Paper] = []
    places: dict[str, int] = {}
    for paper in _interleave(lists):
        place = _place(paper, papers, places)
        if place is None:
            place = len(papers)
            papers.append(paper)
        else:
            papers[place] = merge_records(papers[place], paper)
        places |= dict.fromkeys([*names_of(papers[place]), *title_names(papers[place])], place)
    return papers


def _place(paper: Paper, papers: Sequence[Paper], places: dict[str, int]) -> int | None:
    """The index of a paper in the merged list, if it is there."""
    candidates = [name for name in [*names_of(paper), *near_title_names(paper)] if name in places]
    return next((places[name] for name in candidates if is_same_paper(papers[places[name]], paper)), None)


def _interleave(lists: Sequence[Sequence[Paper]]) -> Iterator[Paper]:
    for place in range(max(map(len, lists), default=0)):
        yield from (papers[place] for papers in lists if place < len(papers))


def _more_precise(first: str | None, other: str | None) -> str | None:
    """The first date, or the other if it refines the first."""
    if first is None or other is None:
        return first or other
    return other if other.startswith(first) else first


def _may_share_author(record: KnownNames, other: KnownNames) -> bool:
    names = [_name_parts(getattr(paper, "authors", ())) for paper in (record, other)]
    return not all(names) or bool(names[0] & names[1])


def _name_parts(authors: Iterable[str]) -> set[str]:
    return {part for author in authors for part in re.findall(r"\w{2,}", author.casefold())}


def _values(paper: Paper) -> dict[str, Any]:
    """The fields of a record that have a value."""
    return {
        name: value for name in type(paper).model_fields if (value := getattr(paper, name)) not in (None, ())
    }


def _all_references(old: Paper, new: Paper) -> tuple[str, ...] | None:
    if old.references is None or new.references is None:
        return new.references if old.references is None else old.references
    return tuple(dict.fromkeys([*old.references, *new.references]))


def source_priority(paper: Paper) -> int:
    """The priority of a record over others of the same paper."""
    return _PRIORITY.get(paper.source, _DEFAULT_PRIORITY)
