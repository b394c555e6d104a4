"""Judges of LiveIdeaBench: a jury on three qualities of an idea, and how different two ideas are.

Source: arXiv 2412.17596, supplementary notes 1.2 and 1.3. The prompts are our own. The offline model measures
similarity of wording, and says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ideagora.benchmarks.judge_roles import judge_role
from ideagora.benchmarks.jury.criteria import DEFAULT_CRITERIA, Criterion
from ideagora.benchmarks.jury.critic import critic
from ideagora.benchmarks.replies import Letter, read_closing_letter, read_letter
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
_ORIGINALITY, _FEASIBILITY, _CLARITY = DEFAULT_CRITERIA
CRITERIA = (
    _ORIGINALITY,
    _FEASIBILITY,
    Criterion(
        name="clarity",
        question=f"{_CLARITY.question} The author had about 100 words, so missing details are no fault.",
    ),
)
"""What is rated for each idea."""
DIMENSIONS = tuple(one.name for one in CRITERIA)
CRITIC = critic(CRITERIA)
_GRADES: tuple[tuple[float, Letter], ...] = ((0.95, "D"), (0.8, "C"), (0.6, "B"))
"""Lowest cosine of a letter by the offline model."""


class FluencyInputs(Inputs):
    """Two ideas for a keyword."""

    keyword: str
    first: str
    second: str


class Fluency(Answer):
    """How different two ideas are."""

    reason: str = Field(description="one sentence: the main common point and the main difference")
    letter: Annotated[Letter, BeforeValidator(read_letter)] = Field(description="A, B, C or D")

    @classmethod
    def fields_of_prose(cls, text: str) -> dict[str, Any] | None:
        """The letter on the last line, after the reason."""
        found = read_closing_letter(text)
        return None if found is None else {"reason": found[0] or "None given.", "letter": found[1]}


def _grade(engine: ExtractiveModel, inputs: FluencyInputs) -> Fluency:
    cosine = engine.similarity(inputs.first, [inputs.second])[0]
    letter: Letter = next((letter for lowest, letter in _GRADES if cosine >= lowest), "A")
    return Fluency(reason=f"Similarity of the texts {cosine:.2f}.", letter=letter)


FLUENCY_JUDGE = judge_role(
    "liveideabench_fluency",
    FluencyInputs,
    Fluency,
    _grade,
    PROMPTS,
)
