"""Workers that plan an experiment: designer, reviewer, refiner.

Source: Chain of Ideas (arXiv 2410.13185), section 3.4 and Tables 17 to 20. The reviewer also names
the searches that would help (Table 19), which saves a call that waits for nothing else.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ideagora.agents.offline_leads.difficulties import DROP_IF
from ideagora.agents.role import Role
from ideagora.agents.views import EntityView, IdeaView, PaperBrief, PastExperiment
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

DECLINED = "The offline model plans no more than a first cheap test."


class PlanView(Inputs):
    """An experiment plan as roles see it."""

    steps: tuple[str, ...]
    datasets: tuple[str, ...]
    baselines: tuple[str, ...]
    metrics: tuple[str, ...]
    ablations: tuple[str, ...]
    risks: tuple[str, ...]
    refuted_if: str


class Plan(Answer):
    """An experiment plan that a group could follow."""

    steps: tuple[str, ...] = Field(
        description="one step each: what is done, with what, and what it shows; 5 to 9 steps"
    )
    datasets: tuple[str, ...] = Field(description="data sets or benchmarks, by name; [] when none fits")
    baselines: tuple[str, ...] = Field(description="systems to compare with, by name")
    metrics: tuple[str, ...] = Field(description="what is measured")
    ablations: tuple[str, ...] = Field(description="parts that are switched off, one each")
    risks: tuple[str, ...] = Field(description="what may go wrong, and what to do then")
    refuted_if: str = Field(description="the outcome that would refute the idea")


class RefinedPlan(Plan):
    """The plan after review."""

    declined: tuple[str, ...] = Field(
        description="a suggestion that was not followed, and why, one string each; [] when all were"
    )


def _check_steps(inputs: Inputs, answer: Plan) -> str | None:
    return None if any(step.strip() for step in answer.steps) else "a plan needs at least one step"


class DesignInputs(Inputs):
    """The idea, how earlier papers tested theirs, and the entities to know."""

    topic: str
    idea: IdeaView
    evaluation: str
    past: tuple[PastExperiment, ...]
    related: tuple[PaperBrief, ...]
    entities: tuple[EntityView, ...]


def _design(engine: ExtractiveModel, inputs: DesignInputs) -> dict[str, Any]:
    """A first cheap test and what would end the matter there; no plan beyond it."""
    test = inputs.evaluation.strip() or f"Try by hand, on ten cases, what is proposed for: {inputs.topic}."
    refuted = test.partition(DROP_IF)[2]
    named = texts.names(f"{inputs.evaluation} {inputs.idea.motivation or ''}")
    return {
        "steps": [test],
        "datasets": [name.name for name in named if name.kind == "dataset"],
        "baselines": [],
        "metrics": [],
        "ablations": [],
        "risks": [],
        "refuted_if": refuted or "None of the ten cases gets better.",
    }


EXPERIMENT_DESIGNER = Role(
    name="experiment_designer",
    group="main",
    inputs=DesignInputs,
    answer=Plan,
    offline=_design,
    check=_check_steps,
)


class ReviewInputs(Inputs):
    """An idea and the plan to test it."""

    topic: str
    idea: IdeaView
    plan: PlanView
    entities: tuple[EntityView, ...]


class Review(Answer):
    """What would make the plan better, and what to look up for it."""

    suggestions: tuple[str, ...] = Field(description="a concrete change to the plan, one each; at most 6")
    queries: tuple[str, ...] = Field(
        description="literature searches that would help to carry them out; [] when none is needed; at most 3"
    )


def _review(engine: ExtractiveModel, inputs: ReviewInputs) -> dict[str, Any]:
    """Nothing: sentences alone do not tell what an experiment lacks."""
    return {"suggestions": [], "queries": []}


EXPERIMENT_REVIEWER = Role(
    name="experiment_reviewer", group="main", inputs=ReviewInputs, answer=Review, offline=_review
)


class RefineInputs(Inputs):
    """The plan, what the reviewer asked for, and what the searches found."""

    topic: str
    idea: IdeaView
    plan: PlanView
    suggestions: tuple[str, ...]
    papers: tuple[PaperBrief, ...]


def _refine(engine: ExtractiveModel, inputs: RefineInputs) -> dict[str, Any]:
    """The plan as it is; every suggestion is declined, with the reason."""
    declined = [f"{suggestion} {DECLINED}" for suggestion in inputs.suggestions]
    return {**inputs.plan.model_dump(), "declined": declined}


EXPERIMENT_REFINER = Role(
    name="experiment_refiner",
    group="main",
    inputs=RefineInputs,
    answer=RefinedPlan,
    offline=_refine,
    check=_check_steps,
)
