"""LiveIdeaBench: ideas from a single keyword, judged by a panel on five dimensions (arXiv 2412.17596)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Measure, Plan, Question, Samples, Scores
from ideagora.benchmarks.liveideabench import panel as panels
from ideagora.benchmarks.liveideabench.questions import (
    FLUENCY,
    MAX_WORDS,
    OF_FAMILY,
    QUALITY,
    TOO_LONG,
    fluency_questions,
    quality_questions,
)
from ideagora.benchmarks.liveideabench.roles import DIMENSIONS, HIGHEST, LOWEST
from ideagora.benchmarks.liveideabench.samples import Sample, read_samples, shipped_samples
from ideagora.benchmarks.liveideabench.scores import (
    Effects,
    Ratings,
    composite_scores,
    fluency_scores,
    quality_scores,
)
from ideagora.errors import UsageError
from ideagora.evaluators.statistics.figures import Figure
from ideagora.evaluators.statistics.sample_statistics import Statistic
from ideagora.schema import Idea, Topic, Verdict

FLEXIBILITY, AVERAGE = "flexibility", "average"
OVERALL = "overall"
"""Group of the measures that are made of all others."""
OPTIONS = {"panel": f"{panels.LISTED} or a file", "correct": "judges"}
"""The benchmark's own options, and their values."""
FIVE: Mapping[str, Statistic] = {**dict.fromkeys((*DIMENSIONS, FLUENCY), "mean"), FLEXIBILITY: "p30"}
"""The dimensions and how each is summarised over keywords."""


def _measure(name: str, group: str, title: str, **fields: Any) -> Measure:
    unit = f"{LOWEST} to {HIGHEST}"
    return Measure(
        name=name, group=group, title=title, unit=unit, lowest=LOWEST, highest=HIGHEST, decimals=2, **fields
    )


MEASURES = (
    _measure("originality", QUALITY, "originality"),
    _measure("feasibility", QUALITY, "feasibility", against="originality"),
    _measure("clarity", QUALITY, "clarity"),
    _measure(FLUENCY, FLUENCY, FLUENCY),
    _measure(FLEXIBILITY, OVERALL, "flexibility (30th percentile)", statistic="p30"),
    _measure(AVERAGE, OVERALL, "average of the five", mean_of=FIVE),
)


def corrected_measure(dimension: str) -> Measure:
    """A dimension with the judges' harshness taken out; it can leave the scale."""
    title = f"{dimension}, corrected for judges"
    return Measure(name=f"{dimension}_corrected", group=QUALITY, title=title, unit="1 to 10", decimals=2)


class LiveIdeaBench(Benchmark[Sample]):
    """The benchmark, with its options."""

    name = "liveideabench"
    title = "LiveIdeaBench"
    source = (
        "LiveIdeaBench: Evaluating LLMs' Divergent Thinking for Scientific Idea Generation with Minimal "
        "Context, arXiv 2412.17596"
    )
    ideas_per_sample = 2

    def __init__(self, panel: str | None = None, is_corrected: bool = False, effects: Effects | None = None):
        self.panel = panel
        self.is_corrected = is_corrected
        self.effects = effects
        corrected = map(corrected_measure, DIMENSIONS) if is_corrected else ()
        self.measures = (*MEASURES, *corrected)

    def configured(self, options: Sequence[str]) -> LiveIdeaBench:
        """The benchmark with its options: ``panel=FILE`` or ``panel=listed``, and ``correct=judges``.

        Raises:
            UsageError: there is no such option or value.
        """
        given = dict(option.partition("=")[::2] for option in options)
        if unknown := [name for name in given if name not in OPTIONS]:
            raise UsageError(f"-T {unknown[0]}: liveideabench has the options {', '.join(OPTIONS)}.")
        if "correct" in given and given["correct"] != "judges":
            raise UsageError(f"-T correct={given['correct']}: use {OPTIONS['correct']}.")
        if given.get("panel") == "":
            raise UsageError(f"-T panel=: use {OPTIONS['panel']}.")
        return LiveIdeaBench(given.get("panel"), "correct" in given)

    def judges(self, given: Sequence[str], default: str) -> tuple[str, ...]:
        """The panel: of the models given with ``--judge``, of the option's list, or the one judge.

        Raises:
            UsageError: both are given, or the list cannot be read.
        """
        if self.panel is None:
            return panels.choose_panel(given or (default,))
        if given:
            raise UsageError("Give either --judge or -T panel, not both.")
        path = None if self.panel == panels.LISTED else Path(self.panel).expanduser()
        return panels.choose_panel(panels.read_ranking(path))

    def load(self, data: Path | None) -> Samples[Sample]:
        """The keywords of a list or a result file, by default the shipped ones.

        Raises:
            IdeasFileError: the file is unreadable, or has no usable keyword.
        """
        return shipped_samples() if data is None else read_samples(data)

    def topic(self, sample: Sample) -> Topic:
        """The keyword alone."""
        return Topic(text=sample.keyword)

    def questions(
        self, sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: None
    ) -> Iterator[Question]:
        """Ratings of each idea by its judges, and the pairs of each agent."""
        for of_agent in ideas.values():
            if plan.includes(QUALITY) or plan.includes(OVERALL):
                yield from quality_questions(sample, of_agent, plan)
            if plan.includes(FLUENCY) or plan.includes(OVERALL):
                yield from fluency_questions(sample, of_agent, plan)

    def fitted(self, verdicts: Iterable[Verdict], plan: Plan) -> LiveIdeaBench:
        """The benchmark with the harshness of the judges, if it is to be corrected."""
        if not self.is_corrected:
            return self
        return LiveIdeaBench(self.panel, True, Ratings.of(verdicts).effects())

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The score of every agent on every keyword; the average has none of its own."""
        log = list(verdicts)
        parts = {name: quality_scores(log, name) for name in DIMENSIONS} | {FLUENCY: fluency_scores(log)}
        found = {**parts, FLEXIBILITY: composite_scores(list(parts.values()))}
        for name in DIMENSIONS if self.effects is not None else ():
            found[f"{name}_corrected"] = quality_scores(log, name, (self.effects or {})[name])
        return found

    def notes(self, verdicts: Iterable[Verdict], plan: Plan) -> Iterator[str]:
        """The panel, its agreement, and what was excluded."""
        ratings, partial, excluded = Ratings(), Counter[str](), dict[tuple[Any, ...], str]()
        for one in verdicts:
            ratings.add(one)
            if one.details.get(OF_FAMILY):
                partial[one.judge] += 1
            if one.kind == QUALITY and one.reason == TOO_LONG:
                excluded[one.agents[0], one.sample, one.epoch, one.subject[0]] = one.agents[0]
        if len(plan.judges) == 1:
            yield f"The panel is one judge, {plan.judges[0]}, so the scores are its opinion alone."
        else:
            yield f"The panel: {', '.join(plan.judges)}."
        if partial and set(plan.judges) != {"offline"}:
            yield (
                f"{partial.total()} answers are by judges of the author's own family "
                f"({', '.join(sorted(partial))}), since the panel has no others: they may favour it."
            )
        if excluded:
            counts = sorted(Counter(excluded.values()).items())
            listed = ", ".join(f"{agent} {number}" for agent, number in counts)
            yield f"Ideas excluded because they have more than {MAX_WORDS} words: {listed}."
        yield from _agreement(ratings)


def _agreement(ratings: Ratings) -> Iterator[str]:
    figures = {name: ratings.agreement(place) for place, name in enumerate(DIMENSIONS)}
    if told := [f"{name} {text}" for name, figure in figures.items() if (text := _with_interval(figure))]:
        n = max(figure.n for figure in figures.values())
        yield f"Agreement of the judges of an idea, ICC(1,1) over {n} ideas: {', '.join(told)}."


def _with_interval(figure: Figure) -> str:
    if figure.value is None:
        return ""
    if figure.low is None or figure.high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"
