"""Which records are one paper: by DOI, by arXiv id, or by title with years that differ by at most one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from ideagora.retrieval.guard import title_key
from ideagora.retrieval.records import Names
from ideagora.retrieval.texts import Cited
from ideagora.schema import Paper

_TELLING_CHARACTERS = 16
"""A shorter title (“Editorial”, “Results”) tells nothing where a year is missing."""
_SHORTEST_PIECE = 12
"""Characters of a piece of a reference that can be a title; shorter ones are names and places."""
_RANKS = {"pdf": 0, "bibtex": 1, "ris": 1, "csl": 1, "jsonl": 3}
_OTHER_RANK = 2
"""Records of the starter corpus and of sources on the network."""
_SENTENCE = re.compile(r"[“”\"]|(?<=[.?!])\s+|,\s+[”\"]|\)[.,]\s+|(?<=\d{4})[.,:]\s+")


class Known:
    """All papers of a store by what they go by."""

    def __init__(self, names: Iterable[Names]) -> None:
        self._by_name: dict[str, str] = {}
        self._by_title: dict[str, list[Names]] = {}
        for one in names:
            self.learn(one)

    def learn(self, one: Names) -> None:
        """Take in a paper, or what is new of one."""
        for key in _keys(one.arxiv_id, one.doi):
            self._by_name.setdefault(key, one.id)
        self._by_name[one.id] = one.id
        same_title = self._by_title.setdefault(title_key(one.title), [])
        same_title[:] = [other for other in same_title if other.id != one.id] + [one]

    def find(self, paper: Paper) -> str | None:
        """The id under which a paper is known."""
        for key in (*_keys(paper.arxiv_id, paper.doi), paper.id):
            if key in self._by_name:
                return self._by_name[key]
        found = self._by_title.get(title_key(paper.title), [])
        return next((other.id for other in found if _is_same(other, paper)), None)

    def find_id(self, name: str) -> str:
        """The id under which the paper is known that another id (``doi:…``, ``arxiv:…``) names."""
        return self._by_name.get(name, name)

    def find_cited(self, cited: Cited) -> str | None:
        """The paper that an entry of a list of references means."""
        for key in _keys(cited.arxiv_id, cited.doi):
            if key in self._by_name:
                return self._by_name[key]
        for key in _possible_titles(cited.text):
            for other in self._by_title.get(key, []):
                if _is_near(other.date, cited.year, key):
                    return other.id
        return None


def names_of(paper: Paper) -> Names:
    """What a record goes by."""
    return Names(paper.id, paper.title, paper.date, paper.arxiv_id, paper.doi)


def united(old: Paper | None, new: Paper) -> Paper:
    """One record of two of the same paper, under the old one's id.

    The record that is worth more counts where both say something: one in our own fields before those
    of sources, these before other bibliographies, and what was read off a PDF last. Of equals the new
    one counts, since it may be a correction.
    """
    if old is None:
        return new
    if _rank(new) >= _rank(old):
        return old.model_copy(update={**_said(new), "id": old.id, "references": _all_references(old, new)})
    said = _said(old)
    return new.model_copy(update={**said, "references": _all_references(old, new)})


def _said(paper: Paper) -> dict[str, Any]:
    """What a record says: ``None`` and empty fields say nothing."""
    return {
        name: value for name in type(paper).model_fields if (value := getattr(paper, name)) not in (None, ())
    }


def _all_references(old: Paper, new: Paper) -> tuple[str, ...] | None:
    if old.references is None or new.references is None:
        return new.references if old.references is None else old.references
    return tuple(dict.fromkeys([*old.references, *new.references]))


def _rank(paper: Paper) -> int:
    return _RANKS.get(paper.source, _OTHER_RANK)


def _keys(arxiv_id: str | None, doi: str | None) -> Iterator[str]:
    if arxiv_id:
        yield f"arxiv:{arxiv_id.lower()}"
    if doi:
        yield f"doi:{doi.lower()}"


def _is_same(known: Names, paper: Paper) -> bool:
    """Whether two records with one title are one paper; two DOIs or two arXiv ids are two papers."""
    for one, other in ((known.doi, paper.doi), (known.arxiv_id, paper.arxiv_id)):
        if one and other and one.lower() != other.lower():
            return False
    return _is_near(known.date, paper.date, title_key(paper.title))


def _is_near(date: str | None, other: str | None, key: str) -> bool:
    if date and other:
        return abs(int(date[:4]) - int(other[:4])) <= 1
    return len(key) >= _TELLING_CHARACTERS


def _possible_titles(entry: str) -> Iterator[str]:
    """Keys of what may be the title in an entry: each piece between points and quotes, and two in a row."""
    pieces = [key for piece in _SENTENCE.split(entry) if (key := title_key(piece))]
    yield from (key for key in pieces if len(key) >= _SHORTEST_PIECE)
    yield from (first + second for first, second in pairwise(pieces))
    whole = title_key(entry)
    if whole not in pieces:
        yield whole
