"""Roles of AidanBench: who answers, who judges coherence, and who judges similarity if that is asked for.

Source: AidanBench, sections 3.1 to 3.3. The prompts are our own. The offline model knows nothing: it answers
with outlines that any question gets, and judges by similarity of wording.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ideagora.agents.role import Role
from ideagora.benchmarks.replies import read_score
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
TEMPERATURE = 0.7
"""The temperature at which answers are sampled (section 4), unless ``--temperature`` states another."""
HIGHEST = 100
OUTLINES = (
    "List the causes that are thought to matter for the question",
    "Ask the people who are affected what they would change first",
    "Look for a place where somebody has already tried, and copy what worked",
    "Remove one constraint after the other, and see which of them decides the outcome",
    "Start with the cheapest version that could fail, and learn from how it fails",
    "Turn the question around: what would make matters worse, and who could stop doing that",
)
"""What the offline model answers, one after the other; then it repeats itself."""

Score = Annotated[float, BeforeValidator(partial(read_score, highest=HIGHEST))]


class QuestionInputs(Inputs):
    """The question, and all answers so far."""

    question: str
    earlier: tuple[str, ...]


class NextAnswer(Answer):
    """One further answer."""

    answer: str = Field(description="your one new answer in one to three sentences")


def _outline(engine: ExtractiveModel, inputs: QuestionInputs) -> dict[str, Any]:
    return {"answer": f"{OUTLINES[len(inputs.earlier) % len(OUTLINES)]}."}


ANSWERER = Role(
    name="aidanbench_answer",
    group="main",
    inputs=QuestionInputs,
    answer=NextAnswer,
    offline=_outline,
    temperature=TEMPERATURE,
    prompts=PROMPTS,
)


class CoherenceInputs(Inputs):
    """A question and one answer."""

    question: str
    answer: str


class Coherence(Answer):
    """How coherent an answer is."""

    reason: str = Field(description="one sentence: what the question asks, and whether the answer does that")
    score: Score = Field(description="0 (makes no sense) to 100 (fully coherent and plausible)")


def _similarity_score(cosine: float) -> float:
    return float(round(HIGHEST * max(0.0, min(1.0, cosine))))


def _rate_coherence(engine: ExtractiveModel, inputs: CoherenceInputs) -> dict[str, Any]:
    """Half of the scale for any text, the rest by similarity of wording to the question."""
    cosine = engine.similarity(inputs.question, [inputs.answer])[0]
    reason = f"Similarity of the wording to the question {cosine:.2f}, which is not coherence."
    return {"reason": reason, "score": (HIGHEST + _similarity_score(cosine)) / 2}


def _check_score(inputs: Inputs, answer: Coherence | Similarity) -> str | None:
    if math.isfinite(answer.score) and 0 <= answer.score <= HIGHEST:
        return None
    return f"the score is {answer.score:g}, but the scale is 0 to {HIGHEST}"


COHERENCE_JUDGE = Role(
    name="aidanbench_coherence",
    group="judge",
    inputs=CoherenceInputs,
    answer=Coherence,
    offline=_rate_coherence,
    temperature=0.0,
    check=_check_score,
    prompts=PROMPTS,
)


class SimilarityInputs(Inputs):
    """A question, a new answer, and the earlier ones."""

    question: str
    answer: str
    earlier: tuple[str, ...]


class Similarity(Answer):
    """How similar an answer is to the closest earlier one."""

    closest: int = Field(description="number of the earlier answer that says the most similar thing")
    reason: str = Field(description="one sentence: what both say, and what only the new answer says")
    score: Score = Field(description="0 (another idea) to 100 (the same idea in other words)")


def _rate_similarity(engine: ExtractiveModel, inputs: SimilarityInputs) -> dict[str, Any]:
    place, cosine = engine.rank(inputs.answer, inputs.earlier)[0]
    reason = f"Similarity of the wording {cosine:.2f}."
    return {"closest": place + 1, "reason": reason, "score": _similarity_score(cosine)}


def _check_similarity(inputs: SimilarityInputs, answer: Similarity) -> str | None:
    if not 1 <= answer.closest <= len(inputs.earlier):
        return f"there is no earlier answer {answer.closest}: use a number from 1 to {len(inputs.earlier)}"
    return _check_score(inputs, answer)


SIMILARITY_JUDGE = Role(
    name="aidanbench_similarity",
    group="judge",
    inputs=SimilarityInputs,
    answer=Similarity,
    offline=_rate_similarity,
    temperature=0.0,
    check=_check_similarity,
    prompts=PROMPTS,
)
