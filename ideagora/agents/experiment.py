"""Roles that plan an experiment: designer, reviewer and refiner.

Source: Chain of Ideas (arXiv 2410.13185), section 3.4 and Tables 17 to 20. The reviewer also returns
literature queries (Table 19), which saves a separate call.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from ideagora.agents.offline_leads.difficulties import DROP_IF
from ideagora.agents.role import Role
from ideagora.agents.views import EntityView, IdeaToTest, PaperBrief, PastExperiment
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


PLAN_PARTS = ("datasets", "baselines", "metrics", "ablations", "risks", "refuted_if", "cost")
"""The parts of a plan besides its steps."""


class CostedPlan(PlanView):
    """A plan with its cost, as the roles that write it see it; judges compare plans without."""

    cost: str | None


_LABEL = re.compile(r"^\s*(?:the (?:idea|claim) is )?(?:refuted|rejected) if[:\s]+", re.IGNORECASE)


def _without_label(value: object) -> object:
    """Drop the words that prompts and reports put before the outcome."""
    return _LABEL.sub("", value, count=1) if isinstance(value, str) else value


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
    refuted_if: Annotated[str, BeforeValidator(_without_label)] = Field(
        description="the outcome that would refute the idea, without the words 'refuted if'"
    )
    cost: str | None = Field(
        description="effort, with numbers where the plan gives them: model calls or GPU hours, "
        "annotation hours, elapsed time; null if it cannot be estimated",
    )


_NUMBER = re.compile(r"^\s*(?:step\s*)?\[?([0-9]{1,3})[].]?\s*$", re.IGNORECASE)


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) else value


class RefinedPlan(Answer):
    """What a review changes in a plan, and in the idea; ``None`` leaves a part of the plan as it is."""

    steps: tuple[Annotated[str, BeforeValidator(_number_as_text)], ...] = Field(
        description="all steps in their order: the number alone for a step of the current plan that stays as "
        "it is; the whole text for one that is changed or new"
    )
    datasets: tuple[str, ...] | None = Field(
        description="all data sets; null instead of the list if they stay"
    )
    baselines: tuple[str, ...] | None = Field(
        description="all baselines; null instead of the list if they stay"
    )
    metrics: tuple[str, ...] | None = Field(description="all metrics; null instead of the list if they stay")
    ablations: tuple[str, ...] | None = Field(
        description="all ablations; null instead of the list if they stay"
    )
    risks: tuple[str, ...] | None = Field(description="all risks; null instead of the list if they stay")
    refuted_if: Annotated[str | None, BeforeValidator(_without_label)] = Field(
        description="the outcome that would refute the idea, without the words 'refuted if'; null if it stays"
    )
    cost: str | None = Field(description="the cost of the revised plan; null if it stays as it is")
    declined: tuple[str, ...] = Field(
        description="defects and suggestions not followed, each with the reason; [] if there are none"
    )
    amended_method: str | None = Field(
        description="the whole method of the idea with its defects fixed and everything else as it is; null "
        "if no defect was named or all were declined"
    )
    amended_claim: str | None = Field(
        description="the central claim in one sentence, if the review changes what the plan can decide; null "
        "if it stays as it is"
    )

    def kept_steps(self) -> list[int]:
        """Numbers, from 1, of the current steps that stay as they are."""
        return [int(match[1]) for step in self.steps if (match := _NUMBER.match(step))]

    def applied_to(self, plan: CostedPlan) -> CostedPlan:
        """Return the revised plan; numbers of steps must be those of the plan."""
        changed = {name: value for name in PLAN_PARTS if (value := getattr(self, name)) is not None}
        steps = tuple(
            plan.steps[int(match[1]) - 1] if (match := _NUMBER.match(step)) else step for step in self.steps
        )
        return plan.model_copy(update={**changed, "steps": steps})


def _check_steps(inputs: Inputs, answer: Plan | RefinedPlan) -> str | None:
    return None if any(step.strip() for step in answer.steps) else "a plan needs at least one step"


class DesignInputs(Inputs):
    """The idea, related papers and their experiments, and key entities."""

    topic: str
    idea: IdeaToTest
    evaluation: str
    past: tuple[PastExperiment, ...]
    source: PaperBrief | None = None
    """The paper that the mechanism is from; ``None`` if it was stated from memory."""
    related: tuple[PaperBrief, ...]
    entities: tuple[EntityView, ...]


def _design(engine: ExtractiveModel, inputs: DesignInputs) -> Plan:
    """Return a plan with one step, a first cheap test, and the outcome that refutes the idea."""
    test = inputs.evaluation.strip()
    otherwise = "The test shows no difference." if test else "None of the ten cases improves."
    test = test or f"Apply the proposal by hand to ten cases of the topic: {inputs.topic}."
    refuted = test.partition(DROP_IF)[2]
    named = texts.names(f"{inputs.evaluation} {inputs.idea.motivation or ''}")
    return Plan(
        steps=(test,),
        datasets=tuple(name.name for name in named if name.kind == "dataset"),
        baselines=(),
        metrics=(),
        ablations=(),
        risks=(),
        refuted_if=refuted or otherwise,
        cost=None,
    )


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
    idea: IdeaToTest
    plan: CostedPlan
    entities: tuple[EntityView, ...]


class Review(Answer):
    """Suggested changes to a plan, and literature searches for them."""

    defects: tuple[str, ...] = Field(
        description="defects of the idea itself that no experiment can remedy (a step that cannot work, "
        "a missing input, a circular definition), each with the smallest change of the method that fixes it; "
        "[] if there are none"
    )
    suggestions: tuple[str, ...] = Field(
        description="concrete changes to the plan, one per entry, each naming the part that it changes by "
        "its words; at most 6"
    )
    queries: tuple[str, ...] = Field(
        description="literature search queries needed for the suggestions, at most 3; [] if none is needed"
    )


def _review(engine: ExtractiveModel, inputs: ReviewInputs) -> Review:
    """Return an empty review: an extractive model cannot judge what an experiment lacks."""
    return Review(defects=(), suggestions=(), queries=())


EXPERIMENT_REVIEWER = Role(
    name="experiment_reviewer", group="main", inputs=ReviewInputs, answer=Review, offline=_review
)


class SearchView(Inputs):
    """A search of the reviewer and the papers that are close enough to its query."""

    query: str
    papers: tuple[PaperBrief, ...]


class RefineInputs(Inputs):
    """An idea, its plan, what the reviewer found, and the searches for it."""

    topic: str
    idea: IdeaToTest
    plan: CostedPlan
    defects: tuple[str, ...]
    suggestions: tuple[str, ...]
    searches: tuple[SearchView, ...]


def _refine(engine: ExtractiveModel, inputs: RefineInputs) -> RefinedPlan:
    """Return the plan unchanged, with every suggestion declined."""
    return RefinedPlan(
        steps=tuple(str(number) for number in range(1, len(inputs.plan.steps) + 1)),
        datasets=None,
        baselines=None,
        metrics=None,
        ablations=None,
        risks=None,
        refuted_if=None,
        cost=None,
        declined=tuple(f"{found} {DECLINED}" for found in (*inputs.defects, *inputs.suggestions)),
        amended_method=None,
        amended_claim=None,
    )


def _check_refined(inputs: RefineInputs, answer: RefinedPlan) -> str | None:
    if answer.amended_method and not inputs.defects:
        return "amended_method is set, but the review names no defect of the idea: leave it null"
    if inputs.defects and not answer.amended_method and not answer.declined:
        return (
            "the review names defects of the idea: fix them in amended_method or decline them with a reason"
        )
    count = len(inputs.plan.steps)
    if unknown := [number for number in answer.kept_steps() if not 1 <= number <= count]:
        return f"the current plan has steps 1 to {count}, so step {unknown[0]} cannot stay as it is"
    return _check_steps(inputs, answer)


EXPERIMENT_REFINER = Role(
    name="experiment_refiner",
    group="main",
    inputs=RefineInputs,
    answer=RefinedPlan,
    offline=_refine,
    check=_check_refined,
)
