"""The role that splits a plan into concepts (AI Idea Bench 2025, section 3.2.2, feasibility assessment)."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ideagora.benchmarks.judge_roles import judge_role
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

OFFLINE_CONCEPTS = 3
"""Concepts per step that the offline handler selects."""


class SplitterInputs(Inputs):
    """The steps of a plan, and the topic of its idea."""

    topic: str
    steps: tuple[str, ...]


class StepConcepts(Answer):
    """The concepts of one step."""

    step: int = Field(description="number of the step")
    reason: str = Field(description="one sentence: what the step relies on")
    concepts: tuple[str, ...] = Field(
        description="a search phrase of 1 to 5 words for each concept; [] if the step uses no method"
    )


class PlanConcepts(Answer):
    """The concepts of every step."""

    steps: tuple[StepConcepts, ...]


def _split(engine: ExtractiveModel, inputs: SplitterInputs) -> PlanConcepts:
    steps = (_split_step(engine, number, step) for number, step in enumerate(inputs.steps))
    return PlanConcepts(steps=tuple(steps))


def _split_step(engine: ExtractiveModel, number: int, step: str) -> StepConcepts:
    names = [name.name for name in texts.names(step)]
    phrases = engine.key_phrases(step, OFFLINE_CONCEPTS, avoid=names)
    found = "the names and the phrases closest to the whole step" if names else "the phrases closest to it"
    concepts = (*names, *phrases)[:OFFLINE_CONCEPTS]
    return StepConcepts(step=number, reason=f"Selected {found}.", concepts=concepts)


def _check(inputs: SplitterInputs, answer: PlanConcepts) -> str | None:
    numbers = sorted(one.step for one in answer.steps)
    if numbers == list(range(len(inputs.steps))):
        return None
    return f"report each step from 0 to {len(inputs.steps) - 1} once; got {numbers}"


CONCEPT_SPLITTER = judge_role(
    "concept_splitter",
    SplitterInputs,
    PlanConcepts,
    _split,
    Path(__file__).parents[1] / "prompts",
    check=_check,
)
