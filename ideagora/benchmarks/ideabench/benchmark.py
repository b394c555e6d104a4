"""IdeaBench: ideas from a target paper's references, compared with the target's own idea (arXiv 2411.02429).

The task is section 3.2, the measures are those of section 4.1.2: the Insight Score of any quality that the
user words, idea overlap, and semantic similarity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from ideagora.benchmarks.aggregation import best_of_all, criterion, mean_of_all, score_ideas
from ideagora.benchmarks.benchmark import Benchmark, Measure, Plan, Question, Samples, Scores, Wording
from ideagora.benchmarks.ideabench import scores as scorers
from ideagora.benchmarks.ideabench.bertscore import MODEL
from ideagora.benchmarks.ideabench.questions import (
    FEASIBILITY,
    NOVELTY,
    Asker,
    Indicator,
    bertscore_questions,
    embedding_questions,
    overlap_questions,
    parse_indicator,
    ranking_questions,
)
from ideagora.benchmarks.ideabench.rows import Reference
from ideagora.benchmarks.ideabench.samples import Resource, Sample, read_samples, shipped_samples
from ideagora.errors import UsageError
from ideagora.importing.records import Problem
from ideagora.retrieval.corpus.sample_papers import SamplePapers
from ideagora.schema import Idea, Paper, Topic, Verdict, last_day

if TYPE_CHECKING:
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

TopicFrom = Literal["references", "title"]
"""What the topic is made of if the data set states none. The title tells the agent the target's idea."""
TITLES_IN_TOPIC = 5
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "resource": get_args(Resource),
    "topic_from": get_args(TopicFrom),
    "bertscore": (),
}
"""Options with one value, and the possible values; empty: any."""
OVERLAP = Measure(
    name="overlap", group="overlap", title="idea overlap, best", unit="1 to 10", lowest=1, highest=10
)
OVERLAP_MEAN = Measure(
    name="overlap_mean",
    group="overlap",
    title="idea overlap, mean",
    unit="1 to 10",
    lowest=1,
    highest=10,
    several_ideas=True,
)
SIMILARITY = Measure(
    name="semantic_similarity", group="similarity", title="semantic similarity (BERTScore)", unit="at most 1"
)
EMBEDDING = Measure(
    name="embedding_similarity",
    group="embedding",
    title="embedding similarity (cosine)",
    unit="-1 to 1",
    lowest=-1,
    highest=1,
)


def insight_measure(indicator: Indicator) -> Measure:
    """The Insight Score of an indicator; 0.5 is what ideas get that are as good as the target's."""
    title = f"Insight Score, {indicator.name}"
    return Measure(
        name=indicator.measure, group="insight", title=title, unit="0 to 1", lowest=0.0, highest=1.0
    )


class IdeaBench(Benchmark[Sample]):
    """The benchmark, with its options."""

    name = "ideabench"
    title = "IdeaBench"
    source = "IdeaBench: Benchmarking Large Language Models for Research Idea Generation, arXiv 2411.02429"
    ideas_per_sample = 3
    wording = Wording(sample="target")
    literature: frozenset[str] = frozenset()

    def __init__(
        self,
        resource: Resource = "low",
        indicators: Sequence[Indicator] = (NOVELTY, FEASIBILITY),
        topic_from: TopicFrom = "references",
        bertscore_model: str = MODEL,
    ) -> None:
        self.resource: Resource = resource
        self.indicators = tuple(indicators)
        self.topic_from: TopicFrom = topic_from
        self.bertscore_model = bertscore_model
        insight = map(insight_measure, self.indicators)
        self.measures: tuple[Measure, ...] = (*insight, OVERLAP, OVERLAP_MEAN, SIMILARITY, EMBEDDING)

    def configured(self, options: Sequence[str]) -> IdeaBench:
        """The benchmark with options as ``NAME=VALUE``: those in ``OPTIONS``, and ``indicator`` repeatedly.

        Raises:
            UsageError: there is no such option or value.
        """
        given = [option.partition("=")[::2] for option in options]
        indicators = tuple(parse_indicator(value) for name, value in given if name == "indicator")
        if len({one.measure for one in indicators}) < len(indicators):
            raise UsageError(f"-T indicator is given twice for {indicators[0].name}: use different names.")
        single = {name: _check_option(name, value) for name, value in given if name != "indicator"}
        return IdeaBench(
            resource=cast("Resource", single.get("resource", self.resource)),
            indicators=indicators or self.indicators,
            topic_from=cast("TopicFrom", single.get("topic_from", self.topic_from)),
            bertscore_model=single.get("bertscore", self.bertscore_model),
        )

    def load(self, data: Path | None) -> Samples[Sample]:
        """The samples of a folder of IdeaBench, by default the shipped ones.

        Raises:
            IdeasFileError: a file is missing or unreadable, or has no usable target.
        """
        return shipped_samples(self.resource) if data is None else read_samples(data, self.resource)

    def topic(self, sample: Sample) -> Topic:
        """The target's topic, with its references as inspirations, and the target hidden."""
        target = sample.target
        return Topic(
            text=target.topic or self._topic_text(sample),
            before=cutoff(sample),
            inspirations=tuple(one.paper_id for one in sample.references),
            excluded=(target.title, target.paper_id),
        )

    def _topic_text(self, sample: Sample) -> str:
        if self.topic_from == "title":
            return sample.target.title
        titles = "; ".join(one.title for one in sample.references[:TITLES_IN_TOPIC])
        return f"Research that starts from: {titles}"

    async def papers(
        self, sample: Sample, library: Callable[[], Library], home: Path
    ) -> tuple[SamplePapers, Sequence[Problem]]:
        """The sample's references, with the abstracts of the data set."""
        return SamplePapers(tuple(map(_paper, sample.references))), ()

    def questions(
        self,
        sample: Sample,
        ideas: Mapping[str, Sequence[Idea]],
        plan: Plan,
        prepared: Callable[[], Embedder],
    ) -> Iterator[Question]:
        """Rankings of each agent's ideas and the target's, and ratings of each idea."""
        askers = list(self._askers(plan, prepared))
        for agent in ideas.values():
            for ask in askers:
                yield from ask(sample, agent, plan)

    def _askers(self, plan: Plan, embedder: Callable[[], Embedder]) -> Iterator[Asker]:
        wanted = [one for one in self.indicators if _is_wanted(insight_measure(one), plan)]
        yield partial(ranking_questions, indicators=wanted)
        if any(_is_wanted(one, plan) for one in (OVERLAP, OVERLAP_MEAN)):
            yield overlap_questions
        if _is_wanted(SIMILARITY, plan):
            yield partial(bertscore_questions, model=self.bertscore_model)
        if _is_wanted(EMBEDDING, plan):
            yield partial(embedding_questions, embedder=embedder)

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The score of every agent on every target."""
        log = list(verdicts)
        rating, similarity = criterion(scorers.RATING), criterion(scorers.SIMILARITY)
        found = {one.measure: scorers.insight_scores(log, one.measure) for one in self.indicators}
        found[OVERLAP.name] = score_ideas(log, OVERLAP.group, rating, best_of_all)
        found[OVERLAP_MEAN.name] = score_ideas(log, OVERLAP.group, rating, mean_of_all)
        for measure in (SIMILARITY, EMBEDDING):
            found[measure.name] = score_ideas(log, measure.group, similarity, best_of_all)
        return {one.name: found[one.name] for one in self.measures if _is_wanted(one, plan)}


def _check_option(name: str, value: str) -> str:
    if name not in OPTIONS:
        raise UsageError(f"-T {name}: unknown option; ideabench has indicator, {', '.join(OPTIONS)}.")
    if not value or value not in (OPTIONS[name] or (value,)):
        raise UsageError(f"-T {name}={value}: use {' or '.join(OPTIONS[name]) or 'a model or a folder'}.")
    return value


def _is_wanted(measure: Measure, plan: Plan) -> bool:
    return plan.includes(measure.group) or measure.name in plan.only


def cutoff(sample: Sample) -> str | None:
    """The target's date, which may be only a year; ``None`` if it is not known.

    If a reference is from the same year (or month, or day), it is the first day after that, since agents must
    see the references.
    """
    stated = sample.target.date
    if stated is None:
        return None
    dates = [last_day(one.date) for one in sample.references if one.date]
    if all(each < stated for each in dates):
        return stated
    return (date.fromisoformat(last_day(stated)) + timedelta(days=1)).isoformat()


def _paper(reference: Reference) -> Paper:
    scheme, _, rest = reference.paper_id.partition(":")
    return Paper(
        id=reference.paper_id,
        title=reference.title,
        abstract=reference.abstract,
        date=reference.date,
        arxiv_id=rest if scheme == "arxiv" else None,
        doi=rest if scheme == "doi" else None,
        citation_count=reference.citations,
        source="ideabench",
    )
