"""The judge of a jury: rates one idea from 1 to 10 on each criterion.

Source: arXiv 2412.17596, supplementary note 1.2. The prompt is our own. The offline model measures similarity
of wording, and says so.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

from pydantic import Field, create_model

from ideagora.agents.role import Role
from ideagora.benchmarks.judge_roles import Scale, judge_role
from ideagora.benchmarks.jury.criteria import ANALYSIS, Criterion
from ideagora.benchmarks.replies import Rating
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
SCALE = Scale(1, 10)
"""The scale of all criteria."""


class CriticInputs(Inputs):
    """An idea without its author, and what is asked about it."""

    topic: str | None
    """The topic, if judges see it."""
    idea: str
    criteria: tuple[Criterion, ...]


@cache
def critic(criteria: tuple[Criterion, ...]) -> Role[Answer]:
    """The judge for these criteria; its answer has ``analysis`` and a number for each criterion."""
    fields: dict[str, Any] = {
        ANALYSIS: (str, Field(description="strengths and weaknesses, in less than 100 words")),
        **{one.name: (Rating, Field(description=str(SCALE))) for one in criteria},
    }
    answer = create_model("Critique", __base__=Answer, **fields)
    return judge_role(
        "jury_critic",
        CriticInputs,
        answer,
        partial(_rate, answer=answer),
        PROMPTS,
        check=SCALE.checks(*(one.name for one in criteria)),
    )


def _rate(engine: ExtractiveModel, inputs: CriticInputs, answer: type[Answer]) -> Answer:
    near = engine.similarity(inputs.idea, [one.question for one in inputs.criteria])
    ratings = {one.name: SCALE.of_cosine(cosine) for one, cosine in zip(inputs.criteria, near, strict=True)}
    analysis = "Similarity to the wording of each criterion, which is not the quality."
    return answer.model_validate({ANALYSIS: analysis, **ratings})
