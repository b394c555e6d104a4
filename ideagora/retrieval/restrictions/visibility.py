"""Decides which papers and texts of a source may be shown, and records those that may not."""

from __future__ import annotations

from collections.abc import Iterable

from ideagora.retrieval.protocols import Source
from ideagora.retrieval.restrictions.cutoff import LiteratureFilter
from ideagora.retrieval.restrictions.exclusions import note_exclusion, resolve_exclusion
from ideagora.retrieval.restrictions.withheld import WithheldPaper
from ideagora.retrieval.retrieval_log import RetrievalLog
from ideagora.retrieval.store.fulltext import FullText, Section
from ideagora.schema import Paper, last_day


class Visibility:
    """Which papers of a source may be shown.

    Unless the filter allows all, papers are shown without ``references``, which could name withheld papers,
    and without citation counts from after the cut-off.

    Args:
        notes_unmatched: whether to note exclusions that match no paper.
    """

    def __init__(
        self,
        source: Source,
        literature_filter: LiteratureFilter,
        log: RetrievalLog,
        *,
        notes_unmatched: bool = True,
    ) -> None:
        self._source = source
        self._filter = literature_filter
        self._log = log
        self._notes_unmatched = notes_unmatched
        self._are_exclusions_resolved = not literature_filter.exclusions
        self._shown_ids: set[str] = set()

    @property
    def filter(self) -> LiteratureFilter:
        """The filter; once exclusions are looked up, with all names of the papers that they match."""
        return self._filter

    @property
    def withheld(self) -> list[WithheldPaper]:
        """The papers and texts withheld so far, each once, ordered by id."""
        return self._log.withheld.sorted()

    def size_of_request(self, k: int) -> int:
        """Number of papers to request so that k of them may be shown."""
        return k if self._filter.allows_all else 2 * k

    async def allows(self, paper: Paper) -> bool:
        """Whether a paper passed in by a caller may be shown, by its own record and by the source's."""
        if not await self._allows_record(paper):
            return False
        if self._filter.allows_all or paper.id in self._shown_ids:
            return True
        record = await self._source.paper(paper.id)
        return record is None or await self._allows_record(record)

    async def show(self, record: Paper) -> Paper | None:
        """A record of the source as callers may see it; ``None`` if it is withheld."""
        return self.redact(record) if await self._allows_record(record) else None

    async def show_all(self, records: Iterable[Paper]) -> list[Paper]:
        """The records that may be shown, as callers may see them."""
        return [shown for record in records if (shown := await self.show(record))]

    def redact(self, paper: Paper) -> Paper:
        """An allowed paper as callers may see it."""
        self._shown_ids.add(paper.id)
        if self._filter.allows_all:
            return paper
        cutoff = self._filter.cutoff
        is_late = cutoff and last_day(paper.citations_as_of or "9999") >= cutoff
        counts = {"citation_count": None, "citations_as_of": None} if is_late else {}
        return paper.model_copy(update={"references": None, **counts})

    def permitted_sections(self, paper: Paper, full_text: FullText) -> list[Section]:
        """The sections of a paper's full text that mention no excluded title; none of too late a version."""
        cutoff = self._filter.cutoff
        if cutoff and not full_text.is_before(cutoff):
            day = full_text.as_of or "an unknown day"
            self._withhold_text(paper, f"its full text is of {day}, not before the cut-off {cutoff}")
            return []
        return [part for part in full_text.sections if not self._filter.mentions_excluded(part.text)]

    def allows_pdf(self, paper: Paper, identity: Paper) -> bool:
        """Whether the PDF of a paper may be shown; ``identity`` is the paper that it turned out to be."""
        if self._filter.excludes(identity):
            self._withhold_text(paper, "its PDF is an excluded paper")
            return False
        return True

    async def resolve_exclusions(self) -> None:
        """Exclude the titles and ids of all matching papers, since other records may carry them.

        Raises:
            SourceUnavailable: an id could not be looked up.
        """
        if self._are_exclusions_resolved:
            return
        literature_filter = self._filter
        for exclusion in [await resolve_exclusion(text, self._source) for text in self._filter.exclusions]:
            if exclusion:
                literature_filter = literature_filter.exclude_names(exclusion.names)
                if exclusion.papers or self._notes_unmatched:
                    note_exclusion(exclusion, self._log)
        self._filter, self._are_exclusions_resolved = literature_filter, True

    async def _allows_record(self, paper: Paper) -> bool:
        """Whether a record may be shown; records it as withheld if not."""
        await self.resolve_exclusions()
        reason = self._filter.reason(paper)
        if reason:
            self._log.withheld.add(paper.id, WithheldPaper(paper.id, paper.title, reason))
        return reason is None

    def _withhold_text(self, paper: Paper, reason: str) -> None:
        self._log.withheld.add(f"{paper.id} full text", WithheldPaper(paper.id, paper.title, reason))
