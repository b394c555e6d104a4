"""AidanBench: how many different coherent answers a contestant gives to open-ended questions.

McLaughlin, Campbell and Uppuluri, "AidanBench: Evaluating Novel Idea Generation on Open-Ended Questions". The
loop is section 3.1, the scores are sections 3.2 to 3.4 and appendix B.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from ideagora.benchmarks.aggregation import mean_of_scored, score_ideas
from ideagora.benchmarks.aidanbench import turns as scorers
from ideagora.benchmarks.aidanbench.agent import looping_agent
from ideagora.benchmarks.aidanbench.graph import LoopOptions
from ideagora.benchmarks.aidanbench.questions import judge_answers, published_answers
from ideagora.benchmarks.aidanbench.samples import Sample, read_questions, shipped_questions
from ideagora.benchmarks.aidanbench.turns import THRESHOLDS, Thresholds, counted, turn_of
from ideagora.benchmarks.benchmark import (
    PUBLISHED,
    Benchmark,
    Judgement,
    Measure,
    Plan,
    Question,
    Samples,
    Scores,
    Wording,
    no_published_figures,
    without_judges,
)
from ideagora.errors import UsageError
from ideagora.graphs.agent import Agent, with_ideas
from ideagora.models.parsing.structured_output import is_refusal
from ideagora.schema import Idea, Record, Topic, Verdict

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder

GROUP = "answers"
NOVELTY = Measure(
    name="novelty", group=GROUP, title="novelty, sum per question", unit="at least 0", lowest=0.0
)
ADJUSTED = Measure(
    name="adjusted", group=GROUP, title="novelty of coherent answers", unit="at least 0", lowest=0.0
)
BY_MODEL = Measure(
    name="model_novelty", group=GROUP, title="novelty by a model", unit="at least 0", lowest=0.0
)
ANSWERS = Measure(
    name="answers", group=GROUP, title="answers per question", unit="number", lowest=0.0, decimals=1
)
COHERENCE = Measure(
    name="coherence",
    group=GROUP,
    title="coherence, mean",
    unit="0 to 100",
    lowest=0.0,
    highest=100.0,
    decimals=1,
)
MMR = Measure(name="mmr", group=GROUP, title="MMR, mean", unit="-1 to 1", lowest=-1.0, highest=1.0)


class Options(Record):
    """Options of the benchmark, as ``-T NAME=VALUE`` states them."""

    thresholds: Literal["code", "paper"] | None = None
    """A name in ``THRESHOLDS``; ``None``: ``code``, with ``--protocol paper`` those of the paper."""
    coherence: float | None = Field(default=None, ge=0, le=100)
    novelty: float | None = Field(default=None, ge=-1, le=1)
    """Thresholds that replace the named ones."""
    least: float = Field(default=50.0, ge=0, le=100)
    """Coherence from which an answer counts for the adjusted score."""
    weight: float = Field(default=0.5, ge=0, le=1)
    """Weight of coherence in the MMR."""
    similarity: Literal["embedding", "model"] = "embedding"
    """``model``: a model judges similarity, too."""
    speculation: bool = True
    """Whether the next answer is made while the current one is judged."""
    figures: Literal["own", "published"] = "own"
    """``published``: coherence and novelty are those of the imported file."""

    def limits(self, plan: Plan) -> Thresholds:
        """When an answer ends the loop."""
        named = THRESHOLDS[self.thresholds or ("paper" if plan.protocol == "paper" else "code")]
        return Thresholds(
            named.coherence if self.coherence is None else self.coherence,
            named.novelty if self.novelty is None else self.novelty,
        )


class AidanBench(Benchmark[Sample]):
    """The benchmark, with its options."""

    name = "aidanbench"
    title = "AidanBench"
    source = "AidanBench: Evaluating Novel Idea Generation on Open-Ended Questions"
    ideas_per_sample = 100
    wording = Wording(sample="question", idea="answer")

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        by_model = (BY_MODEL,) if self.options.similarity == "model" else ()
        self.measures: tuple[Measure, ...] = (NOVELTY, ADJUSTED, *by_model, ANSWERS, COHERENCE, MMR)

    def configured(self, options: Sequence[str]) -> AidanBench:
        """The benchmark with options as ``NAME=VALUE``, those of ``Options``.

        Raises:
            UsageError: there is no such option or value.
        """
        return AidanBench(_parse_options(options, self.options))

    def load(self, data: Path | None) -> Samples[Sample]:
        """The questions of a file, by default the shipped ones.

        Raises:
            IdeasFileError: the file cannot be read, or has no question.
        """
        return shipped_questions() if data is None else read_questions(data)

    def topic(self, sample: Sample) -> Topic:
        """The question."""
        return Topic(text=sample.question)

    def agent(self, agent: Agent, ideas: int, plan: Plan) -> Agent:
        """A model answers in the loop, with the first judge; other agents return their answers at once.

        Raises:
            UsageError: nobody would judge its answers, as the figures are those of a file.
        """
        if self.options.figures == "published":
            raise no_published_figures(agent)
        if agent.model is not None:
            return looping_agent(agent, self._loop(plan, plan.judges[0], ideas))
        return _with_most_ideas(agent, ideas)

    def judges(self, given: Sequence[str], default: str) -> tuple[str, ...]:
        """The models that judge; none for published figures.

        Raises:
            UsageError: some are given, although the figures are those of a file.
        """
        is_published = self.options.figures == "published"
        return without_judges(given) if is_published else super().judges(given, default)

    def questions(
        self,
        sample: Sample,
        ideas: Mapping[str, Sequence[Idea]],
        plan: Plan,
        prepared: Callable[[], Embedder],
    ) -> Iterator[Question]:
        """How far a contestant's answers count: one question for each judge."""
        for answers in ideas.values():
            published = self.options.figures == "published"
            for judge in (PUBLISHED,) if published else plan.judges:
                yield Question(
                    measure=GROUP,
                    sample=sample.id,
                    judge=judge,
                    subject=tuple(answers),
                    answer=self._ask(sample, answers, self._loop(plan, judge, len(answers)), prepared),
                    calls=len(answers) * (2 if self.options.similarity == "model" else 1),
                )

    def _ask(
        self,
        sample: Sample,
        answers: Sequence[Idea],
        options: LoopOptions,
        embedder: Callable[[], Embedder],
    ) -> Callable[[Services], Awaitable[Judgement]]:
        if self.options.figures == "published":
            return partial(published_answers, answers, options)
        return partial(judge_answers, sample.question, answers, options, embedder)

    def _loop(self, plan: Plan, judge: str, maximum: int) -> LoopOptions:
        limits = self.options.limits(plan)
        return LoopOptions(
            judge=judge,
            coherence=limits.coherence,
            novelty=limits.novelty,
            maximum=maximum,
            by_model=self.options.similarity == "model",
            speculative=self.options.speculation,
        )

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The score of every contestant on every question, a mean over the judges."""
        log = list(verdicts)
        of_turns: Mapping[str, scorers.Score] = {
            NOVELTY.name: scorers.novelty_sum,
            ADJUSTED.name: partial(scorers.adjusted_sum, least=self.options.least),
            BY_MODEL.name: scorers.model_novelty_sum,
            ANSWERS.name: lambda turns: float(len(turns)),
            COHERENCE.name: scorers.mean_coherence,
            MMR.name: partial(scorers.mean_mmr, weight=self.options.weight),
        }
        return {
            one.name: score_ideas(log, GROUP, partial(_score, of_turns[one.name]), mean_of_scored)
            for one in self.measures
            if plan.includes(one.group)
        }

    def notes(self, verdicts: Iterable[Verdict], plan: Plan) -> Iterator[str]:
        """The sums in all, and why the loops ended."""
        if self.options.figures == "published":
            yield "Coherence and novelty are the published figures of the file; no judge was asked."
        log = list(verdicts)
        sums = score_ideas(log, GROUP, partial(_score, scorers.novelty_sum), mean_of_scored)
        endings: dict[str, Counter[str]] = defaultdict(Counter)
        for verdict in log:
            if verdict.criteria is not None:
                endings[verdict.agents[0]][_ending_words(verdict)] += 1
        yield from (_sum_note(agent, sums[agent], endings[agent]) for agent in sorted(endings))


def _ending_words(verdict: Verdict) -> str:
    """Why a loop ended, for the notes, which distinguish refusals from other incoherent answers."""
    ending, last = str(verdict.details["ending"]), verdict.details["turns"][-1]
    return f"{ending} (a refusal)" if ending == "incoherent" and is_refusal(last["answer"]) else ending


def _sum_note(agent: str, by_sample: Mapping[str, float | None], endings: Counter[str]) -> str:
    scored = [one for one in by_sample.values() if one is not None]
    questions = f"{len(scored)} question{'' if len(scored) == 1 else 's'}"
    ended = ", ".join(f"{ending} {number}×" for ending, number in endings.most_common())
    return f"{agent}: total novelty {sum(scored):.2f} over {questions}; ended {ended}."


def _score(score: scorers.Score, verdict: Verdict) -> float | None:
    """A figure of the answers that count; ``None`` if the verdict is unscored."""
    if verdict.criteria is None:
        return None
    turns = [turn_of(row) for row in verdict.details["turns"]]
    return score(counted(turns, verdict.details["ending"]))


def _with_most_ideas(agent: Agent, number: int) -> Agent:
    """The agent with this number of ideas, or the largest that it supports."""
    for fewer in range(number, 1, -1):
        try:
            return with_ideas(agent, fewer)
        except UsageError:
            continue
    return with_ideas(agent, 1)


def _parse_options(given: Sequence[str], options: Options) -> Options:
    """The options with those that are given as ``NAME=VALUE``.

    Raises:
        UsageError: there is no such option or value.
    """
    stated = {name.strip(): value.strip() for name, _, value in (one.partition("=") for one in given)}
    if unknown := [name for name in stated if name not in Options.model_fields]:
        raise UsageError(
            f"-T {unknown[0]}: unknown option; aidanbench has {', '.join(Options.model_fields)}."
        )
    try:
        return Options.model_validate({**options.model_dump(), **stated})
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"-T {first['loc'][0]}={first['input']}: {first['msg'].lower()}.") from None
