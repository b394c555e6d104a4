"""The one door to the literature. What a topic forbids to see is held back here, on every path."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from ideagora.errors import LibraryError, SourceUnavailable
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.cutoff import LiteratureFilter
from ideagora.retrieval.exclusions import note_exclusion, resolve_exclusion
from ideagora.retrieval.http.cache import HttpCache
from ideagora.retrieval.http.open_access import FetchedText, OpenAccessTexts
from ideagora.retrieval.protocols import (
    Source,
    SupportsCutoff,
    SupportsListing,
    SupportsRecommendations,
    SupportsWords,
)
from ideagora.retrieval.run_notes import EVENT, RunNotes
from ideagora.retrieval.section_selection import READER_TOKENS, select_sections
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.spelling import nearest_spelling
from ideagora.retrieval.store.fulltext import FullText, FullTextStore
from ideagora.schema import Paper, ScoredPaper, Topic, last_day

_HELD_BACK = "held back"
_BEGIN = {"event": EVENT, "kind": "begin"}
"""What happened before it belongs to a try whose results were thrown away."""
TextKind = Literal["full text", "abstract", "title"]


class WithheldPaper(NamedTuple):
    """A paper that was found and not shown."""

    paper_id: str
    title: str
    why: str


class Library:
    """Search, one paper, its neighbours, its text: all that an agent can read.

    A library that is restricted to a topic behaves as if the papers that the topic forbids did not
    exist. Papers come out of it without their list of references, which could name some of them
    (``references`` tells the ones that may be seen), and without citation counts from after the cut-off.
    """

    def __init__(
        self,
        source: Source,
        embedder: Embedder,
        *,
        literature_filter: LiteratureFilter | None = None,
        excluded: tuple[str, ...] = (),
        texts: FullTextStore | None = None,
        open_access_texts: OpenAccessTexts | None = None,
        run_notes: RunNotes | None = None,
        kept: HttpCache | None = None,
        copy_of: Path | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self._source = source
        self._embedder = embedder
        self._filter = literature_filter or LiteratureFilter()
        self._excluded = excluded
        self._are_exclusions_known = not excluded
        self._texts = texts
        self._open_texts = open_access_texts
        self._run_notes = RunNotes() if run_notes is None else run_notes
        self._journal_from = len(self._run_notes)
        self._kept = kept
        self._copy_of = copy_of
        self._on_close = on_close
        self._held_back: dict[str, WithheldPaper] = {}
        self._tell: Callable[[Mapping[str, Any]], None] | None = None
        self._given: set[str] = set()

    def for_topic(self, topic: Topic) -> Library:
        """The same literature without what a topic forbids (and what is forbidden here already)."""
        return Library(
            self._source,
            self._embedder,
            literature_filter=self._filter.narrow(topic.before, topic.excluded),
            excluded=(*self._excluded, *topic.excluded),
            texts=self._texts,
            open_access_texts=self._open_texts,
            run_notes=self._run_notes,
            kept=self._kept,
            copy_of=self._copy_of,
        )

    def begin_run(
        self,
        tell: Callable[[Mapping[str, Any]], None],
        earlier: Iterable[Mapping[str, Any]] = (),
        run: str = "",
    ) -> None:
        """Tell as events what happens with the literature, and go on from those of before a stop.

        Args:
            tell: takes an event; it belongs into the run's folder.
            earlier: the folder's events, when its run goes on where it was stopped.
            run: its identity, under which the answers of services that it sees are kept for its replay.
        """
        events = _since_begin(earlier)
        if not events:
            tell(_BEGIN)
        if self._kept and run:
            self._kept.begin_run(run, goes_on=bool(events))
        for event in events:
            if event.get("event") == _HELD_BACK:
                held = WithheldPaper(*(str(event.get(name)) for name in WithheldPaper._fields))
                self._held_back[str(event.get("key"))] = held
        self._tell = tell
        self._run_notes.begin(tell, events)
        if self._copy_of:
            self._run_notes.note("read only", str(self._copy_of))

    async def resolve_exclusions(self) -> None:
        """Note what each ban matches, and which match nothing; with a source that is down, nothing."""
        with suppress(SourceUnavailable):
            await self._learn_exclusions()

    def end_run(self) -> None:
        """The run is over; nothing more belongs into its folder."""
        self._tell = None
        self._run_notes.end()
        if self._kept:
            self._kept.end_run()

    @property
    def embedder(self) -> Embedder:
        """What measures similarity here; to be shared, since each one loads a model of its own."""
        return self._embedder

    @property
    def held_back(self) -> list[WithheldPaper]:
        """What was found and not shown so far, each paper once, ordered by id."""
        return sorted(self._held_back.values())

    @property
    def notes(self) -> list[str]:
        """What is to be told since this library was made: sources that are down, nothing found, …"""
        return self._run_notes.told(self._journal_from)

    async def search(self, query: str, k: int = 10) -> list[ScoredPaper]:
        """The k papers nearest to a query, best first.

        Similarity is the cosine, rounded to 4 decimals; ties are ordered by id.

        Raises:
            SourceUnavailable: the source did not answer.
        """
        if k < 1:
            return []
        wanted = k if self._filter.allows_all else 2 * k
        cutoff = None
        while True:
            if cutoff and isinstance(self._source, SupportsCutoff):
                found = await self._source.search_before(query, wanted, cutoff)
            else:
                found = await self._source.search(query, wanted)
            shown = await self._first_shown(found, k)
            if len(shown) == k or len(found) < wanted:
                return shown
            wanted, cutoff = 2 * wanted, self._filter.cutoff  # whom the date holds back is told by now

    def size(self) -> int | None:
        """Papers that may be seen here in all; ``None`` where the sources have no end (services)."""
        source = self._source
        if not isinstance(source, SupportsListing):
            return None
        return sum(self._filter.reason(paper) is None for paper in source.all_papers())

    async def similar(self, papers: Sequence[Paper], query: str) -> list[ScoredPaper]:
        """The given papers, each once, by their similarity to a query; best first, ties by id."""
        once = {paper.id: paper for paper in papers}.values()
        shown = [self._outward(paper) for paper in once if await self._may_have(paper)]
        return await asyncio.to_thread(rank_by_similarity, self._embedder, shown, query)

    async def nearest_spelling(self, text: str) -> str | None:
        """The text as the papers at hand spell its unknown words.

        ``None``: nothing to change, or the papers are not at hand (sources on the network).
        """
        source = self._source
        if not isinstance(source, SupportsWords):
            return None
        return await asyncio.to_thread(nearest_spelling, text, await source.words())

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id; ``None`` when there is none, or it is held back."""
        found = await self._source.paper(paper_id)
        return self._outward(found) if found and await self._is_shown(found) else None

    async def references(self, paper: Paper) -> list[Paper]:
        """The papers that one cites. Of a paper that is held back nothing is told: the list is empty."""
        return await self._neighbours(paper, self._source.references)

    async def citations(self, paper: Paper) -> list[Paper]:
        """The papers that cite one, oldest first; empty for a paper that is held back."""
        return await self._neighbours(paper, self._source.citations)

    async def recommended(self, paper: Paper, k: int = 10) -> list[Paper] | None:
        """Up to k papers that a source recommends to readers of one.

        ``None``: no source in use recommends papers, which is not the same as ``[]``. Of a paper that
        is held back nothing is told.

        Raises:
            SourceUnavailable: no source answered.
        """
        if not await self._may_have(paper):
            return []
        wanted = k if self._filter.allows_all else 2 * k
        source = self._source
        found = (
            await source.recommended(paper.id, wanted)
            if isinstance(source, SupportsRecommendations)
            else None
        )
        if found is None:
            return None
        return [self._outward(other) for other in found if await self._is_shown(other)][:k]

    async def citations_per_year(self, paper: Paper) -> dict[int, int] | None:
        """Citations of a paper by year, ascending; years of which the cut-off hides a day are not there.

        ``None``: no source in use tells. A year that is missing is one that the source doesn't tell of.

        Raises:
            SourceUnavailable: no source answered.
        """
        source = self._source
        if not isinstance(source, SupportsRecommendations) or not await self._may_have(paper):
            return None
        counts = await source.citations_per_year(paper.id)
        if counts is None:
            return None
        cutoff = self._filter.cutoff
        seen = {year: count for year, count in counts.items() if not cutoff or f"{year}-12-31" < cutoff}
        return dict(sorted(seen.items()))

    async def read(self, paper: Paper, tokens: int = READER_TOKENS) -> tuple[str, TextKind]:
        """As ``text``; and where a paper has no full text here, its open-access PDF is fetched and read.

        What cannot be had is noted, and the abstract stands in.
        """
        text, kind = await self.text(paper, tokens)
        if kind == "full text" or self._open_texts is None:
            return text, kind
        fetched, reasons = await self._open_texts.read(paper, first_version=self._filter.cutoff is not None)
        full_text = self._open(paper, fetched, tokens) if fetched else ""
        if full_text:
            return full_text, "full text"
        if reasons and not fetched:
            self._run_notes.note("no full text", paper.title, "; ".join(reasons))
        return text, kind

    async def text(self, paper: Paper, tokens: int = READER_TOKENS) -> tuple[str, TextKind]:
        """The longest text of a paper that is here, and which it is.

        A full text is told without its list of references, by the sections that say most of the paper.
        A version of it that may be from after the cut-off is held back, as are sections that name a
        banned title.

        Args:
            paper: one that the library gave.
            tokens: what a full text may take at most.

        Raises:
            LibraryError: the paper is held back, so there is no text that could be given.
        """
        if not await self._may_have(paper):
            raise LibraryError(
                f"paper {paper.id} is held back for this topic. Take one that the library gave."
            )
        full_text = await self._full_text(paper, tokens)
        if full_text:
            return full_text, "full text"
        known = paper if paper.abstract else await self._source.paper(paper.id)
        if known and known.abstract:
            return known.abstract, "abstract"
        return paper.title, "title"

    async def disconnect(self) -> None:
        """Close the connections of this event loop; the library stays usable."""
        await self._source.disconnect()

    def close(self) -> None:
        """Close the store and release its locks; a restricted library leaves that to its origin."""
        if self._on_close:
            self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def _full_text(self, paper: Paper, tokens: int) -> str:
        """What may be read of a paper's full text; empty when there is none."""
        found = await asyncio.to_thread(self._texts.get, paper.id) if self._texts else None
        return self._shown_text(paper, found, tokens) if found else ""

    def _open(self, paper: Paper, fetched: FetchedText, tokens: int) -> str:
        """What may be read of a PDF from a link; nothing when it is the banned paper under another link."""
        if self._filter.excludes(fetched.paper):
            self._hold_back(
                f"{paper.id} full text", WithheldPaper(paper.id, paper.title, "its PDF is an excluded paper")
            )
            return ""
        return self._shown_text(paper, fetched.text, tokens)

    def _shown_text(self, paper: Paper, found: FullText, tokens: int) -> str:
        cutoff = self._filter.cutoff
        if cutoff and not found.is_before(cutoff):
            why = f"its full text is of {found.as_of or 'an unknown day'}, not before the cut-off {cutoff}"
            self._hold_back(f"{paper.id} full text", WithheldPaper(paper.id, paper.title, why))
            return ""
        return select_sections(
            [part for part in found.sections if not self._filter.mentions_excluded(part.text)], tokens
        )

    def _hold_back(self, key: str, held: WithheldPaper) -> None:
        if key in self._held_back:
            return
        self._held_back[key] = held
        if self._tell:
            self._tell({"event": _HELD_BACK, "key": key, **held._asdict()})

    async def _first_shown(self, found: Sequence[ScoredPaper], k: int) -> list[ScoredPaper]:
        """The first k that may be seen; those behind them are not looked at, so not recorded either."""
        shown: list[ScoredPaper] = []
        for one in found:
            if len(shown) == k:
                break
            if await self._is_shown(one.paper):
                shown.append(ScoredPaper(paper=self._outward(one.paper), similarity=one.similarity))
        return shown

    async def _neighbours(self, paper: Paper, ask: Callable[[str], Awaitable[list[Paper]]]) -> list[Paper]:
        if not await self._may_have(paper):
            return []
        return [self._outward(other) for other in await ask(paper.id) if await self._is_shown(other)]

    async def _may_have(self, paper: Paper) -> bool:
        """Whether an agent may have a paper that it holds: by its own record, and by the source's."""
        if not await self._is_shown(paper):
            return False
        if self._filter.allows_all or paper.id in self._given:
            return True
        known = await self._source.paper(paper.id)
        return known is None or await self._is_shown(known)

    async def _is_shown(self, paper: Paper) -> bool:
        """Whether a record may be seen; notes the ones that may not."""
        await self._learn_exclusions()
        why = self._filter.reason(paper)
        if why:
            self._hold_back(paper.id, WithheldPaper(paper.id, paper.title, why))
        return why is None

    async def _learn_exclusions(self) -> None:
        """Ban, with an id, the title and the other ids of its paper: a second record may carry those."""
        if self._are_exclusions_known:
            return
        literature_filter = self._filter
        for exclusion in [await resolve_exclusion(text, self._source) for text in self._excluded]:
            if exclusion:
                names = [
                    name for one in exclusion.papers for name in (one.title, one.arxiv_id, one.doi) if name
                ]
                literature_filter = literature_filter.narrow(None, names)
                note_exclusion(exclusion, self._run_notes)
        self._filter, self._are_exclusions_known = literature_filter, True

    def _outward(self, paper: Paper) -> Paper:
        self._given.add(paper.id)
        if self._filter.allows_all:
            return paper
        counted_late = (
            self._filter.cutoff and last_day(paper.citations_as_of or "9999") >= self._filter.cutoff
        )
        hindsight = {"citation_count": None, "citations_as_of": None} if counted_late else {}
        return paper.model_copy(update={"references": None, **hindsight})


def _since_begin(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The events from the last beginning on, that included; none when there was no beginning."""
    since: list[Mapping[str, Any]] = []
    for event in events:
        is_begin = all(event.get(name) == value for name, value in _BEGIN.items())
        since = [event] if is_begin else [*since, event] if since else since
    return since
