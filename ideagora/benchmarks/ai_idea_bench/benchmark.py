"""The benchmark AI Idea Bench 2025: samples, the task for agents, and its measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.ai_idea_bench.papers import inspiration_papers
from ideagora.benchmarks.ai_idea_bench.samples import Sample, cutoff, read_samples, shipped_samples
from ideagora.benchmarks.ai_idea_bench.with_other_references import competition, feasibility, novelty
from ideagora.benchmarks.ai_idea_bench.with_target_paper import matching, multiple_choice
from ideagora.benchmarks.ai_idea_bench.with_target_paper.options import Options
from ideagora.benchmarks.benchmark import (
    Benchmark,
    Measure,
    Plan,
    ProtocolName,
    Question,
    Samples,
    Scores,
    Wording,
)
from ideagora.errors import SourceRejected
from ideagora.importing.records import Problem
from ideagora.retrieval.corpus.sample_papers import SamplePapers
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.ingest.documents import Document
from ideagora.retrieval.lookup import find_paper
from ideagora.retrieval.texts.section_selection import select_sections
from ideagora.schema import Idea, Paper, Topic, Verdict

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

MODULES: tuple[ModuleType, ...] = (matching, multiple_choice, competition, novelty, feasibility)
"""Each has ``MEASURES``, ``questions`` and ``scores``."""
_CACHE = Path("cache", "ai_idea_bench")
"""Folder in the home folder for what is read from PDFs."""
_OPENING_TOKENS = 400
"""Tokens of a full text that stand for a missing abstract."""


class AIIdeaBench(Benchmark[Sample]):
    """AI Idea Bench 2025 (arXiv 2504.14191)."""

    name = "ai-idea-bench"
    title = "AI Idea Bench 2025"
    source = "AI Idea Bench 2025: AI Research Idea Generation Benchmark (arXiv 2504.14191)"
    measures: tuple[Measure, ...] = (
        *(measure for module in MODULES for measure in module.MEASURES),
        *competition.CRITERIA_MEASURES,
    )
    ideas_per_sample = 2
    wording = Wording(sample="target")
    literature = frozenset({multiple_choice.GROUP, novelty.GROUP, feasibility.GROUP})

    def __init__(self) -> None:
        self._data: Path | None = None

    def measures_of(self, protocol: ProtocolName) -> tuple[Measure, ...]:
        """The measures; those of I2I, I2T and IC have other scales in ``paper``, and IC no criteria."""
        if protocol == "default":
            return self.measures
        found = {one.name: one for one in (*matching.PAPER_MEASURES, *competition.PAPER_MEASURES)}
        return tuple(found.get(one.name, one) for one in self.measures if not one.detail)

    def load(self, data: Path | None) -> Samples[Sample]:
        """The targets of ``target_paper_data.json``, of a folder that holds it, or the shipped ones.

        Raises:
            IdeasFileError: the file is missing, unreadable, or has no usable target.
        """
        self._data = data
        found = shipped_samples() if data is None else read_samples(data)
        return Samples({sample.id: sample for sample in found.samples}, found.problems)

    def topic(self, sample: Sample) -> Topic:
        """Topic, inspirations, the target as excluded, and the cut-off if the target's date is known."""
        return Topic(
            text=sample.topic,
            before=cutoff(sample),
            inspirations=tuple(one.paper_id for one in sample.inspirations if one.paper_id),
            excluded=tuple(name for name in (sample.title, sample.paper_id) if name),
        )

    async def papers(
        self, sample: Sample, library: Callable[[], Library], home: Path
    ) -> tuple[SamplePapers, Sequence[Problem]]:
        """The inspirations of a sample, with the full texts of the data set's PDFs.

        Those of shipped targets come from the starter corpus, whatever the library's sources are; others
        from the library, from the PDFs of the data set, or by title from the library again.
        """
        if self._data is None:
            corpus = {paper.id: paper for paper in starter_corpus().papers}
            papers = [corpus[one.paper_id] for one in sample.inspirations if one.paper_id in corpus]
            return SamplePapers(tuple(papers)), ()
        found = await inspiration_papers(sample, self._data, library(), home / _CACHE)
        documents = [await _with_abstract(one, library()) for one in found.documents]
        return SamplePapers(tuple(one.paper for one in documents), found.texts), found.problems

    def prepare(
        self, samples: Mapping[str, Sample], embedder: Callable[[], Embedder], plan: Plan
    ) -> Options | None:
        """The options of the multiple choice, which depend on the whole data set."""
        if not plan.includes(multiple_choice.GROUP):
            return None
        return multiple_choice.prepare(samples, embedder, plan, self._papers)

    def questions(
        self, sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: Any
    ) -> Iterator[Question]:
        """The questions of all modules about one target.

        The first question of the multiple choice comes first: it has the inspirations described, while the
        other modules' questions are asked.
        """
        choices: Iterator[Question] = iter(())
        if plan.includes(multiple_choice.GROUP):
            choices = multiple_choice.questions(sample, ideas, plan, prepared)
        yield from islice(choices, 1)
        for module in _included(plan):
            if module is not multiple_choice:
                yield from module.questions(sample, ideas, plan, prepared)
        yield from choices

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The scores of all modules, from the verdicts alone, which each module reads once."""
        log = list(verdicts) if isinstance(verdicts, Iterator) else verdicts
        return {name: rows for module in _included(plan) for name, rows in module.scores(log, plan).items()}

    async def _papers(self, sample: Sample, services: Services) -> Sequence[Paper]:
        home = services.client.settings.home
        papers, _ = await self.papers(sample, lambda: services.library, home)
        return papers.papers


def _included(plan: Plan) -> Iterator[ModuleType]:
    """The modules with a group in the plan."""
    for module in MODULES:
        if any(plan.includes(measure.group) for measure in module.MEASURES):
            yield module


async def _with_abstract(document: Document, library: Library) -> Document:
    """The document with an abstract: its own, the library's, or the opening of its full text."""
    paper = document.paper
    if paper.abstract:
        return document
    try:
        known = await find_paper(paper.title, library)
    except SourceRejected:
        known = None
    text = known.abstract if known is not None else None
    if not text and document.full_text is not None:
        text = select_sections(document.full_text.sections, _OPENING_TOKENS)
    return document.model_copy(update={"paper": paper.model_copy(update={"abstract": text or None})})
