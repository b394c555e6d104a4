"""The judge of a jury: rates one idea from 1 to 10 on each criterion.

Source: arXiv 2412.17596, supplementary note 1.2. The prompt is our own. The offline model measures similarity
of wording, and says so.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from ideagora.agents.role import Role
from ideagora.benchmarks.jury.criteria import ANALYSIS, Criterion
from ideagora.benchmarks.replies import read_rating
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
LOWEST, HIGHEST = 1, 10
"""The scale of all criteria."""
Rating = Annotated[float, BeforeValidator(read_rating)]
"""A rating, also as text that gives one number."""


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
        **{one.name: (Rating, Field(description=f"{LOWEST} to {HIGHEST}")) for one in criteria},
    }
    return Role(
        name="jury_critic",
        group="judge",
        inputs=CriticInputs,
        answer=create_model("Critique", __base__=Answer, **fields),
        offline=_rate,
        temperature=0.0,
        check=partial(_check_ratings, [one.name for one in criteria]),
        prompts=PROMPTS,
    )


def _rate(engine: ExtractiveModel, inputs: CriticInputs) -> dict[str, Any]:
    near = engine.similarity(inputs.idea, [one.question for one in inputs.criteria])
    ratings = {
        one.name: float(round(LOWEST + (HIGHEST - LOWEST) * min(1.0, max(0.0, cosine))))
        for one, cosine in zip(inputs.criteria, near, strict=True)
    }
    return {ANALYSIS: "Similarity to the wording of each criterion, which is not the quality.", **ratings}


def _check_ratings(names: list[str], inputs: CriticInputs, answer: Answer) -> str | None:
    for name in names:
        rating = getattr(answer, name)
        if not LOWEST <= rating <= HIGHEST:
            return f"{name} is {rating:g}, but the scale is {LOWEST} to {HIGHEST}"
    return None
