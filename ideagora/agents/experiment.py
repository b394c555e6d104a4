"""Roles that plan an experiment: designer, reviewer and refiner.

Source: Chain of Ideas (arXiv 2410.13185), section 3.4 and Tables 17 to 20. The reviewer also returns
literature queries (Table 19), which saves a separate call.
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

DECLINED = "Declined: the offline model plans only a first cheap test."


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
    """An experiment plan."""

    steps: tuple[str, ...] = Field(
        description="5 to 9 steps, each saying what is done, with what, and what it shows"
    )
    datasets: tuple[str, ...] = Field(description="data sets or benchmarks, by name; [] if none fits")
    baselines: tuple[str, ...] = Field(description="systems to compare with, by name")
    metrics: tuple[str, ...] = Field(description="what is measured")
    ablations: tuple[str, ...] = Field(description="components to remove, one per entry")
    risks: tuple[str, ...] = Field(description="what could go wrong, and the fallback")
    refuted_if: str = Field(description="the outcome that would refute the idea")


class RefinedPlan(Plan):
    """The plan after review."""

    steps: tuple[str, ...] = Field(
        description="all steps, each saying what is done, with what, and what it shows"
    )
    declined: tuple[str, ...] = Field(
        description="suggestions not followed, each with the reason; [] if all were followed"
    )


def _check_steps(inputs: Inputs, answer: Plan) -> str | None:
    return None if any(step.strip() for step in answer.steps) else "a plan needs at least one step"


class DesignInputs(Inputs):
    """The idea, related papers and their experiments, and key entities."""

    topic: str
    idea: IdeaView
    evaluation: str
    past: tuple[PastExperiment, ...]
    related: tuple[PaperBrief, ...]
    entities: tuple[EntityView, ...]


def _design(engine: ExtractiveModel, inputs: DesignInputs) -> dict[str, Any]:
    """Return a plan with one step, a first cheap test, and the outcome that refutes the idea."""
    test = (
        inputs.evaluation.strip() or f"Apply the proposal by hand to ten cases of the topic: {inputs.topic}."
    )
    refuted = test.partition(DROP_IF)[2]
    named = texts.names(f"{inputs.evaluation} {inputs.idea.motivation or ''}")
    return {
        "steps": [test],
        "datasets": [name.name for name in named if name.kind == "dataset"],
        "baselines": [],
        "metrics": [],
        "ablations": [],
        "risks": [],
        "refuted_if": refuted or "None of the ten cases improves.",
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
    """An idea, its experiment plan and key entities."""

    topic: str
    idea: IdeaView
    plan: PlanView
    entities: tuple[EntityView, ...]


class Review(Answer):
    """Suggested changes to a plan, and literature searches for them."""

    suggestions: tuple[str, ...] = Field(description="concrete changes to the plan, one per entry; at most 6")
    queries: tuple[str, ...] = Field(
        description="literature search queries needed for the suggestions, at most 3; [] if none is needed"
    )


def _review(engine: ExtractiveModel, inputs: ReviewInputs) -> dict[str, Any]:
    """Return an empty review: an extractive model cannot judge what an experiment lacks."""
    return {"suggestions": [], "queries": []}


EXPERIMENT_REVIEWER = Role(
    name="experiment_reviewer", group="main", inputs=ReviewInputs, answer=Review, offline=_review
)


class RefineInputs(Inputs):
    """An idea, its plan, the reviewer's suggestions and the papers found for them."""

    topic: str
    idea: IdeaView
    plan: PlanView
    suggestions: tuple[str, ...]
    papers: tuple[PaperBrief, ...]


def _refine(engine: ExtractiveModel, inputs: RefineInputs) -> dict[str, Any]:
    """Return the plan unchanged, with every suggestion declined."""
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
