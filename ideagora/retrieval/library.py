"""The library: search, papers, citations and texts, with cut-off and exclusions applied on every path."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from ideagora.errors import LibraryError, SourceUnavailable
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.background import BackgroundTasks, EmbeddingAhead
from ideagora.retrieval.corpus.paper_set import PaperSet, with_papers
from ideagora.retrieval.corpus.sample_papers import SamplePapers
from ideagora.retrieval.current_run import CurrentRun, current_run
from ideagora.retrieval.http.open_access import FetchedText, OpenAccessTexts
from ideagora.retrieval.protocols import (
    Source,
    SupportsCutoff,
    SupportsListing,
    SupportsPrefetch,
    SupportsRecommendations,
    SupportsWords,
)
from ideagora.retrieval.restrictions.cutoff import LiteratureFilter, title_key
from ideagora.retrieval.restrictions.exclusions import note_exclusion, resolve_exclusion
from ideagora.retrieval.restrictions.withheld import WithheldPaper, WithheldPapers
from ideagora.retrieval.run_notes import BEGIN, RunNotes, since_begin
from ideagora.retrieval.section_selection import READER_TOKENS, select_sections
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.spelling import nearest_spelling
from ideagora.retrieval.store.fulltext import FullText, FullTextStore
from ideagora.schema import Paper, ScoredPaper, Topic, last_day

TextKind = Literal["full text", "abstract", "title"]


class Library:
    """The literature that agents can read.

    A library restricted to a topic (``for_topic``) behaves as if the papers that the topic forbids did
    not exist. It returns papers without ``references``, which could name withheld papers (the method
    ``references`` returns those that may be shown), and without citation counts from after the cut-off.
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
        copy_of: Path | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self._source = source
        self._embedder = embedder
        self._filter = literature_filter or LiteratureFilter()
        self._excluded = excluded
        self._are_exclusions_resolved = not excluded
        self._texts = texts
        self._open_access_texts = open_access_texts
        self._run_notes = RunNotes() if run_notes is None else run_notes
        self._first_note = len(self._run_notes)
        self._active_runs: set[Library] = set()  # shared with the libraries derived from this one
        self._copy_of = copy_of
        self._supplied: SamplePapers | None = None
        self._on_close = on_close
        self._withheld = WithheldPapers()
        self._returned_ids: set[str] = set()
        self._background = BackgroundTasks()
        self._embedding_ahead = EmbeddingAhead(embedder, self._background)

    def for_topic(self, topic: Topic) -> Library:
        """The same literature with a topic's cut-off and exclusions on top of those in force, for one run.

        The user's own ideas and notes are further papers of it, whatever the cut-off.
        """
        literature_filter = self._filter.narrow(topic.before, topic.excluded)
        given = {paper.id for paper in (*topic.own, *topic.avoided)}
        literature_filter = replace(literature_filter, given_ids=literature_filter.given_ids | given)
        source = with_papers(self._source, PaperSet(topic.own, self._embedder)) if topic.own else self._source
        return self._derive(source, literature_filter, (*self._excluded, *topic.excluded))

    def for_sample(self, supplied: SamplePapers, with_sources: bool) -> Library:
        """The literature of a benchmark's sample: the papers that it supplies, alone or with this library's.

        Full texts are those that it supplies, else those of this library. Apply the topic (``for_topic``)
        afterwards.
        """
        papers = supplied.papers
        given = PaperSet(papers, self._embedder)
        source = with_papers(self._source, given) if with_sources else given
        literature_filter = replace(self._filter, given_ids=frozenset(paper.id for paper in papers))
        sample = self._derive(source, literature_filter, self._excluded)
        sample._supplied = supplied
        return sample

    def _derive(
        self, source: Source, literature_filter: LiteratureFilter, excluded: tuple[str, ...]
    ) -> Library:
        """A library with this one's texts, for one more run or sample."""
        derived = copy(self)
        derived._source, derived._filter, derived._excluded = source, literature_filter, excluded
        derived._are_exclusions_resolved = not excluded
        derived._first_note = len(self._run_notes)
        derived._withheld, derived._returned_ids = WithheldPapers(), set()
        derived._background = BackgroundTasks()
        derived._embedding_ahead = EmbeddingAhead(self._embedder, derived._background)
        derived._on_close = None
        return derived

    def begin_run(
        self,
        emit: Callable[[Mapping[str, Any]], None],
        earlier: Iterable[Mapping[str, Any]] = (),
        run_id: str = "",
    ) -> None:
        """Start a run: emit notes and withheld papers as events, and restore those of a stopped run.

        The run is that of the calling task and of what it starts; ``end_run`` is called by the same task.

        Args:
            emit: receives each event, to be written to the run folder.
            earlier: the events in the folder, if a stopped run is resumed.
            run_id: the run under which cached responses are recorded for its replay.
        """
        events = since_begin(earlier)
        if not events:
            emit(BEGIN)
        self._withheld.begin(emit, events)
        self._run_notes, self._first_note = RunNotes(), 0
        self._run_notes.begin(emit, events)
        self._active_runs.add(self)
        current_run.set(CurrentRun(run_id, self._run_notes, resumed=bool(events)))
        if self._copy_of:
            self._run_notes.note("read only", str(self._copy_of))

    async def resolve_exclusions(self) -> None:
        """Look up and note which papers each exclusion matches, unless the source is unavailable."""
        with suppress(SourceUnavailable):
            await self._resolve_exclusions()

    def end_run(self) -> None:
        """Stop emitting events."""
        self._withheld.end()
        self._run_notes.end()
        self._active_runs.discard(self)
        current_run.set(None)

    @property
    def embedder(self) -> Embedder:
        """The embedder that measures similarity; share it, since each embedder loads a model."""
        return self._embedder

    @property
    def given_ids(self) -> tuple[str, ...]:
        """Ids of the papers that a benchmark's sample supplies, as far as they may be shown."""
        papers = () if self._supplied is None else self._supplied.papers
        return tuple(paper.id for paper in papers if self._filter.reason(paper) is None)

    @property
    def fetches_texts(self) -> bool:
        """Whether ``read`` may download a full text that is not stored."""
        return self._open_access_texts is not None

    @property
    def held_back(self) -> list[WithheldPaper]:
        """The papers withheld so far, each once, ordered by id."""
        return self._withheld.sorted()

    @property
    def notes(self) -> list[str]:
        """Messages since this library was created: failed sources, queries without results, …"""
        return self._run_notes.messages(self._first_note)

    @property
    def outages(self) -> int:
        """Number of requests since this library was created to which a source did not respond."""
        return self._run_notes.count("down", self._first_note)

    async def search(self, query: str, k: int = 10) -> list[ScoredPaper]:
        """The k papers most similar to a query, best first.

        Similarity is the cosine, rounded to 4 decimals; ties are ordered by id.

        Raises:
            SourceUnavailable: the source did not respond.
        """
        if k < 1:
            return []
        limit = k if self._filter.allows_all else 2 * k
        cutoff = None
        while True:
            if cutoff and isinstance(self._source, SupportsCutoff):
                results = await self._source.search_before(query, limit, cutoff)
            else:
                results = await self._source.search(query, limit)
            allowed = await self._first_allowed(results, k)
            if len(allowed) == k or len(results) < limit:
                return allowed
            limit, cutoff = 2 * limit, self._filter.cutoff  # what is too late is recorded by now

    def size(self) -> int | None:
        """The number of papers that may be shown; ``None`` if the sources are unbounded (web services)."""
        source = self._source
        if not isinstance(source, SupportsListing):
            return None
        return sum(self._filter.reason(paper) is None for paper in source.all_papers())

    async def similar(self, papers: Sequence[Paper], query: str) -> list[ScoredPaper]:
        """The given papers, each once, by their similarity to a query; best first, ties by id."""
        unique = {paper.id: paper for paper in papers}.values()
        allowed = [self._redact(paper) for paper in unique if await self._allows(paper)]
        with self._embedding_ahead.paused():
            return await asyncio.to_thread(rank_by_similarity, self._embedder, allowed, query)

    async def hidden_near(self, text: str, k: int = 20) -> list[tuple[Paper, float, str]]:
        """Hidden papers by their similarity to a text, best first, each with the reason why it is hidden.

        For comparing finished ideas; no agent may see the result. A source that lists its papers is searched;
        of a web service, only the papers that this run withheld are compared. An exclusion that matches no
        known paper is compared by its text.
        """
        if self._filter.allows_all:
            return []
        hidden = await self._hidden_like(text, k)
        named = {title_key(paper.title) for paper, _ in hidden.values()}
        for exclusion in self._excluded:
            if " " in exclusion.strip() and title_key(exclusion) not in named:
                hidden[exclusion] = (Paper(id=exclusion, title=exclusion), "excluded")
        papers = [paper for paper, _ in hidden.values()]
        ranked = await asyncio.to_thread(rank_by_similarity, self._embedder, papers, text)
        return [(one.paper, one.similarity, hidden[one.paper.id][1]) for one in ranked]

    async def _hidden_like(self, text: str, k: int) -> dict[str, tuple[Paper, str]]:
        """Hidden papers and why they are hidden, by id."""
        if isinstance(self._source, SupportsListing):
            found = [scored.paper for scored in await self._source.search(text, k)]
            return {paper.id: (paper, reason) for paper in found if (reason := self._filter.reason(paper))}
        return {one.paper_id: (await self._record_of(one), one.why) for one in self.held_back}

    async def _record_of(self, withheld: WithheldPaper) -> Paper:
        """The record of a withheld paper, or its title alone if the source does not respond."""
        record = None
        with suppress(SourceUnavailable):
            record = await self._source.paper(withheld.paper_id)
        return (record or Paper(id=withheld.paper_id, title=withheld.title)).model_copy(
            update={"id": withheld.paper_id}
        )

    async def nearest_spelling(self, text: str) -> str | None:
        """The text with unknown words corrected to words of the papers.

        ``None`` if there is nothing to correct or the source cannot list its words (web services).
        """
        source = self._source
        if not isinstance(source, SupportsWords):
            return None
        return await asyncio.to_thread(nearest_spelling, text, await source.words())

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id; ``None`` if it is unknown or withheld."""
        paper = await self._source.paper(paper_id)
        return self._redact(paper) if paper and await self._allows_record(paper) else None

    async def references(self, paper: Paper) -> list[Paper]:
        """The papers that a paper cites; [] for a withheld paper."""
        return await self._neighbors(paper, self._source.references)

    async def citations(self, paper: Paper) -> list[Paper]:
        """The papers that cite a paper, oldest first; [] for a withheld paper."""
        return await self._neighbors(paper, self._source.citations)

    def prefetch(
        self,
        *,
        neighbors_of: Sequence[Paper] = (),
        texts_of: Sequence[Paper] = (),
        searches: Sequence[str] = (),
        k: int = 10,
    ) -> None:
        """Fetch in the background what will be needed soon, while a model is waited for, and embed it.

        Returns at once. Results and notes do not depend on it: what fails here is fetched again where it is
        needed.

        Args:
            neighbors_of: papers whose references and citations will be asked for, most important first.
            texts_of: papers that will be read.
            searches: queries that will be searched for.
            k: number of their results, as ``search`` will be asked for.
        """
        if isinstance(source := self._source, SupportsPrefetch):
            limit = k if self._filter.allows_all else 2 * k
            for query in searches:
                self._embed_ahead(partial(source.prefetch_search, query, limit))
            if neighbors_of:
                ids = [paper.id for paper in neighbors_of]
                self._embed_ahead(partial(source.prefetch, neighbors_of), ids)
        for paper in texts_of if self._open_access_texts else ():
            self._background.start(self._prefetch_text(paper))

    def _embed_ahead(self, fetch: Callable[[], Awaitable[list[Paper]]], about: Iterable[str] = ()) -> None:
        """Fetch papers in the background, then embed them; ``wait_for`` waits for the first only."""

        async def fetch_papers() -> None:
            self._embedding_ahead.add(await fetch())

        self._background.start(fetch_papers(), about)

    async def _prefetch_text(self, paper: Paper) -> None:
        """Download the PDF of a paper, unless its text is stored."""
        texts = self._open_access_texts
        if texts and not await self._stored_text(paper, READER_TOKENS):
            await texts.read(paper, first_version=self._filter.cutoff is not None)

    async def recommended(self, paper: Paper, k: int = 10) -> list[Paper] | None:
        """Up to k papers recommended to readers of a paper; [] for a withheld paper.

        ``None`` if no source in use recommends papers.

        Raises:
            SourceUnavailable: no source responded.
        """
        if not await self._allows(paper):
            return []
        limit = k if self._filter.allows_all else 2 * k
        source = self._source
        if not isinstance(source, SupportsRecommendations):
            return None
        papers = await source.recommended(paper.id, limit)
        if papers is None:
            return None
        return [self._redact(other) for other in papers if await self._allows_record(other)][:k]

    async def citations_per_year(self, paper: Paper) -> dict[int, int] | None:
        """Citations of a paper by year, ascending, for the years that end before the cut-off.

        ``None`` if no source in use counts them. A missing year is unknown, not zero.

        Raises:
            SourceUnavailable: no source responded.
        """
        source = self._source
        if not isinstance(source, SupportsRecommendations) or not await self._allows(paper):
            return None
        counts = await source.citations_per_year(paper.id)
        if counts is None:
            return None
        cutoff = self._filter.cutoff
        allowed = {year: count for year, count in counts.items() if not cutoff or f"{year}-12-31" < cutoff}
        return dict(sorted(allowed.items()))

    async def read(self, paper: Paper, tokens: int = READER_TOKENS) -> tuple[str, TextKind]:
        """As ``text``, but downloads the open-access PDF of a paper without stored full text.

        Falls back to the abstract, with a note.
        """
        text, kind = await self.text(paper, tokens)
        if kind == "full text" or self._open_access_texts is None:
            return text, kind
        fetched, reasons = await self._open_access_texts.read(
            paper, first_version=self._filter.cutoff is not None
        )
        full_text = self._fetched_text(paper, fetched, tokens) if fetched else ""
        if full_text:
            return full_text, "full text"
        if reasons and not fetched:
            self._run_notes.note("no full text", paper.title, "; ".join(reasons))
        return text, kind

    async def text(self, paper: Paper, tokens: int = READER_TOKENS) -> tuple[str, TextKind]:
        """The longest available text of a paper, and its kind.

        A full text comes without its reference list, cut to its most informative sections. Versions
        that may be from after the cut-off are withheld, as are sections that mention an excluded title.

        Args:
            paper: a paper returned by this library.
            tokens: upper bound for a full text.

        Raises:
            LibraryError: the paper is withheld.
        """
        if not await self._allows(paper):
            raise LibraryError(
                f"paper {paper.id} is withheld for this topic. Use a paper returned by the library."
            )
        full_text = await self._stored_text(paper, tokens)
        if full_text:
            return full_text, "full text"
        record = paper if paper.abstract else await self._source.paper(paper.id)
        if record and record.abstract:
            return record.abstract, "abstract"
        return paper.title, "title"

    async def disconnect(self) -> None:
        """Close the connections of this event loop unless another run uses them; the library stays usable."""
        await self._background.cancel()
        if not self._active_runs - {self}:
            await self._source.disconnect()

    def close(self) -> None:
        """Close the store and release its locks; has no effect on libraries made by ``for_topic``."""
        if self._on_close:
            self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def _stored_text(self, paper: Paper, tokens: int) -> str:
        """The permitted part of a paper's stored full text; empty if there is none."""
        for texts in (self._supplied, self._texts):
            full_text = await asyncio.to_thread(texts.get, paper.id) if texts else None
            if full_text:
                return self._permitted_text(paper, full_text, tokens)
        return ""

    def _fetched_text(self, paper: Paper, fetched: FetchedText, tokens: int) -> str:
        """The permitted part of a downloaded PDF; empty if the PDF turns out to be an excluded paper."""
        if self._filter.excludes(fetched.paper):
            reason = "its PDF is an excluded paper"
            self._withheld.add(f"{paper.id} full text", WithheldPaper(paper.id, paper.title, reason))
            return ""
        return self._permitted_text(paper, fetched.text, tokens)

    def _permitted_text(self, paper: Paper, full_text: FullText, tokens: int) -> str:
        cutoff = self._filter.cutoff
        if cutoff and not full_text.is_before(cutoff):
            day = full_text.as_of or "an unknown day"
            reason = f"its full text is of {day}, not before the cut-off {cutoff}"
            self._withheld.add(f"{paper.id} full text", WithheldPaper(paper.id, paper.title, reason))
            return ""
        return select_sections(
            [part for part in full_text.sections if not self._filter.mentions_excluded(part.text)], tokens
        )

    async def _first_allowed(self, results: Sequence[ScoredPaper], k: int) -> list[ScoredPaper]:
        """The first k results that may be shown; results after them are neither checked nor recorded."""
        allowed: list[ScoredPaper] = []
        for result in results:
            if len(allowed) == k:
                break
            if await self._allows_record(result.paper):
                allowed.append(ScoredPaper(paper=self._redact(result.paper), similarity=result.similarity))
        return allowed

    async def _neighbors(self, paper: Paper, fetch: Callable[[str], Awaitable[list[Paper]]]) -> list[Paper]:
        if not await self._allows(paper):
            return []
        await self._background.wait_for(paper.id)
        return [self._redact(other) for other in await fetch(paper.id) if await self._allows_record(other)]

    async def _allows(self, paper: Paper) -> bool:
        """Whether a paper passed in by a caller may be shown, by its own record and by the source's."""
        if not await self._allows_record(paper):
            return False
        if self._filter.allows_all or paper.id in self._returned_ids:
            return True
        record = await self._source.paper(paper.id)
        return record is None or await self._allows_record(record)

    async def _allows_record(self, paper: Paper) -> bool:
        """Whether a record may be shown; records it as withheld if not."""
        await self._resolve_exclusions()
        reason = self._filter.reason(paper)
        if reason:
            self._withheld.add(paper.id, WithheldPaper(paper.id, paper.title, reason))
        return reason is None

    async def _resolve_exclusions(self) -> None:
        """Exclude the titles and ids of all matching papers, since other records may carry them."""
        if self._are_exclusions_resolved:
            return
        literature_filter = self._filter
        for exclusion in [await resolve_exclusion(text, self._source) for text in self._excluded]:
            if exclusion:
                names = [
                    name
                    for paper in exclusion.papers
                    for name in (paper.title, paper.arxiv_id, paper.doi)
                    if name
                ]
                literature_filter = literature_filter.narrow(None, names)
                if exclusion.papers or self._supplied is None:  # a data set's exclusions need not match
                    note_exclusion(exclusion, self._run_notes)
        self._filter, self._are_exclusions_resolved = literature_filter, True

    def _redact(self, paper: Paper) -> Paper:
        """The paper as callers may see it: without references and without counts from after the cut-off."""
        self._returned_ids.add(paper.id)
        if self._filter.allows_all:
            return paper
        cutoff = self._filter.cutoff
        is_late = cutoff and last_day(paper.citations_as_of or "9999") >= cutoff
        counts = {"citation_count": None, "citations_as_of": None} if is_late else {}
        return paper.model_copy(update={"references": None, **counts})
