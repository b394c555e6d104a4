"""Roles of AidanBench: who answers, who judges coherence, and who judges similarity if that is asked for.

Source: AidanBench, sections 3.1 to 3.3. The prompts are our own. The offline model knows nothing: it answers
with outlines that any question gets, and judges by similarity of wording.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from ideagora.agents.role import Role
from ideagora.benchmarks.aidanbench.replies import plain_answer
from ideagora.benchmarks.judge_roles import Scale, judge_role, rate_similarity
from ideagora.benchmarks.replies import read_score
from ideagora.models.call import Answer, Inputs, Reply
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
TEMPERATURE = 0.7
"""The temperature at which answers are sampled (section 4), unless ``--temperature`` states another."""
HIGHEST = 100
SCALE = Scale(0, HIGHEST)
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


def _outline(engine: ExtractiveModel, inputs: QuestionInputs) -> Reply:
    return Reply(text=f"{OUTLINES[len(inputs.earlier) % len(OUTLINES)]}.")


def _check_answer(inputs: QuestionInputs, reply: Reply) -> str | None:
    return None if plain_answer(reply.text) else "it has no answer"


ANSWERER = Role(
    name="aidanbench_answer",
    group="main",
    inputs=QuestionInputs,
    answer=Reply,  # plain text, which no model fails to write; a refusal is for the judge of coherence
    offline=_outline,
    temperature=TEMPERATURE,
    check=_check_answer,
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


COHERENCE_JUDGE = judge_role(
    "aidanbench_coherence",
    CoherenceInputs,
    Coherence,
    # half of the scale for any text, the rest by similarity to the question
    rate_similarity(
        Coherence,
        Scale(HIGHEST / 2, HIGHEST),
        lambda inputs: (inputs.question, inputs.answer),
        rating="score",
        decimals=1,
    ),
    PROMPTS,
    check=SCALE.checks("score"),
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


def _rate_similarity(engine: ExtractiveModel, inputs: SimilarityInputs) -> Similarity:
    place, cosine = engine.rank(inputs.answer, inputs.earlier)[0]
    reason = f"Similarity of the wording {cosine:.2f}."
    return Similarity(closest=place + 1, reason=reason, score=SCALE.of_cosine(cosine))


def _check_similarity(inputs: SimilarityInputs, answer: Similarity) -> str | None:
    if not 1 <= answer.closest <= len(inputs.earlier):
        return f"there is no earlier answer {answer.closest}: use a number from 1 to {len(inputs.earlier)}"
    return SCALE.complaint(answer, "score")


SIMILARITY_JUDGE = judge_role(
    "aidanbench_similarity",
    SimilarityInputs,
    Similarity,
    _rate_similarity,
    PROMPTS,
    check=_check_similarity,
)
