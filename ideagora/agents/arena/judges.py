"""Pairwise judges of ideas and of experiment plans, criterion by criterion.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3, Tables 6, 7, 24 and 25. One role judges ideas
both in the arena and in the choice among branches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BeforeValidator, Field

from ideagora.agents.arena.offline_preferences import (
    WITH_DEGREES,
    WITHOUT_DEGREES,
    compare_ideas,
    compare_plans,
)
from ideagora.agents.experiment import PlanView
from ideagora.agents.role import Role
from ideagora.agents.views import IdeaView
from ideagora.models.call import A, Answer, Inputs

CRITERIA = ("novelty", "significance", "clarity", "feasibility", "effectiveness")
EXPERIMENT_CRITERIA = ("feasibility", "technical_quality", "clarity")

Choice = Literal["first", "second", "tie"]

_OPTION = r"(?:the )?(?:(?:idea|plan|proposal|option|candidate)[ _-]*+)"
_CHOICE_PATTERNS: tuple[tuple[Choice, re.Pattern[str]], ...] = (
    ("first", re.compile(rf"{_OPTION}(?:1|one|a)|a|1st|the 1st")),
    ("second", re.compile(rf"{_OPTION}(?:2|two|b)|b|2nd|the 2nd")),
    (
        "tie",
        re.compile(
            r"(?:both |neither )?(?:ideas |plans )?(?:are )?(?:equal|equally good|the same)|draw|"
            r"no difference"
        ),
    ),
)


def normalize_choice(value: Any) -> Any:
    """Map common synonyms to a choice; leave ambiguous values, such as a number or "both", to validation."""
    if not isinstance(value, str):
        return value
    text = " ".join(value.casefold().strip(" .*_`\"'").split())
    return next((choice for choice, pattern in _CHOICE_PATTERNS if pattern.fullmatch(text)), value)


ChoiceField = Annotated[Choice, BeforeValidator(normalize_choice)]
"""A choice, accepting the synonyms that models use."""


Grade = Literal["first much better", "first better", "tie", "second better", "second much better"]

_GRADE = re.compile(
    r"(?:the )?(?P<side>(?:(?:idea|plan|proposal|option|candidate)[ _-]*+)?[a-z0-9]+)(?: idea| plan)?(?: is)?"
    r"(?P<much> much| far)?(?P<than> better| worse)?"
)
_OTHER_SIDE = {"first": "second", "second": "first"}


def normalize_grade(value: Any) -> Any:
    """Map common synonyms to a grade ("idea 1 is much worse"); a side alone is better, not much better."""
    if not isinstance(value, str):
        return value
    text = " ".join(value.casefold().replace("_", " ").strip(" .*`\"'").split())
    if normalize_choice(text) == "tie":
        return "tie"
    match = _GRADE.fullmatch(text)
    side = normalize_choice(match["side"]) if match else None
    if match is None or side not in _OTHER_SIDE:
        return value
    better = _OTHER_SIDE[side] if match["than"] == " worse" else side
    return f"{better} {'much ' * bool(match['much'])}better"


GradeField = Annotated[Grade, BeforeValidator(normalize_grade)]
"""A choice with a degree, accepting the synonyms that models use."""


def _judge(name: str, inputs: type[Inputs], answer: type[A], compare: Callable[..., A]) -> Role[A]:
    """A role that compares two texts; ``compare`` is its offline handler, which gets the answer's type."""
    return Role(
        name=name,
        group="judge",
        inputs=inputs,
        answer=answer,
        offline=partial(compare, answer=answer),
        temperature=0.0,
    )


class IdeaPairInputs(Inputs):
    """Two ideas on one topic, in the order shown to the judge."""

    topic: str
    first: IdeaView
    second: IdeaView


C = TypeVar("C")
"""What a judge says about a criterion: a choice, or a choice with a degree."""


class _IdeaCriteria(Answer, Generic[C]):
    reason: str = Field(description="a short paragraph that compares the two ideas on each criterion")
    novelty: C
    significance: C
    clarity: C
    feasibility: C
    effectiveness: C


class IdeaPreference(_IdeaCriteria[ChoiceField]):
    """The better idea on each criterion."""

    overall: ChoiceField = Field(
        description="the idea that you would rather see carried out, weighing all criteria; "
        '"first", "second" or "tie"'
    )


class GradedIdeaPreference(_IdeaCriteria[GradeField]):
    """The better idea on each criterion, and by how much."""

    overall: GradeField = Field(
        description="the idea that you would rather see carried out, weighing all criteria, on the same scale"
    )


IDEA_JUDGE = _judge(
    "idea_judge", IdeaPairInputs, IdeaPreference, partial(compare_ideas, scale=WITHOUT_DEGREES)
)


class PlanCandidate(Inputs):
    """An experiment plan and the idea that it tests, without provenance."""

    title: str
    claim: str | None
    """The central claim, or else the novelty; ``None`` if the idea states neither."""
    might_fail: str | None = None
    """Why its author thinks that it might not work; ``None`` if not stated."""
    method: str
    plan: PlanView


class PlanPairInputs(Inputs):
    """Two experiment plans on one topic, in the order shown to the judge."""

    topic: str
    first: PlanCandidate
    second: PlanCandidate


class _PlanCriteria(Answer, Generic[C]):
    reason: str = Field(description="a short paragraph that compares the two plans on each criterion")
    feasibility: C
    technical_quality: C
    clarity: C


class PlanPreference(_PlanCriteria[ChoiceField]):
    """The better plan on each criterion."""


class GradedPlanPreference(_PlanCriteria[GradeField]):
    """The better plan on each criterion, and by how much."""


EXPERIMENT_JUDGE = _judge(
    "experiment_judge", PlanPairInputs, PlanPreference, partial(compare_plans, scale=WITHOUT_DEGREES)
)


GRADED_IDEA_JUDGE = _judge(
    "graded_idea_judge", IdeaPairInputs, GradedIdeaPreference, partial(compare_ideas, scale=WITH_DEGREES)
)

GRADED_EXPERIMENT_JUDGE = _judge(
    "graded_experiment_judge",
    PlanPairInputs,
    GradedPlanPreference,
    partial(compare_plans, scale=WITH_DEGREES),
)
