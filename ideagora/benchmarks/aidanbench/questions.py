"""The one question of AidanBench about a contestant's answers: how far they count.

The loop of a model has been judged while it ran; its calls are cached, so the verdict costs nothing. The
answers of agents and imported answers, which exist already, are judged here, in their order. Another judge or
another threshold ends the same answers elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

from ideagora.benchmarks.aidanbench.agent import ENDING, REASON
from ideagora.benchmarks.aidanbench.graph import FAILED, LoopOptions
from ideagora.benchmarks.aidanbench.judging import judge_coherence, judge_novelty
from ideagora.benchmarks.aidanbench.novelty import AnswerVectors, novelty_of_last
from ideagora.benchmarks.aidanbench.turns import (
    Ending,
    Turn,
    counted,
    novelty_sum,
    turn_row,
    turns_until_end,
)
from ideagora.benchmarks.benchmark import Judgement, Unscored
from ideagora.schema import Idea

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder

AT_ONCE = 8
"""Existing answers that are judged at once; those after the one that ends the loop are judged in vain."""
COHERENCE, NOVELTY, MODEL_NOVELTY = (
    "coherence_score",
    "embedding_dissimilarity_score",
    "llm_dissimilarity_score",
)
"""Names in published files."""


async def judge_answers(
    question: str,
    ideas: Sequence[Idea],
    options: LoopOptions,
    embedder: Callable[[], Embedder],
    services: Services,
) -> Judgement:
    """The verdict on all answers to a question.

    Raises:
        Unscored: the loop failed before an answer ended it.
        UnreadableAnswer, ModelError: the judge has no usable answer, or cannot be asked.
    """
    answers = [idea.method for idea in ideas]
    turns = [turn async for turn in _turns(question, answers, options, embedder, services)]
    return _judgement(ideas, turns, options)


async def published_answers(ideas: Sequence[Idea], options: LoopOptions, services: Services) -> Judgement:
    """The verdict from the figures of a published file.

    Raises:
        Unscored: an answer has no figures, or the answers are from several temperatures.
    """
    labels = {str(idea.extra.get("imported", {}).get("temperature_label")) for idea in ideas}
    if len(labels) > 1:
        raise Unscored(f"the file has answers at the temperatures {', '.join(sorted(labels))}: keep one")
    return _judgement(ideas, [_published_turn(number, idea) for number, idea in enumerate(ideas, 1)], options)


def _published_turn(number: int, idea: Idea) -> Turn:
    scores = idea.extra.get("scores") or {}
    found = [scores.get(name) for name in (COHERENCE, NOVELTY)]
    coherence, novelty = (float(one) if isinstance(one, int | float) else None for one in found)
    if coherence is None or novelty is None:
        raise Unscored(f"answer {number} has no published {NOVELTY if coherence is not None else COHERENCE}")
    stated = scores.get(MODEL_NOVELTY)
    return Turn(coherence, novelty, float(stated) if isinstance(stated, int | float) else None)


async def _turns(
    question: str,
    answers: Sequence[str],
    options: LoopOptions,
    embedder: Callable[[], Embedder],
    services: Services,
) -> AsyncIterator[Turn]:
    """The judged answers up to the one that ends the loop, a few at once if speculation is on."""
    vectors, size = AnswerVectors(), AT_ONCE if options.speculative else 1
    client, judge = services.client, options.judge
    for start in range(0, len(answers), size):
        numbers = range(start + 1, min(start + size, len(answers)) + 1)
        coherences, stated = await asyncio.gather(
            asyncio.gather(
                *(judge_coherence(client, judge, question, answers[number - 1]) for number in numbers)
            ),
            asyncio.gather(
                *(
                    judge_novelty(client, judge, question, answers[:number])
                    for number in numbers
                    if options.by_model
                )
            ),
        )
        for place, number in enumerate(numbers):
            novelty = await novelty_of_last(vectors, answers[:number], embedder)
            turn = Turn(coherences[place], novelty, stated[place] if options.by_model else None)
            yield turn
            if turns_until_end([turn], options.thresholds)[1] is not None:
                return


def _judgement(ideas: Sequence[Idea], turns: Sequence[Turn], options: LoopOptions) -> Judgement:
    seen, by_answer = turns_until_end(turns, options.thresholds)
    ending = by_answer or _ending_without_answer(ideas[-1], len(ideas))
    counting = counted(seen, ending)
    rows: list[dict[str, object]] = [
        {"answer": idea.method, **turn_row(turn)} for idea, turn in zip(ideas, seen, strict=False)
    ]
    return Judgement(
        criteria={"novelty": novelty_sum(counting), "answers": float(len(counting))},
        rationale=f"{len(counting)} answers count; the loop ended: {ending}.",
        details={"turns": rows, "ending": ending},
    )


def _ending_without_answer(last: Idea, number: int) -> Ending:
    """Why the answers end although no answer ended the loop.

    Raises:
        Unscored: something failed.
    """
    if last.extra.get(ENDING) == FAILED:
        raise Unscored(f"the loop failed after {number} answers: {last.extra.get(REASON)}")
    return "maximum" if last.extra.get(ENDING) == "maximum" else "no further answer"
