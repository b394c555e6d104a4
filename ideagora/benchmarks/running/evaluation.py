"""A benchmark as an evaluation of the judging graph: one round is the questions about a few samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Benchmark, Judgement, Plan, ProtocolName, Question
from ideagora.benchmarks.running.errors import errors_named
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.evaluators.judging.asking import ask_or_reason
from ideagora.evaluators.judging.evaluation import Evaluation, Key, Progress
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.schema import Idea, Usage, Verdict, stable_id

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

SAMPLES_PER_ROUND = 64
"""Samples whose ideas and questions are in memory at once."""


class BenchmarkEvaluation(Evaluation):
    """The questions of a benchmark about all samples. A question's key is (sample, number), from 0."""

    def __init__(
        self,
        benchmark: Benchmark[Any],
        samples: Mapping[str, Any],
        ideas: IdeaLog,
        plans: Sequence[Plan],
        prepared: Any,
    ) -> None:
        self._benchmark, self._plans, self._prepared = benchmark, plans, prepared
        self._samples, self._ids, self._ideas = samples, tuple(samples), ideas
        self._questions = lru_cache(maxsize=SAMPLES_PER_ROUND)(self._list_questions)

    def count(self) -> int:
        """Number of questions; extrapolated from the first samples if there are many."""
        first = min(len(self._ids), SAMPLES_PER_ROUND)
        counted = sum(len(self._questions(sample)) for sample in range(first))
        return round(counted * len(self._ids) / first) if first else 0

    def next_round(self, progress: Progress) -> Sequence[Key] | None:
        """The questions about the next samples."""
        first = progress.round * SAMPLES_PER_ROUND
        if first >= len(self._ids):
            return None
        return list(self._keys(range(first, min(first + SAMPLES_PER_ROUND, len(self._ids)))))

    def asked(self, progress: Progress) -> Iterable[Key]:
        """The questions about all samples so far."""
        return self._keys(range(min(progress.round * SAMPLES_PER_ROUND, len(self._ids))))

    def judge(self, question: Key) -> str:
        """The judge's model, or the name of a computation."""
        return self._question(question).judge

    def verdict_id(self, question: Key) -> str:
        """Id of the verdict, derived from what is judged, by whom and how."""
        return verdict_id(self._benchmark.name, self._question(question))

    async def ask(self, services: Services, question: Key) -> Verdict:
        """Ask the judge."""
        asked = self._question(question)
        with errors_named(self._benchmark, "questions", f"a question of {asked.measure} on {asked.sample!r}"):
            judgement, reason, usage = await ask_or_reason(asked.judge, asked.answer(services))
        return to_verdict(self._benchmark.name, asked, judgement, reason, usage)

    def unasked(self, log: VerdictLog, protocol: ProtocolName) -> Counter[tuple[str, str]]:
        """Number of a protocol's questions without a verdict, by kind and sample."""
        return Counter(
            (question.measure, question.sample)
            for sample in range(len(self._ids))
            for question in self._questions(sample)
            if question.protocol == protocol and verdict_id(self._benchmark.name, question) not in log
        )

    def _keys(self, samples: Iterable[int]) -> Iterator[Key]:
        return ((sample, number) for sample in samples for number in range(len(self._questions(sample))))

    def _question(self, key: Key) -> Question:
        sample, number = key
        return self._questions(sample)[number]

    def _list_questions(self, sample: int) -> tuple[Question, ...]:
        name = self._ids[sample]
        ideas, sample = self._ideas.ideas(name), self._samples[name]
        with errors_named(self._benchmark, "questions", f"the sample {name!r}"):
            return tuple(
                question
                for plan in self._plans
                for question in questions_about(self._benchmark, sample, ideas, plan, self._prepared)
            )


def questions_about(
    benchmark: Benchmark[Any],
    sample: Any,
    ideas: Mapping[int, Mapping[str, Sequence[Idea]]],
    plan: Plan,
    prepared: Any,
) -> Iterator[Question]:
    """The questions about one sample under one protocol; ``ideas`` are by epoch and agent."""
    for epoch, of_agents in sorted(ideas.items()):
        for question in benchmark.questions(sample, of_agents, plan, prepared):
            yield replace(question, epoch=epoch, protocol=plan.protocol)


def verdict_id(benchmark: str, question: Question) -> str:
    """Id of the verdict on a question; the agents are in it because two of them may have the same idea."""
    ideas = [part for idea in question.subject for part in (idea.agent, idea.id)]
    what = [benchmark, question.protocol, question.measure, question.sample, question.judge]
    return stable_id(*what, question.variant, str(question.epoch), str(question.order), *ideas)


def to_verdict(
    benchmark: str, question: Question, judgement: Judgement | None, reason: str | None, usage: Usage
) -> Verdict:
    """The record of an answer, or of the reason why there is none."""
    return Verdict(
        id=verdict_id(benchmark, question),
        evaluator=benchmark,
        protocol=question.protocol,
        topic=question.subject[0].topic,
        subject=tuple(idea.id for idea in question.subject),
        criteria=None if judgement is None else dict(judgement.criteria),
        status="unscored" if judgement is None else "scored",
        reason=reason,
        judge=question.judge,
        order=question.order,
        usage=usage,
        kind=question.measure,
        sample=question.sample,
        variant=question.variant,
        epoch=question.epoch,
        details={} if judgement is None else dict(judgement.details),
        agents=tuple(idea.agent for idea in question.subject),
        rationale=None if judgement is None else judgement.rationale,
        words=question.words,
        flags=question.flags,
    )
