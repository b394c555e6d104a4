"""An index of a store's papers, to match records and reference entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ideagora.retrieval.corpus.dedup import KnownNames, is_same_paper, may_share_title
from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.retrieval.store.embedded.sqlite_records import PaperIdentity
from ideagora.retrieval.store.fulltext import CitedWork
from ideagora.schema import Paper

_MIN_TITLE_PIECE = 12
"""Minimum characters of a title within a reference; shorter pieces are names and places."""
_SENTENCE = re.compile(r"[“”\"]|(?<=[.?!])\s+|,\s+[”\"]|\)[.,]\s+|(?<=\d{4})[.,:]\s+")


class PaperIndex:
    """An index of papers by ids and titles."""

    def __init__(self, identities: Iterable[PaperIdentity]) -> None:
        self._by_name: dict[str, str] = {}
        self._by_title: dict[str, list[KnownNames]] = {}
        for identity in identities:
            self.add(identity)

    def add(self, paper: KnownNames) -> None:
        """Add or update a paper."""
        for key in _keys(paper.arxiv_id, paper.doi):
            self._by_name.setdefault(key, paper.id)
        self._by_name[paper.id] = paper.id
        same_title = self._by_title.setdefault(title_key(paper.title), [])
        same_title[:] = [other for other in same_title if other.id != paper.id] + [paper]

    def find(self, paper: Paper) -> str | None:
        """The id of the indexed paper that is the same as this one; ``None`` if there is none."""
        for key in (*_keys(paper.arxiv_id, paper.doi), paper.id):
            if key in self._by_name:
                return self._by_name[key]
        same_title = self._by_title.get(title_key(paper.title), [])
        return next((other.id for other in same_title if is_same_paper(other, paper)), None)

    def find_id(self, name: str) -> str:
        """The id of the paper that another id (``doi:…``, ``arxiv:…``) refers to; else that id itself."""
        return self._by_name.get(name, name)

    def find_cited(self, cited: CitedWork) -> str | None:
        """The id of the paper that a reference entry refers to; ``None`` if there is none."""
        for key in _keys(cited.arxiv_id, cited.doi):
            if key in self._by_name:
                return self._by_name[key]
        for key in _possible_titles(cited.text):
            for other in self._by_title.get(key, []):
                if may_share_title(key, other.date, cited.year):
                    return other.id
        return None


def identity_of(paper: Paper) -> PaperIdentity:
    """The identity of a record."""
    return PaperIdentity(paper.id, paper.title, paper.date, paper.arxiv_id, paper.doi)


def _keys(arxiv_id: str | None, doi: str | None) -> Iterator[str]:
    if arxiv_id:
        yield f"arxiv:{arxiv_id.lower()}"
    if doi:
        yield f"doi:{doi.lower()}"


def _possible_titles(entry: str) -> Iterator[str]:
    """Title keys for an entry: of each piece between periods and quotes, and of each two adjacent ones."""
    pieces = [key for piece in _SENTENCE.split(entry) if (key := title_key(piece))]
    yield from (key for key in pieces if len(key) >= _MIN_TITLE_PIECE)
    yield from (first + second for first, second in pairwise(pieces))
    whole = title_key(entry)
    if whole not in pieces:
        yield whole
