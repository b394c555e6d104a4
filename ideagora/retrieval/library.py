"""The library: search, papers, citations and texts, with cut-off and exclusions applied on every path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Self

from ideagora.errors import SourceUnavailable
from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.background import Prefetcher
from ideagora.retrieval.corpus.paper_set import PaperSet, with_papers
from ideagora.retrieval.corpus.sample_papers import SamplePapers
from ideagora.retrieval.current_run import CurrentRun, current_run
from ideagora.retrieval.protocols import Source, SupportsWords
from ideagora.retrieval.restrictions.cutoff import LiteratureFilter
from ideagora.retrieval.restrictions.restricted_source import RestrictedSource
from ideagora.retrieval.restrictions.visibility import Visibility
from ideagora.retrieval.restrictions.withheld import WithheldPaper
from ideagora.retrieval.retrieval_log import RetrievalLog
from ideagora.retrieval.run_notes import RunNotes, since_begin
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.retrieval.spelling import nearest_spelling
from ideagora.retrieval.texts.reader import FullTexts, TextKind, TextReader
from ideagora.retrieval.texts.section_selection import READER_TOKENS
from ideagora.schema import Paper, ScoredPaper, Topic
from ideagora.schema.events import Event, Listener


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
        texts: FullTexts | None = None,
        run_notes: RunNotes | None = None,
        copy_of: Path | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """Open a library without restrictions.

        Args:
            run_notes: those of the source.
            copy_of: the read-only store of which the source reads a temporary copy.
            on_close: closes the source.
        """
        self._embedder = embedder
        self._texts = texts or FullTexts()
        self._copy_of = copy_of
        self._on_close = on_close
        self._active_runs: set[Library] = set()  # shared with the libraries derived from this one
        self._read_from(source, LiteratureFilter(), RunNotes() if run_notes is None else run_notes)

    def _read_from(self, source: Source, literature_filter: LiteratureFilter, run_notes: RunNotes) -> None:
        """Restrict a source, for one run."""
        self._source = source
        self._log = RetrievalLog(run_notes)
        is_sample = self._texts.supplied is not None  # a data set's exclusions need not match
        self._visibility = Visibility(source, literature_filter, self._log, notes_unmatched=not is_sample)
        self._papers = RestrictedSource(source, self._visibility)
        self._reader = TextReader(source, self._texts, self._visibility, self._log)
        self._prefetcher = Prefetcher(source, self._embedder)

    def for_topic(self, topic: Topic) -> Library:
        """The same literature with a topic's cut-off and exclusions on top of those in force, for one run.

        The user's own ideas and notes are further papers of it, whatever the cut-off.
        """
        literature_filter = self._visibility.filter.narrow(topic.before, topic.excluded)
        source = with_papers(self._source, PaperSet(topic.own, self._embedder)) if topic.own else self._source
        return self._derive(source, literature_filter.give((*topic.own, *topic.avoided)), self._texts)

    def for_sample(self, supplied: SamplePapers, with_sources: bool) -> Library:
        """The literature of a benchmark's sample: the papers that it supplies, alone or with this library's.

        Full texts are those that it supplies, else those of this library. Apply the topic (``for_topic``)
        afterwards.
        """
        given = PaperSet(supplied.papers, self._embedder)
        source = with_papers(self._source, given) if with_sources else given
        literature_filter = self._visibility.filter.give(supplied.papers)
        return self._derive(source, literature_filter, replace(self._texts, supplied=supplied))

    def _derive(self, source: Source, literature_filter: LiteratureFilter, texts: FullTexts) -> Library:
        """A library of the same store, for one more run or sample."""
        derived = copy(self)
        derived._texts, derived._on_close = texts, None
        derived._read_from(source, literature_filter, self._log.run_notes)
        return derived

    def begin_run(
        self,
        emit: Listener,
        earlier: Iterable[Event] = (),
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
            emit({"event": "literature", "kind": "begin"})
        self._log.begin(emit, events)
        self._active_runs.add(self)
        current_run.set(CurrentRun(run_id, self._log.run_notes, resumed=bool(events)))
        if self._copy_of:
            self._log.note("read only", str(self._copy_of))

    async def resolve_exclusions(self) -> None:
        """Look up and note which papers each exclusion matches, unless the source is unavailable."""
        with suppress(SourceUnavailable):
            await self._visibility.resolve_exclusions()

    def end_run(self) -> None:
        """Stop emitting events."""
        self._log.end()
        self._active_runs.discard(self)
        current_run.set(None)

    @property
    def embedder(self) -> Embedder:
        """The embedder that measures similarity; share it, since each embedder loads a model."""
        return self._embedder

    @property
    def given_ids(self) -> tuple[str, ...]:
        """Ids of the papers that a benchmark's sample supplies, as far as they may be shown."""
        papers = () if self._texts.supplied is None else self._texts.supplied.papers
        return tuple(paper.id for paper in papers if self._visibility.filter.reason(paper) is None)

    @property
    def fetches_texts(self) -> bool:
        """Whether ``read`` may download a full text that is not stored."""
        return self._texts.open_access is not None

    @property
    def held_back(self) -> list[WithheldPaper]:
        """The papers withheld so far, each once, ordered by id."""
        return self._log.withheld.sorted()

    @property
    def notes(self) -> list[str]:
        """Messages since this library was created: failed sources, queries without results, …"""
        return self._log.messages

    @property
    def outages(self) -> int:
        """Number of requests since this library was created to which a source did not respond."""
        return self._log.outages

    async def search(self, query: str, k: int = 10) -> list[ScoredPaper]:
        """The k papers most similar to a query, best first.

        Similarity is the cosine, rounded to 4 decimals; ties are ordered by id.

        Raises:
            SourceUnavailable: the source did not respond.
        """
        return await self._papers.search(query, k)

    def size(self) -> int | None:
        """The number of papers that may be shown; ``None`` if the sources are unbounded (web services)."""
        return self._papers.size()

    async def similar(self, papers: Sequence[Paper], query: str) -> list[ScoredPaper]:
        """The given papers, each once, by their similarity to a query; best first, ties by id."""
        unique = {paper.id: paper for paper in papers}.values()
        allowed = [self._visibility.redact(paper) for paper in unique if await self._visibility.allows(paper)]
        with self._prefetcher.embedding_ahead.paused():
            return await asyncio.to_thread(rank_by_similarity, self._embedder, allowed, query)

    async def hidden_near(self, text: str, k: int = 20) -> list[tuple[Paper, float, str]]:
        """Hidden papers by their similarity to a text, best first, each with the reason why it is hidden.

        For comparing finished ideas; no agent may see the result. A source that lists its papers is searched;
        of a web service, only the papers that this run withheld are compared. An exclusion that matches no
        known paper is compared by its text.
        """
        hidden = await self._papers.hidden(text, k)
        papers = [paper for paper, _ in hidden.values()]
        ranked = await asyncio.to_thread(rank_by_similarity, self._embedder, papers, text)
        return [(one.paper, one.similarity, hidden[one.paper.id][1]) for one in ranked]

    async def nearest_spelling(self, text: str) -> str | None:
        """The text with unknown words corrected to words of the papers.

        ``None`` if there is nothing to correct or the source cannot list its words (web services).
        """
        words = await self._source.words() if isinstance(self._source, SupportsWords) else None
        return None if words is None else await asyncio.to_thread(nearest_spelling, text, words)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id; ``None`` if it is unknown or withheld."""
        return await self._papers.paper(paper_id)

    async def references(self, paper: Paper) -> list[Paper]:
        """The papers that a paper cites; [] for a withheld paper."""
        await self._prefetcher.tasks.wait_for(paper.id)
        return await self._papers.references(paper)

    async def citations(self, paper: Paper) -> list[Paper]:
        """The papers that cite a paper, oldest first; [] for a withheld paper."""
        await self._prefetcher.tasks.wait_for(paper.id)
        return await self._papers.citations(paper)

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
        self._prefetcher.search(searches, self._visibility.size_of_request(k))
        self._prefetcher.neighbors_of(neighbors_of)
        for paper in texts_of if self.fetches_texts else ():
            self._prefetcher.tasks.start(self._reader.prefetch(paper))

    async def recommended(self, paper: Paper, k: int = 10) -> list[Paper] | None:
        """Up to k papers recommended to readers of a paper; [] for a withheld paper.

        ``None`` if no source in use recommends papers.

        Raises:
            SourceUnavailable: no source responded.
        """
        return await self._papers.recommended(paper, k)

    async def citations_per_year(self, paper: Paper) -> dict[int, int] | None:
        """Citations of a paper by year, ascending, for the years that end before the cut-off.

        ``None`` if no source in use counts them. A missing year is unknown, not zero.

        Raises:
            SourceUnavailable: no source responded.
        """
        return await self._papers.citations_per_year(paper)

    async def read(self, paper: Paper, tokens: int = READER_TOKENS) -> tuple[str, TextKind]:
        """As ``text``, but downloads the open-access PDF of a paper without stored full text.

        Falls back to the abstract, with a note.
        """
        return await self._reader.read(paper, tokens)

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
        return await self._reader.text(paper, tokens)

    async def disconnect(self) -> None:
        """Close the connections of this event loop unless another run uses them; the library stays usable."""
        await self._prefetcher.tasks.cancel()
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
