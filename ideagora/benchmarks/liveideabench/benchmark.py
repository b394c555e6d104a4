"""LiveIdeaBench: ideas from a single keyword, judged by a panel on five dimensions (arXiv 2412.17596)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import (
    Benchmark,
    Plan,
    Question,
    Samples,
    Scores,
    Wording,
    no_published_figures,
    without_judges,
)
from ideagora.benchmarks.jury import panel as panels
from ideagora.benchmarks.jury.measures import corrected_measure, corrected_scores, rating_measure
from ideagora.benchmarks.jury.panel import resolve_panel
from ideagora.benchmarks.jury.questions import QUALITY
from ideagora.benchmarks.jury.ratings import Effects, PanelAudit, Ratings, composite_scores, quality_scores
from ideagora.benchmarks.liveideabench.published import published_questions
from ideagora.benchmarks.liveideabench.questions import (
    FLUENCY,
    MAX_WORDS,
    TOO_LONG,
    fluency_questions,
    quality_questions,
)
from ideagora.benchmarks.liveideabench.roles import DIMENSIONS
from ideagora.benchmarks.liveideabench.samples import Sample, read_samples, shipped_samples
from ideagora.benchmarks.liveideabench.scores import fluency_scores
from ideagora.errors import UsageError
from ideagora.evaluators.statistics.scores.statistic import Statistic
from ideagora.graphs.agent import Agent
from ideagora.schema import Idea, Topic, Verdict

FLEXIBILITY, AVERAGE = "flexibility", "average"
OVERALL = "overall"
"""Group of the measures that are made of all others."""
OPTIONS = {"panel": f"{panels.LISTED} or a file", "correct": "judges", "figures": "published"}
"""The benchmark's own options, and their values."""
MOST_PUBLISHED = 100
"""Maximum number of ideas of a published file for a keyword."""
FIVE: Mapping[str, Statistic] = {**dict.fromkeys((*DIMENSIONS, FLUENCY), "mean"), FLEXIBILITY: "p30"}
"""The dimensions and how each is summarised over keywords."""


MEASURES = (
    rating_measure("originality", "originality"),
    rating_measure("feasibility", "feasibility", against="originality"),
    rating_measure("clarity", "clarity"),
    rating_measure(FLUENCY, FLUENCY, FLUENCY),
    rating_measure(FLEXIBILITY, "flexibility (30th percentile)", OVERALL, statistic="p30"),
    rating_measure(AVERAGE, "average of the five", OVERALL, mean_of=FIVE, is_summary=True),
)


class LiveIdeaBench(Benchmark[Sample]):
    """The benchmark, with its options."""

    name = "liveideabench"
    title = "LiveIdeaBench"
    source = (
        "LiveIdeaBench: Evaluating LLMs' Divergent Thinking for Scientific Idea Generation with Minimal "
        "Context, arXiv 2412.17596"
    )
    ideas_per_sample = 2
    wording = Wording(sample="keyword")

    def __init__(
        self,
        panel: str | None = None,
        is_corrected: bool = False,
        effects: Effects | None = None,
        is_published: bool = False,
    ):
        self.panel = panel
        self.is_published = is_published
        if is_published:
            self.ideas_per_sample = MOST_PUBLISHED
        self.is_corrected = is_corrected
        self.effects = effects
        corrected = map(corrected_measure, DIMENSIONS, DIMENSIONS) if is_corrected else ()
        self.measures = (*MEASURES, *corrected)

    def configured(self, options: Sequence[str]) -> LiveIdeaBench:
        """The benchmark with its options: ``panel=FILE`` or ``panel=listed``, ``correct=judges``,
        ``figures=published``.

        Raises:
            UsageError: there is no such option or value.
        """
        given = dict(option.partition("=")[::2] for option in options)
        if unknown := [name for name in given if name not in OPTIONS]:
            raise UsageError(f"-T {unknown[0]}: unknown option; liveideabench has {', '.join(OPTIONS)}.")
        for name in ("correct", "figures"):
            if name in given and given[name] != OPTIONS[name]:
                raise UsageError(f"-T {name}={given[name]}: use {OPTIONS[name]}.")
        if given.get("panel") == "":
            raise UsageError(f"-T panel=: use {OPTIONS['panel']}.")
        if {"panel", "figures"} <= given.keys():
            raise UsageError("Give either -T panel or -T figures=published, which asks no judge.")
        return LiveIdeaBench(
            given.get("panel"), is_corrected="correct" in given, is_published="figures" in given
        )

    def judges(self, given: Sequence[str], default: str) -> tuple[str, ...]:
        """The panel: of the models given with ``--judge``, of the option's list, or the one judge.

        Raises:
            UsageError: both are given, or the list cannot be read.
        """
        return without_judges(given) if self.is_published else resolve_panel(given, self.panel, default)

    def load(self, data: Path | None) -> Samples[Sample]:
        """The keywords of a list or a result file, by default the shipped ones.

        Raises:
            IdeasFileError: the file is unreadable, or has no usable keyword.
        """
        return shipped_samples() if data is None else read_samples(data)

    def topic(self, sample: Sample) -> Topic:
        """The keyword alone."""
        return Topic(text=sample.keyword)

    def category(self, sample: Sample) -> str | None:
        """The science of the keyword."""
        return sample.category

    def agent(self, agent: Agent, ideas: int, plan: Plan) -> Agent:
        """The agent with a number of ideas, unless the figures are those of a file.

        Raises:
            UsageError: its ideas would not be judged, or it cannot generate that many.
        """
        if self.is_published:
            raise no_published_figures(agent)
        return super().agent(agent, ideas, plan)

    def questions(
        self, sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: Any
    ) -> Iterator[Question]:
        """Ratings of each idea by its judges, and the pairs of each agent."""
        for of_agent in ideas.values():
            if self.is_published:
                yield from published_questions(sample, of_agent)
                continue
            if plan.includes(QUALITY) or plan.includes(OVERALL):
                yield from quality_questions(sample, of_agent, plan)
            if plan.includes(FLUENCY) or plan.includes(OVERALL):
                yield from fluency_questions(sample, of_agent, plan)

    def fitted(self, verdicts: Iterable[Verdict], plan: Plan) -> LiveIdeaBench:
        """The benchmark with the harshness of the judges, if it is to be corrected."""
        if not self.is_corrected:
            return self
        effects = Ratings.of(verdicts, DIMENSIONS).effects()
        return LiveIdeaBench(self.panel, True, effects, self.is_published)

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The score of every agent on every keyword; the average has none of its own."""
        log = list(verdicts)
        parts = {name: quality_scores(log, name) for name in DIMENSIONS} | {FLUENCY: fluency_scores(log)}
        found = {**parts, FLEXIBILITY: composite_scores(list(parts.values()))}
        return found | corrected_scores(log, self.effects or {})

    def notes(self, verdicts: Iterable[Verdict], plan: Plan) -> Iterator[str]:
        """The panel, its agreement, and what was excluded."""
        audit, excluded = PanelAudit(DIMENSIONS), dict[tuple[Any, ...], str]()
        for one in verdicts:
            audit.add(one)
            if one.kind == QUALITY and one.reason == TOO_LONG:
                excluded[one.agents[0], one.sample, one.epoch, one.subject[0]] = one.agents[0]
        if self.is_published:
            yield "Ratings and fluency are the published figures of the file; no judge was asked."
        else:
            yield from audit.panel_notes(plan)
        if excluded:
            counts = sorted(Counter(excluded.values()).items())
            listed = ", ".join(f"{agent} {number}" for agent, number in counts)
            yield f"Ideas excluded because they have more than {MAX_WORDS} words: {listed}."
        yield from audit.agreement_notes()
        if self.is_corrected:
            yield from audit.effect_notes()
