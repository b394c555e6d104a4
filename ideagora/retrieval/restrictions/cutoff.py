"""Cut-off date and exclusions: decides which papers of a topic's literature may be shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ideagora.schema import Paper, last_day

_SCHEME = re.compile(
    r"^(?:arxiv:|doi:|https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/|https?://(?:dx\.)?doi\.org/)"
)
_ARXIV = re.compile(r"(?:10\.48550/arxiv\.)?(\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?")


_MIN_TITLE_IN_TEXT = 16
"""Characters of a title's key from which the title is looked for within other texts."""


@dataclass(frozen=True)
class LiteratureFilter:
    """Withholds papers dated on or after a day and papers excluded by id or title."""

    cutoff: str | None = None
    """YYYY-MM-DD: papers must be older than this day."""
    excluded_ids: frozenset[str] = field(default_factory=frozenset)
    excluded_titles: frozenset[str] = field(default_factory=frozenset)
    given_ids: frozenset[str] = field(default_factory=frozenset)
    """Papers that a task supplies: they are withheld for their date only if it is certainly too late."""
    exclusions: tuple[str, ...] = ()
    """The excluded ids and titles as they were given."""

    def narrow(self, before: str | None, excluded: Iterable[str]) -> LiteratureFilter:
        """A filter with the earlier of the two cut-off dates and all exclusions.

        Args:
            before: ISO date; of a partial one the first day counts.
            excluded: ids or titles.
        """
        exclusions = tuple(excluded)
        days = [day for day in (self.cutoff, first_day(before) if before else None) if day]
        return replace(
            self.exclude_names(exclusions),
            cutoff=min(days) if days else None,
            exclusions=(*self.exclusions, *exclusions),
        )

    def exclude_names(self, names: Sequence[str]) -> LiteratureFilter:
        """A filter that also excludes papers with one of these ids or titles."""
        return replace(
            self,
            excluded_ids=self.excluded_ids | {_id_key(name) for name in names} - {""},
            excluded_titles=self.excluded_titles | {title_key(name) for name in names} - {""},
        )

    def give(self, papers: Iterable[Paper]) -> LiteratureFilter:
        """A filter with further papers that the task supplies."""
        return replace(self, given_ids=self.given_ids | {paper.id for paper in papers})

    @property
    def allows_all(self) -> bool:
        """Whether the filter withholds nothing."""
        return self.cutoff is None and not self.excluded_ids and not self.excluded_titles

    def reason(self, paper: Paper) -> str | None:
        """Why a paper is withheld; ``None`` if it may be shown.

        A partial date counts as its last day. With a cut-off, undated papers are withheld. For papers that
        the task supplies, a partial date counts as its first day, and undated ones are shown.
        """
        if self.excludes(paper):
            return "excluded"
        if self.cutoff is None:
            return None
        is_given = paper.id in self.given_ids
        if paper.date is None:
            return None if is_given else f"its date is unknown and the cut-off is {self.cutoff}"
        is_late = (first_day(paper.date) if is_given else last_day(paper.date)) >= self.cutoff
        return f"its date {paper.date} is not before the cut-off {self.cutoff}" if is_late else None

    def mentions_excluded(self, text: str) -> bool:
        """Whether a text contains an excluded title. Short titles, which may be common words, are ignored."""
        titles = [title for title in self.excluded_titles if len(title) >= _MIN_TITLE_IN_TEXT]
        key = title_key(text) if titles else ""
        return any(title in key for title in titles)

    def excludes(self, paper: Paper) -> bool:
        """Whether a paper is excluded by one of its ids or its title."""
        if not self.excluded_ids and not self.excluded_titles:
            return False
        ids = {_id_key(name) for name in (paper.id, paper.arxiv_id, paper.doi, *paper.other_ids) if name}
        return bool(ids & self.excluded_ids) or title_key(paper.title) in self.excluded_titles


def first_day(date: str) -> str:
    """The first day of a possibly partial ISO date, as YYYY-MM-DD."""
    return (date + "-01-01")[:10] if len(date) < 10 else date


def title_key(title: str) -> str:
    """A title without case, accents, punctuation and spaces, for comparison."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    return "".join(character for character in plain if character.isalnum())


def possible_ids(text: str) -> list[str]:
    """Paper ids that a text (an id, DOI, address or title) may stand for; empty if it can only be a title."""
    key = _id_key(text)
    if _ARXIV.fullmatch(key):
        return [f"arxiv:{key}"]
    if key.startswith("10."):
        return [f"doi:{key}"]
    return [] if " " in text.strip() else [text.strip()]


def _id_key(name: str) -> str:
    """An id without scheme, version and case: ``arXiv:2201.11903v2`` and ``2201.11903`` are one paper."""
    key = _SCHEME.sub("", name.strip().casefold())
    arxiv = _ARXIV.fullmatch(key)
    return arxiv[1] if arxiv else key
