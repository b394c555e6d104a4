"""Idea-to-idea and idea-to-topic matching, I2I and I2T (section 3.2.1, equations 3 and 4).

A judge rates how similar a part of an idea is to the same part of the target, or how well it fits the topic.
The score of an agent is that of its best idea.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ideagora.agents.role import Role
from ideagora.benchmarks.ai_idea_bench.parts import (
    PARTS,
    Case,
    each_case,
    measures,
    scores_per_sample,
    target_part,
)
from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.ai_idea_bench.with_target_paper.judges import (
    HIGHEST,
    IDEA_MATCH_JUDGE,
    TOPIC_MATCH_JUDGE,
    MatchScore,
)
from ideagora.benchmarks.benchmark import Judgement, Measure, Plan, Question, Scores
from ideagora.schema import Idea, Verdict

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

I2I, I2T = "i2i", "i2t"
SCORE = "score"
"""The criterion of a verdict, on the protocol's scale."""
JUDGES: Mapping[str, Role[MatchScore]] = {I2I: IDEA_MATCH_JUDGE, I2T: TOPIC_MATCH_JUDGE}


def _measures(lowest: int) -> tuple[Measure, ...]:
    unit = f"{lowest} to {HIGHEST}"
    return tuple(one for group in (I2T, I2I) for one in measures(group, group.upper(), unit, lowest, HIGHEST))


MEASURES = _measures(1)
PAPER_MEASURES = _measures(0)
"""With ``--protocol paper``."""


def lowest_score(plan: Plan) -> int:
    """The bottom of the scale.

    The text says 0 to 5; the released prompts, which the published figures come from, say 1 to 5 and word
    every step. The default is the latter, so that figures can be compared with Table 1.
    """
    return 0 if plan.protocol == "paper" else 1


def questions(
    sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: Any = None
) -> Iterator[Question]:
    """One question per group, part, judge and idea."""
    for group in filter(plan.includes, JUDGES):
        for case in each_case(ideas, plan):
            yield Question(
                measure=f"{group}_{case.part}",
                sample=sample.id,
                judge=case.judge,
                subject=(case.idea,),
                answer=partial(_ask, group, case, sample, lowest_score(plan)),
            )


def scores(verdicts: Iterable[Verdict], plan: Plan) -> Scores:
    """The score of the best idea, and the mean over the ideas."""
    names = [f"{group}_{part}" for group in filter(plan.includes, JUDGES) for part in PARTS]
    return scores_per_sample(verdicts, dict.fromkeys(names, SCORE))


async def _ask(group: str, case: Case, sample: Sample, lowest: int, services: Services) -> Judgement:
    answer = await JUDGES[group](
        services.client,
        model=case.judge,
        part=case.part,
        idea=case.text,
        target=sample.topic if group == I2T else target_part(sample, case.part),
        lowest=lowest,
    )
    return Judgement(
        criteria={SCORE: answer.score},
        rationale=answer.reason,
        details={"scale": [lowest, HIGHEST]},
    )
