"""Judges of LiveIdeaBench: three ratings of an idea, and how different two ideas are.

Source: arXiv 2412.17596, supplementary notes 1.2 and 1.3. The prompts are our own. The offline model measures
similarity of wording, and says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ideagora.agents.role import Role
from ideagora.benchmarks.replies import Letter, read_letter, read_rating
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
LOWEST, HIGHEST = 1, 10
"""The scale of all dimensions."""
DIMENSIONS = ("originality", "feasibility", "clarity")
"""What is rated for each idea."""
_WORDINGS = {
    "originality": "a new question or mechanism that nobody has proposed before",
    "feasibility": "existing methods, materials and measurements can carry it out",
    "clarity": "it states plainly what is proposed and why",
}
_GRADES: tuple[tuple[float, Letter], ...] = ((0.95, "D"), (0.8, "C"), (0.6, "B"))
"""Lowest cosine of a letter by the offline model."""

Rating = Annotated[float, BeforeValidator(read_rating)]
"""A rating, also as text that gives one number."""


class CriticInputs(Inputs):
    """An idea, without its keyword and author."""

    idea: str


class Critique(Answer):
    """Ratings of an idea."""

    analysis: str = Field(description="strengths and weaknesses, in less than 100 words")
    originality: Rating = Field(description="1 to 10")
    feasibility: Rating = Field(description="1 to 10")
    clarity: Rating = Field(description="1 to 10")


def _rate(engine: ExtractiveModel, inputs: CriticInputs) -> dict[str, Any]:
    near = engine.similarity(inputs.idea, list(_WORDINGS.values()))
    ratings = {
        name: float(round(LOWEST + (HIGHEST - LOWEST) * max(0.0, cosine)))
        for name, cosine in zip(_WORDINGS, near, strict=True)
    }
    return {"analysis": "Similarity to the wording of each quality, which is not the quality.", **ratings}


def _check_ratings(inputs: CriticInputs, answer: Critique) -> str | None:
    for name in DIMENSIONS:
        rating = getattr(answer, name)
        if not LOWEST <= rating <= HIGHEST:
            return f"{name} is {rating:g}, but the scale is {LOWEST} to {HIGHEST}"
    return None


CRITIC = Role(
    name="liveideabench_critic",
    group="judge",
    inputs=CriticInputs,
    answer=Critique,
    offline=_rate,
    temperature=0.0,
    check=_check_ratings,
    prompts=PROMPTS,
)


class FluencyInputs(Inputs):
    """Two ideas for a keyword."""

    keyword: str
    first: str
    second: str


class Fluency(Answer):
    """How different two ideas are."""

    reason: str = Field(description="one sentence: the main common point and the main difference")
    letter: Annotated[Letter, BeforeValidator(read_letter)] = Field(description="A, B, C or D")


def _grade(engine: ExtractiveModel, inputs: FluencyInputs) -> dict[str, Any]:
    cosine = engine.similarity(inputs.first, [inputs.second])[0]
    letter = next((letter for lowest, letter in _GRADES if cosine >= lowest), "A")
    return {"reason": f"Similarity of the texts {cosine:.2f}.", "letter": letter}


FLUENCY_JUDGE = Role(
    name="liveideabench_fluency",
    group="judge",
    inputs=FluencyInputs,
    answer=Fluency,
    offline=_grade,
    temperature=0.0,
    prompts=PROMPTS,
)
