"""Pairwise judges of ideas and of experiment plans, criterion by criterion.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3, Tables 6, 7, 24 and 25. One role judges ideas
both in the arena and in the choice among branches.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ideagora.agents.experiment import PlanView
from ideagora.agents.role import Role
from ideagora.agents.text.instructions import count_instructions
from ideagora.agents.text.outcomes import find_outcomes
from ideagora.agents.views import IdeaView
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.schema import FAR_FROM_TOPIC

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


class IdeaPairInputs(Inputs):
    """Two ideas on one topic, in the order shown to the judge."""

    topic: str
    first: IdeaView
    second: IdeaView


class IdeaPreference(Answer):
    """The better idea on each criterion."""

    reason: str = Field(description="a short paragraph that compares the two ideas on each criterion")
    novelty: ChoiceField
    significance: ChoiceField
    clarity: ChoiceField
    feasibility: ChoiceField
    effectiveness: ChoiceField
    overall: ChoiceField = Field(
        description="the idea that you would rather see carried out, weighing all criteria; "
        '"first", "second" or "tie"'
    )


MARGINS = {"novelty": 0.05, "significance": 0.05, "clarity": 2.0, "feasibility": 1.0, "effectiveness": 0.05}
"""Differences up to which the offline judge calls a tie, in the unit of each measure (``_measure_idea``)."""
CLEARLY_NEARER = 0.15
"""Difference in similarity to the topic at which an off-topic idea loses on every criterion."""
SAME_TEXT = 0.97
"""Cosine at which a part counts as a repetition of another."""
WORDS_FOR_A_PART = 25.0
"""Penalty in the clarity measure for a missing part, in words of excess sentence length."""


def _compare_ideas(engine: ExtractiveModel, inputs: IdeaPairInputs) -> dict[str, Any]:
    first, second = (_measure_idea(engine, inputs.topic, idea) for idea in (inputs.first, inputs.second))
    near = engine.similarity(inputs.topic, [_full_text(inputs.first), _full_text(inputs.second)])
    far = [similarity < FAR_FROM_TOPIC for similarity in near]
    if far[0] != far[1] and abs(near[0] - near[1]) >= CLEARLY_NEARER:
        better = "second" if far[0] else "first"
        figures = f"{near[0]:.2f} to {near[1]:.2f}, limit {FAR_FROM_TOPIC:.2f}"
        reason = f"Only the {better} idea is close to the topic (similarity {figures})."
        return {"reason": reason, **dict.fromkeys((*CRITERIA, "overall"), better)}
    choices = {name: _prefer(first[name], second[name], MARGINS[name]) for name in CRITERIA}
    figures = "; ".join(
        f"{name} {_format_measure(first[name])} to {_format_measure(second[name])}" for name in CRITERIA
    )
    return {
        "reason": f"Measured properties, first to second: {figures}. Small differences are ties; what one "
        "idea omits counts in favour of the other.",
        **choices,
        "overall": _majority(choices.values()),
    }


def _majority(choices: Iterable[Choice]) -> Choice:
    """Return the side that wins more criteria."""
    counts = Counter(choices)
    return _prefer(float(counts["first"]), float(counts["second"]), 0.0)


def _full_text(idea: IdeaView) -> str:
    return ". ".join(part for part in (idea.title, idea.motivation, idea.novelty, idea.method) if part)


def _format_measure(value: float | None) -> str:
    return "missing" if value is None else f"{round(value, 2) + 0.0:.2f}"  # avoid -0.00


def _measure_idea(engine: ExtractiveModel, topic: str, idea: IdeaView) -> dict[str, float | None]:
    """Return proxy measures for the criteria; ``None`` where the idea omits what is measured.

    A part that repeats another counts as missing. So does a method with more results than instructions,
    such as an abstract.
    """
    motivation = _unless_repeated(engine, idea.motivation, [idea.method])
    novelty = _unless_repeated(engine, idea.novelty, [idea.method, idea.motivation or ""])
    parts = texts.sentences(idea.method)
    lengths = [len(texts.words(sentence)) for sentence in parts] or [0]
    is_plan = count_instructions(idea.method) > len(find_outcomes(idea.method))
    absent = (motivation is None) + (novelty is None) + (not is_plan)
    return {
        # distance of motivation and method: close ones restate, distant ones combine
        "novelty": None if novelty is None else _similarity(engine, motivation, idea.method, distance=True),
        # similarity of motivation and topic
        "significance": _similarity(engine, motivation, topic),
        # penalty: words by which the mean sentence exceeds 25, plus missing parts
        "clarity": -max(0.0, sum(lengths) / len(lengths) - 25.0) - WORDS_FOR_A_PART * absent,
        # named systems, data sets and metrics, at most ten
        "feasibility": float(min(10, len(texts.names(f"{idea.method} {idea.novelty or ''}"))))
        if is_plan
        else None,
        # similarity of the method to the claimed novelty
        "effectiveness": _similarity(engine, novelty, idea.method) if is_plan else None,
    }


def _unless_repeated(engine: ExtractiveModel, part: str | None, others: list[str]) -> str | None:
    """Return the part, or None if it repeats one of the others."""
    compared = [other for other in others if other]
    if part is None or not compared:
        return part
    return None if max(engine.similarity(part, compared)) >= SAME_TEXT else part


def _similarity(
    engine: ExtractiveModel, part: str | None, other: str, *, distance: bool = False
) -> float | None:
    if part is None:
        return None
    similarity = engine.similarity(part, [other])[0]
    return 1.0 - similarity if distance else similarity


def _prefer(first: float | None, second: float | None, margin: float) -> Choice:
    """Return a tie within the margin or if both are missing, else the side with the higher measure."""
    if first is None or second is None:
        return "tie" if first is second else "second" if first is None else "first"
    if abs(first - second) <= margin:
        return "tie"
    return "first" if first > second else "second"


IDEA_JUDGE = Role(
    name="idea_judge",
    group="judge",
    inputs=IdeaPairInputs,
    answer=IdeaPreference,
    offline=_compare_ideas,
    temperature=0.0,
)


class PlanCandidate(Inputs):
    """An experiment plan and the idea that it tests, without provenance."""

    title: str
    claim: str | None
    """``None`` if the idea does not state its novelty."""
    method: str
    plan: PlanView


class PlanPairInputs(Inputs):
    """Two experiment plans on one topic, in the order shown to the judge."""

    topic: str
    first: PlanCandidate
    second: PlanCandidate


class PlanPreference(Answer):
    """The better plan on each criterion."""

    reason: str = Field(description="a short paragraph that compares the two plans on each criterion")
    feasibility: ChoiceField
    technical_quality: ChoiceField
    clarity: ChoiceField


PLAN_MARGINS = {"feasibility": 1.0, "technical_quality": 0.5, "clarity": 2.0}
"""``MARGINS`` for plans (``_measure_plan``)."""


def _compare_plans(engine: ExtractiveModel, inputs: PlanPairInputs) -> dict[str, Any]:
    first, second = (_measure_plan(engine, candidate) for candidate in (inputs.first, inputs.second))
    choices = {name: _prefer(first[name], second[name], PLAN_MARGINS[name]) for name in EXPERIMENT_CRITERIA}
    figures = "; ".join(
        f"{name} {_format_measure(first[name])} to {_format_measure(second[name])}"
        for name in EXPERIMENT_CRITERIA
    )
    return {
        "reason": f"Measured properties, first to second: {figures}. Small differences are ties; what one "
        "plan omits counts in favour of the other.",
        **choices,
    }


def _measure_plan(engine: ExtractiveModel, candidate: PlanCandidate) -> dict[str, float | None]:
    """Return proxy measures for the criteria."""
    plan = candidate.plan
    lengths = [len(texts.words(step)) for step in plan.steps]
    checks = (plan.baselines, plan.metrics, plan.ablations, plan.risks, plan.refuted_if.strip())
    return {
        # named data sets and baselines, at most ten
        "feasibility": float(min(10, len(plan.datasets) + len(plan.baselines))),
        # how many of baselines, metrics, ablations, risks, refutation there are, plus similarity to the claim
        "technical_quality": sum(bool(part) for part in checks)
        + engine.similarity(candidate.claim or candidate.title, [" ".join(plan.steps)])[0],
        # penalty: words by which the mean step exceeds 30
        "clarity": -max(0.0, sum(lengths) / len(lengths) - 30.0) if lengths else None,
    }


EXPERIMENT_JUDGE = Role(
    name="experiment_judge",
    group="judge",
    inputs=PlanPairInputs,
    answer=PlanPreference,
    offline=_compare_plans,
    temperature=0.0,
)
