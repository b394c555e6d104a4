"""Cut-off date and bans: the one rule that says whether a paper may be seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from ideagora.schema import Paper, last_day

_SCHEME = re.compile(
    r"^(?:arxiv:|doi:|https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/|https?://(?:dx\.)?doi\.org/)"
)
_ARXIV = re.compile(r"(?:10\.48550/arxiv\.)?(\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?")


_TELLING_CHARACTERS = 16


@dataclass(frozen=True)
class LiteratureFilter:
    """Holds back papers dated on or after a day, and papers that are banned by id or title."""

    cutoff: str | None = None
    """YYYY-MM-DD: papers must be older than this day."""
    excluded_ids: frozenset[str] = field(default_factory=frozenset)
    excluded_titles: frozenset[str] = field(default_factory=frozenset)

    def narrow(self, before: str | None, excluded: Iterable[str]) -> LiteratureFilter:
        """This guard and another rule: the earlier of the two dates, the bans of both.

        Args:
            before: ISO date, possibly partial; then its first day counts.
            banned: ids or titles.
        """
        exclusions = list(excluded)
        days = [day for day in (self.cutoff, first_day(before) if before else None) if day]
        return LiteratureFilter(
            cutoff=min(days) if days else None,
            excluded_ids=self.excluded_ids | {_id_key(exclusion) for exclusion in exclusions} - {""},
            excluded_titles=self.excluded_titles | {title_key(exclusion) for exclusion in exclusions} - {""},
        )

    @property
    def allows_all(self) -> bool:
        """Whether there is nothing to hold back."""
        return self.cutoff is None and not self.excluded_ids and not self.excluded_titles

    def reason(self, paper: Paper) -> str | None:
        """Why a paper is held back; ``None``: it may be seen.

        A date that is known only by its month or year counts with the last day it can mean, and a
        paper without a date is held back as soon as there is a cut-off.
        """
        if self.excludes(paper):
            return "banned"
        if self.cutoff is None:
            return None
        if paper.date is None:
            return f"its date is unknown and the cut-off is {self.cutoff}"
        is_late = last_day(paper.date) >= self.cutoff
        return f"its date {paper.date} is not before the cut-off {self.cutoff}" if is_late else None

    def mentions_excluded(self, text: str) -> bool:
        """Whether a text names a banned title (short ones are words that any text may have)."""
        titles = [title for title in self.excluded_titles if len(title) >= _TELLING_CHARACTERS]
        key = title_key(text) if titles else ""
        return any(title in key for title in titles)

    def excludes(self, paper: Paper) -> bool:
        """Whether a paper is banned by one of its ids or by its title."""
        ids = {_id_key(name) for name in (paper.id, paper.arxiv_id, paper.doi, *paper.other_ids) if name}
        return bool(ids & self.excluded_ids) or title_key(paper.title) in self.excluded_titles


def first_day(date: str) -> str:
    """The first day that a partial ISO date can mean, as YYYY-MM-DD."""
    return (date + "-01-01")[:10] if len(date) < 10 else date


def title_key(title: str) -> str:
    """A title without case, accents, punctuation and spaces, for comparison."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    return "".join(character for character in plain if character.isalnum())


def possible_ids(exclusion: str) -> list[str]:
    """Ids, as papers have them, that a ban may mean; none for what can only be a title."""
    key = _id_key(exclusion)
    if _ARXIV.fullmatch(key):
        return [f"arxiv:{key}"]
    if key.startswith("10."):
        return [f"doi:{key}"]
    return [] if " " in exclusion.strip() else [exclusion.strip()]


def _id_key(name: str) -> str:
    """An id without scheme, version and case: ``arXiv:2201.11903v2`` and ``2201.11903`` are one paper."""
    key = _SCHEME.sub("", name.strip().casefold())
    arxiv = _ARXIV.fullmatch(key)
    return arxiv[1] if arxiv else key
