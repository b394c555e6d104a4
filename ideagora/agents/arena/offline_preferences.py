"""What the offline judges of ideas and of plans say: comparisons of measured properties, on either scale.

Without degrees, the answer to a criterion is ``first``, ``second`` or ``tie``; with degrees, ``first much
better`` to ``second much better``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ideagora.agents.text.instruction_count import count_instructions
from ideagora.agents.text.outcomes import find_outcomes
from ideagora.models.call import A
from ideagora.models.offline import text as texts
from ideagora.schema import FAR_FROM_TOPIC

if TYPE_CHECKING:
    from ideagora.agents.arena.judges import IdeaPairInputs, PlanCandidate, PlanPairInputs
    from ideagora.agents.views import IdeaView
    from ideagora.models.offline import ExtractiveModel

MARGINS = {"novelty": 0.05, "significance": 0.05, "clarity": 2.0, "feasibility": 1.0, "effectiveness": 0.05}
"""Differences up to which the offline judge calls a tie, in the unit of each measure (``_measure_idea``)."""
CLEARLY_NEARER = 0.15
"""Difference in similarity to the topic at which an off-topic idea loses on every criterion."""
SAME_TEXT = 0.97
"""Cosine at which a part counts as a repetition of another."""
WORDS_FOR_A_PART = 25.0
"""Penalty in the clarity measure for a missing part, in words of excess sentence length."""


@dataclass(frozen=True)
class Scale:
    """How differences of measures become answers."""

    prefer: Callable[[float | None, float | None, float], str]
    """The answer for two measures, ``None`` for what is missing, and the margin of a tie."""
    overall: Callable[[Iterable[str]], str]
    """The overall answer from those on the criteria."""
    decisive: dict[str, str]
    """The answers for a side that is beyond comparison."""


def compare_ideas(engine: ExtractiveModel, inputs: IdeaPairInputs, scale: Scale, answer: type[A]) -> A:
    """The judge's answer on two ideas."""
    first, second = (_measure_idea(engine, inputs.topic, idea) for idea in (inputs.first, inputs.second))
    near = engine.similarity(inputs.topic, [_full_text(inputs.first), _full_text(inputs.second)])
    far = [similarity < FAR_FROM_TOPIC for similarity in near]
    if far[0] != far[1] and abs(near[0] - near[1]) >= CLEARLY_NEARER:
        better = "second" if far[0] else "first"
        figures = f"{near[0]:.2f} to {near[1]:.2f}, limit {FAR_FROM_TOPIC:.2f}"
        reason = f"Only the {better} idea is close to the topic (similarity {figures})."
        choices = dict.fromkeys((*MARGINS, "overall"), scale.decisive[better])
        return answer.model_validate({"reason": reason, **choices})
    choices = {name: scale.prefer(first[name], second[name], margin) for name, margin in MARGINS.items()}
    figures = "; ".join(
        f"{name} {_format_measure(first[name])} to {_format_measure(second[name])}" for name in MARGINS
    )
    reason = (
        f"Measured properties, first to second: {figures}. Small differences are ties; what one idea omits "
        "counts in favour of the other."
    )
    return answer.model_validate({"reason": reason, **choices, "overall": scale.overall(choices.values())})


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


PLAN_MARGINS = {"feasibility": 1.0, "technical_quality": 0.5, "clarity": 2.0}
"""``MARGINS`` for plans (``_measure_plan``)."""


def compare_plans(engine: ExtractiveModel, inputs: PlanPairInputs, scale: Scale, answer: type[A]) -> A:
    """The judge's answer on two plans."""
    first, second = (_measure_plan(engine, candidate) for candidate in (inputs.first, inputs.second))
    choices = {name: scale.prefer(first[name], second[name], margin) for name, margin in PLAN_MARGINS.items()}
    figures = "; ".join(
        f"{name} {_format_measure(first[name])} to {_format_measure(second[name])}" for name in PLAN_MARGINS
    )
    reason = (
        f"Measured properties, first to second: {figures}. Small differences are ties; what one plan omits "
        "counts in favour of the other."
    )
    return answer.model_validate({"reason": reason, **choices})


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


def _prefer(first: float | None, second: float | None, margin: float) -> str:
    """Return a tie within the margin or if both are missing, else the side with the higher measure."""
    if first is None or second is None:
        return "tie" if first is second else "second" if first is None else "first"
    if abs(first - second) <= margin:
        return "tie"
    return "first" if first > second else "second"


def _majority(choices: Iterable[str]) -> str:
    """Return the side that wins more criteria."""
    counts = Counter(choices)
    return _prefer(float(counts["first"]), float(counts["second"]), 0.0)


WITHOUT_DEGREES = Scale(_prefer, _majority, {"first": "first", "second": "second"})

MUCH = 4.0
"""Difference, in margins of a tie, from which a side is much better."""


def _grade(first: float | None, second: float | None, margin: float) -> str:
    """Like ``_prefer``, with a degree; what only one side states makes it better."""
    side = _prefer(first, second, margin)
    is_much = first is not None and second is not None and abs(first - second) > MUCH * margin
    return side if side == "tie" else f"{side} {'much ' * is_much}better"


def _mean_grade(grades: Iterable[str]) -> str:
    """Return the grade nearest to the mean of the grades."""
    mean = fmean(GRADES[grade] for grade in grades)
    return min(GRADES, key=lambda grade: abs(GRADES[grade] - mean))


GRADES = {
    "first much better": 1.0,
    "first better": 0.75,
    "tie": 0.5,
    "second better": 0.25,
    "second much better": 0.0,
}
"""Answers with degrees, and the share of the point that the first side gets."""

WITH_DEGREES = Scale(_grade, _mean_grade, {side: f"{side} much better" for side in ("first", "second")})
