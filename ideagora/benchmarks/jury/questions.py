"""The questions of a jury: each idea goes to judges drawn for it, who rate it on all criteria at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True)
class Rating:
    """What judges rate, and what they see of an idea."""

    criteria: tuple[Criterion, ...]
    text_of: TextOf
    judges: int = JUDGES
    """Judges of an idea."""
    topic_of: Callable[[Idea], str | None] = lambda idea: None
    """The topic that is shown with an idea; ``None``: none is."""
    flags_of: Callable[[Idea], tuple[str, ...]] = lambda idea: ()
    """What is suspicious about an idea."""


def rating_questions(sample: str, ideas: Sequence[Idea], plan: Plan, rating: Rating) -> Iterator[Question]:
    """Ratings of each idea by judges drawn for it, who are neither its author nor of its family.

    Args:
        sample: id of the sample.
        ideas: of one agent.
        plan: its judges are the panel.
        rating: what they are asked.
    """
    for idea in ideas:
        drawn = draw_judges(plan.judges, idea.model, plan.seed, sample, idea.id, count=rating.judges)
        for judge in drawn.judges:
            yield Question(
                measure=QUALITY,
                sample=sample,
                judge=judge,
                subject=(idea,),
                answer=partial(_rate, rating, idea, judge, drawn.of_family),
                words=(word_count([idea_text(idea)]),),
                flags=rating.flags_of(idea),
            )


async def _rate(rating: Rating, idea: Idea, judge: str, of_family: bool, services: Services) -> Judgement:
    criteria = rating.criteria
    text = await rating.text_of(services, idea)
    rated = await critic(criteria)(
        services.client, model=judge, topic=rating.topic_of(idea), idea=text, criteria=criteria
    )
    details = {OF_FAMILY: True} if of_family else {}
    return Judgement(
        {one.name: getattr(rated, one.name) for one in criteria}, getattr(rated, ANALYSIS), details
    )
