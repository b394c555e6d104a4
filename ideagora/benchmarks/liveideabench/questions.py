"""Questions of LiveIdeaBench about the ideas for one keyword (Methods, Dimensions of Evaluation)."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ideagora.benchmarks.benchmark import Judgement, Plan, Question, Unscored
from ideagora.benchmarks.jury.panel import draw_judges
from ideagora.benchmarks.jury.questions import OF_FAMILY, Rating, idea_text, rating_questions
from ideagora.benchmarks.liveideabench.roles import CRITERIA, FLUENCY_JUDGE
from ideagora.benchmarks.liveideabench.samples import Sample
from ideagora.schema import Idea

if TYPE_CHECKING:
    from ideagora.benchmarks.replies import Letter
    from ideagora.graphs.services import Services

Answer = Callable[["Services"], Awaitable[Judgement]]
FLUENCY = "fluency"
"""Kind of the questions about pairs; ``Verdict.kind``."""
MAX_WORDS = 200
"""An idea with more words is excluded (Methods, Response Standardization)."""
GRADES: Mapping[Letter, int] = {"A": 10, "B": 7, "C": 4, "D": 1}
"""Fluency of a pair by the judge's letter."""
MAX_PAIRS = 15
"""Pairs of ideas for a keyword that are judged: all of up to 6 ideas, a sample of more."""
TOO_LONG = f"excluded: more than {MAX_WORDS} words"


def quality_questions(sample: Sample, ideas: Sequence[Idea], plan: Plan) -> Iterator[Question]:
    """Three ratings by three judges for each idea, which do not see the keyword."""
    return rating_questions(sample.id, ideas, plan, Rating(CRITERIA, _text_of))


async def _text_of(services: Services, idea: Idea) -> str:
    return checked_text(idea)


def checked_text(idea: Idea) -> str:
    """The text of an idea that is not too long.

    Raises:
        Unscored: it has too many words.
    """
    text = idea_text(idea)
    if len(text.split()) > MAX_WORDS:
        raise Unscored(TOO_LONG)
    return text


def fluency_questions(sample: Sample, ideas: Sequence[Idea], plan: Plan) -> Iterator[Question]:
    """How different the ideas of one agent for a keyword are, in pairs, all by the same judge."""
    drawn = draw_judges(plan.judges, ideas[0].model, plan.seed, sample.id, ideas[0].agent, "pairs", count=1)
    (judge,) = drawn.judges
    if len(ideas) < 2:
        yield Question(FLUENCY, sample.id, judge, tuple(ideas), _no_pair, calls=0)
        return
    for first, second in chosen_pairs(ideas, plan, sample.id):
        yield Question(
            measure=FLUENCY,
            sample=sample.id,
            judge=judge,
            subject=(first, second),
            answer=_fluency_judge(sample, first, second, judge, drawn.of_family),
        )


async def _no_pair(services: Services) -> Judgement:
    raise Unscored("one idea, so there is no pair")


def chosen_pairs(ideas: Sequence[Idea], plan: Plan, key: str) -> list[tuple[Idea, Idea]]:
    """All pairs of ideas, or ``MAX_PAIRS`` of them drawn by the seed; with ``--protocol paper`` the first."""
    if plan.protocol == "paper":
        return [(ideas[0], ideas[1])]
    pairs = list(combinations(ideas, 2))
    if len(pairs) <= MAX_PAIRS:
        return pairs
    generator = random.Random("\x1f".join([str(plan.seed), key, *(idea.id for idea in ideas)]))
    return [pairs[place] for place in sorted(generator.sample(range(len(pairs)), MAX_PAIRS))]


def _fluency_judge(sample: Sample, first: Idea, second: Idea, judge: str, of_family: bool) -> Answer:
    async def answer(services: Services) -> Judgement:
        found = await FLUENCY_JUDGE(
            services.client,
            model=judge,
            keyword=sample.keyword,
            first=checked_text(first),
            second=checked_text(second),
        )
        details = {"letter": found.letter, **({OF_FAMILY: True} if of_family else {})}
        return Judgement({FLUENCY: GRADES[found.letter]}, found.reason, details)

    return answer
