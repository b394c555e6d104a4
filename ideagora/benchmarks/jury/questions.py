"""The questions of a jury: each idea goes to judges drawn for it, who rate it on all criteria at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ideagora.benchmarks.benchmark import Judgement, Plan, Question
from ideagora.benchmarks.jury.criteria import ANALYSIS, Criterion
from ideagora.benchmarks.jury.critic import critic
from ideagora.benchmarks.jury.panel import JUDGES, draw_judges
from ideagora.evaluators.arena.entries.selection import word_count
from ideagora.schema import Idea

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

QUALITY = "quality"
"""Kind of the questions; ``Verdict.kind``."""
OF_FAMILY = "judge_of_family"
"""Key in the details of a verdict: the judge may favour the author, since the panel has nobody else."""
TextOf = Callable[["Services", Idea], Awaitable[str]]
"""The text of an idea as judges see it; may raise ``Unscored``."""


def idea_text(idea: Idea) -> str:
    """An idea without its title; a plain model's idea is its method, an agent's has several parts."""
    return "\n\n".join(part for part in (idea.motivation, idea.novelty, idea.method) if part)


def rating_questions(
    sample: str,
    ideas: Sequence[Idea],
    plan: Plan,
    criteria: tuple[Criterion, ...],
    text_of: TextOf,
    *,
    topic: str | None = None,
    judges: int = JUDGES,
    flags_of: Callable[[Idea], tuple[str, ...]] = lambda idea: (),
) -> Iterator[Question]:
    """Ratings of each idea by judges drawn for it, who are neither its author nor of its family.

    Args:
        sample: id of the sample.
        ideas: of one agent.
        plan: its judges are the panel.
        criteria: what is rated.
        text_of: what judges see of an idea.
        topic: shown with the idea; ``None``: judges see no topic.
        judges: number of judges of an idea.
        flags_of: what is suspicious about an idea.
    """
    for idea in ideas:
        drawn = draw_judges(plan.judges, idea.model, plan.seed, sample, idea.id, count=judges)
        for judge in drawn.judges:
            yield Question(
                measure=QUALITY,
                sample=sample,
                judge=judge,
                subject=(idea,),
                answer=_rating(idea, judge, drawn.of_family, criteria, text_of, topic),
                words=(word_count([idea_text(idea)]),),
                flags=flags_of(idea),
            )


def _rating(
    idea: Idea,
    judge: str,
    of_family: bool,
    criteria: tuple[Criterion, ...],
    text_of: TextOf,
    topic: str | None,
) -> Callable[[Services], Awaitable[Judgement]]:
    async def answer(services: Services) -> Judgement:
        text = await text_of(services, idea)
        rated = await critic(criteria)(
            services.client, model=judge, topic=topic, idea=text, criteria=criteria
        )
        details = {OF_FAMILY: True} if of_family else {}
        return Judgement(
            {one.name: getattr(rated, one.name) for one in criteria}, getattr(rated, ANALYSIS), details
        )

    return answer
