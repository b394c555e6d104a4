"""All papers of a store by what they go by, so that a record, or an entry of a list, finds its paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ideagora.retrieval.corpus.dedup import KnownNames, is_same_paper, may_share_title
from ideagora.retrieval.cutoff import title_key
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.retrieval.store.fulltext import CitedWork
from ideagora.schema import Paper

_MIN_TITLE_PIECE = 12
"""Characters of a piece of a reference that can be a title; shorter ones are names and places."""
_SENTENCE = re.compile(r"[“”\"]|(?<=[.?!])\s+|,\s+[”\"]|\)[.,]\s+|(?<=\d{4})[.,:]\s+")


class PaperIndex:
    """An index of papers by ids and titles."""

    def __init__(self, names: Iterable[PaperIdentity]) -> None:
        self._by_name: dict[str, str] = {}
        self._by_title: dict[str, list[KnownNames]] = {}
        for one in names:
            self.add(one)

    def add(self, one: KnownNames) -> None:
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
        return next((other.id for other in found if is_same_paper(other, paper)), None)

    def find_id(self, name: str) -> str:
        """The id under which the paper is known that another id (``doi:…``, ``arxiv:…``) names."""
        return self._by_name.get(name, name)

    def find_cited(self, cited: CitedWork) -> str | None:
        """The paper that an entry of a list of references means."""
        for key in _keys(cited.arxiv_id, cited.doi):
            if key in self._by_name:
                return self._by_name[key]
        for key in _possible_titles(cited.text):
            for other in self._by_title.get(key, []):
                if may_share_title(key, other.date, cited.year):
                    return other.id
        return None


def identity_of(paper: Paper) -> PaperIdentity:
    """What a record goes by, as the store tells it."""
    return PaperIdentity(paper.id, paper.title, paper.date, paper.arxiv_id, paper.doi)


def _keys(arxiv_id: str | None, doi: str | None) -> Iterator[str]:
    if arxiv_id:
        yield f"arxiv:{arxiv_id.lower()}"
    if doi:
        yield f"doi:{doi.lower()}"


def _possible_titles(entry: str) -> Iterator[str]:
    """Keys of what may be the title in an entry: each piece between points and quotes, and two in a row."""
    pieces = [key for piece in _SENTENCE.split(entry) if (key := title_key(piece))]
    yield from (key for key in pieces if len(key) >= _MIN_TITLE_PIECE)
    yield from (first + second for first, second in pairwise(pieces))
    whole = title_key(entry)
    if whole not in pieces:
        yield whole
