"""When two records are one paper, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ideagora.retrieval.guard import title_key
from ideagora.schema import Paper

_SHORTEST_TITLE = 8
"""Characters of a title's key: shorter ones (“Preface”) say nothing."""
_TELLING_TITLE = 16
_OURS = "starter"
"""The source whose abstracts are summaries of ours."""


def names_of(paper: Paper) -> list[str]:
    """Ids that only this paper can have, in the form of ``Paper.id``; the best known first."""
    names = [f"arxiv:{paper.arxiv_id}"] if paper.arxiv_id else []
    names += [f"doi:{paper.doi}"] if paper.doi else []
    return list(dict.fromkeys([*names, paper.id, *paper.other_ids]))


def title_names(paper: Paper, around: int = 0) -> list[str]:
    """Title with year, and with the years up to ``around`` before and after it.

    A paper without a year can only be one that has none elsewhere either, and only by a title that tells.
    """
    key = title_key(paper.title)
    if paper.date is None:
        return [f"titled:{key}:undated"] if len(key) >= _TELLING_TITLE else []
    if len(key) < _SHORTEST_TITLE:
        return []
    year = int(paper.date[:4])
    return [f"titled:{key}:{year + shift}" for shift in sorted(range(-around, around + 1), key=abs)]


def is_same(one: Paper, other: Paper) -> bool:
    """Whether two records are one paper: by an id, else by title and years that differ by one at most.

    Ids that contradict each other, or authors of whom none is the same, decide against the title.
    A DOI of arXiv's own contradicts no other, since a preprint gets a second one when it is published.
    """
    if set(names_of(one)) & set(names_of(other)):
        return True
    if not set(title_names(one)) & set(title_names(other, around=1)):
        return False
    if one.arxiv_id and other.arxiv_id and one.arxiv_id != other.arxiv_id:
        return False
    published = [p.doi for p in (one, other) if p.doi and not p.doi.startswith("10.48550/arxiv.")]
    return len(set(published)) < 2 and _may_share_author(one, other)


def united(first: Paper, other: Paper) -> Paper:
    """One record of two: the first counts, what it lacks comes from the other.

    The starter corpus's summaries never pass for a paper's abstract: where one of them is the only
    text, the record stays the starter corpus's.
    """
    if other.source == _OURS and first.source != _OURS and other.abstract and not first.abstract:
        return united(other, first)
    fields = {
        name: getattr(other, name)
        for name in ("abstract", "venue", "arxiv_id", "doi", "references", "thread")
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


def joined(lists: Sequence[Sequence[Paper]]) -> list[Paper]:
    """Several ranked lists as one: the first of each, then the second of each …; each paper once."""
    papers: list[Paper] = []
    places: dict[str, int] = {}
    for paper in _in_turn(lists):
        place = _place(paper, papers, places)
        if place is None:
            place = len(papers)
            papers.append(paper)
        else:
            papers[place] = united(papers[place], paper)
        places |= dict.fromkeys([*names_of(papers[place]), *title_names(papers[place])], place)
    return papers


def _place(paper: Paper, papers: Sequence[Paper], places: dict[str, int]) -> int | None:
    """Where the list has this paper already."""
    candidates = [name for name in [*names_of(paper), *title_names(paper, around=1)] if name in places]
    return next((places[name] for name in candidates if is_same(papers[places[name]], paper)), None)


def _in_turn(lists: Sequence[Sequence[Paper]]) -> Iterator[Paper]:
    for place in range(max(map(len, lists), default=0)):
        yield from (one[place] for one in lists if place < len(one))


def _fuller(first: str | None, other: str | None) -> str | None:
    """The first date, or the other where that says the same more exactly."""
    if first is None or other is None:
        return first or other
    return other if other.startswith(first) else first


def _may_share_author(one: Paper, other: Paper) -> bool:
    names = [_name_parts(paper.authors) for paper in (one, other)]
    return not all(names) or bool(names[0] & names[1])


def _name_parts(authors: Iterable[str]) -> set[str]:
    return {part for author in authors for part in re.findall(r"\w{2,}", author.casefold())}
