"""Asks a judge to compare two entries and returns the verdict.

The judge sees a topic and two texts, without names or ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ideagora.agents.arena.judges import (
    CRITERIA,
    EXPERIMENT_CRITERIA,
    EXPERIMENT_JUDGE,
    GRADED_EXPERIMENT_JUDGE,
    GRADED_IDEA_JUDGE,
    IDEA_JUDGE,
    GradedIdeaPreference,
    GradedPlanPreference,
    IdeaPreference,
    PlanCandidate,
    PlanPreference,
)
from ideagora.agents.arena.offline_preferences import GRADES
from ideagora.agents.experiment import PlanView
from ideagora.agents.role import Role
from ideagora.agents.views import IdeaView
from ideagora.evaluators.arena.comparisons import Comparison
from ideagora.evaluators.arena.entries.lineup import PARTS, Kind, Lineup
from ideagora.evaluators.arena.entries.selection import word_count
from ideagora.evaluators.judging.asking import UNREADABLE, Unscored, ask_or_reason
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE
from ideagora.models.call import Inputs
from ideagora.models.parsing.token_probabilities import choice_probabilities
from ideagora.schema import GRADED, PROBABILITIES, Idea, Verdict, stable_id

if TYPE_CHECKING:
    from ideagora.models.cache.answers import Alternatives
    from ideagora.models.client import LLMClient

JUDGES: dict[tuple[Kind, bool], Role[Any]] = {
    ("idea", False): IDEA_JUDGE,
    ("idea", True): GRADED_IDEA_JUDGE,
    ("experiment", False): EXPERIMENT_JUDGE,
    ("experiment", True): GRADED_EXPERIMENT_JUDGE,
}
"""The role by kind of entry, without and with degrees."""
Preference = IdeaPreference | PlanPreference | GradedIdeaPreference | GradedPlanPreference

CHOICES = {"first": FIRST, "second": SECOND, "tie": TIE}
VALUES: dict[str, float] = {**CHOICES, **GRADES}
DIGITS = 4
"""Decimal places of probabilities."""

ALL_CRITERIA: dict[Kind, tuple[str, ...]] = {"idea": CRITERIA, "experiment": EXPERIMENT_CRITERIA}

SAME = "the two are the same text"
"""Reason for an unscored verdict."""


@dataclass(frozen=True)
class JudgePanel:
    """The judges, and what they judge by."""

    lineup: Lineup
    judges: tuple[str, ...]
    protocol: str
    criteria: dict[Kind, tuple[str, ...]]
    """Recorded criteria. Judges are always asked for all, so that the choice does not change the call."""
    form: str = "signs"
    """``graded``: judges say by how much an idea is better; ``probabilities``: how probable answers are."""

    def role(self, kind: Kind) -> Role[Any]:
        """The judges' role."""
        return JUDGES[kind, self.form == GRADED]

    @property
    def variant(self) -> str:
        """The form in verdicts and their ids; empty for signs."""
        return self.form if self.form in (GRADED, PROBABILITIES) else ""


def verdict_id(panel: JudgePanel, comparison: Comparison) -> str:
    """Id of the verdict, derived from the two ideas in their order and the judge."""
    first, second = _ideas(panel.lineup, comparison)
    more = [f"sample {comparison.sample}"] * bool(comparison.sample) + [panel.variant] * bool(panel.variant)
    judge = panel.judges[comparison.judge]
    return stable_id("arena", comparison.entry_kind, first.topic, first.id, second.id, judge, *more)


async def ask_judge(
    client: LLMClient, panel: JudgePanel, comparison: Comparison, shown: tuple[Idea, Idea]
) -> Verdict:
    """Ask the judge once. An unreadable answer gives an unscored verdict, never a tie.

    ``shown`` are the two ideas as the judge sees them, which may be restyled.

    Raises:
        IdeagoraError: the judge is unavailable, or the budget is spent.
    """
    ideas = _ideas(panel.lineup, comparison)
    judge, topic = panel.judges[comparison.judge], panel.lineup.text(comparison.cell)
    found, reason, usage = await ask_or_reason(judge, _compare(client, panel, comparison, ideas, shown))
    return Verdict(
        id=verdict_id(panel, comparison),
        evaluator="arena",
        protocol=panel.protocol,
        topic=topic,
        subject=tuple(idea.id for idea in ideas),
        criteria=None if found is None else found.criteria,
        status="unscored" if found is None else "scored",
        reason=reason,
        judge=judge,
        order=comparison.order,
        epoch=1 + comparison.sample,
        variant=panel.variant,
        details={} if found is None else found.details,
        usage=usage,
        kind=comparison.entry_kind,
        agents=tuple(idea.agent for idea in ideas),
        words=tuple(count_words(idea, comparison.entry_kind) for idea in shown),
        rationale=None if found is None else found.reason,
        flags=_flags(panel.lineup, ideas),
    )


async def _compare(
    client: LLMClient,
    panel: JudgePanel,
    comparison: Comparison,
    ideas: tuple[Idea, Idea],
    shown: tuple[Idea, Idea],
) -> _Outcome:
    kind = comparison.entry_kind
    if _are_the_same(ideas, shown, kind):
        raise Unscored(SAME)
    first, second = map(idea_view if kind == "idea" else plan_view, shown)
    role, criteria = panel.role(kind), panel.criteria[kind]
    question: dict[str, Any] = {
        "model": panel.judges[comparison.judge],
        "sample": comparison.sample,
        "topic": panel.lineup.text(comparison.cell),
        "first": first,
        "second": second,
    }
    if panel.form == PROBABILITIES:
        return _from_probabilities(*await role.with_alternatives(client, **question), criteria)
    answer: Preference = await role(client, **question)
    values = {name: VALUES[getattr(answer, name)] for name in criteria}
    return _Outcome(values, answer.reason, _overall_grade(answer))


@dataclass(frozen=True)
class _Outcome:
    """A judge's answer as numbers."""

    criteria: dict[str, float]
    reason: str
    details: dict[str, Any]


def _from_probabilities(answer: Preference, alternatives: Alternatives, criteria: Sequence[str]) -> _Outcome:
    """The expected points of the first idea, by criterion; the probabilities are kept in ``details``."""
    by_criterion = {
        name: choice_probabilities(of_field, tuple(CHOICES)) for name, of_field in alternatives.items()
    }
    if missing := [name for name in criteria if by_criterion.get(name) is None]:
        raise Unscored(f"{UNREADABLE}: no probabilities of first, second or tie for {', '.join(missing)}")
    known = {name: _rounded(found) for name, found in by_criterion.items() if found is not None}
    values = {
        name: round(sum(CHOICES[one] * p for one, p in known[name].items()), DIGITS) for name in criteria
    }
    return _Outcome(values, answer.reason, {PROBABILITIES: known})


def _rounded(probabilities: Mapping[str, float]) -> dict[str, float]:
    return {choice: round(probability, DIGITS) for choice, probability in probabilities.items()}


def _ideas(lineup: Lineup, comparison: Comparison) -> tuple[Idea, Idea]:
    first, second = (
        lineup.idea(comparison.cell, comparison.first),
        lineup.idea(comparison.cell, comparison.second),
    )
    assert first is not None, f"{comparison} lacks an entry"
    assert second is not None, f"{comparison} lacks an entry"
    return first, second


def _overall_grade(answer: Preference) -> dict[str, Any]:
    """The overall grade, which the judge weighs in its own way; the rating takes the mean of the criteria."""
    return {"overall": VALUES[answer.overall]} if isinstance(answer, GradedIdeaPreference) else {}


def _are_the_same(ideas: tuple[Idea, Idea], shown: tuple[Idea, Idea], kind: Kind) -> bool:
    """Whether both texts are equal, in which case no judge is asked."""
    seen_by_judge: Callable[[Idea], Inputs] = (
        idea_view if kind == "idea" else lambda idea: plan_view(idea).plan
    )
    return any(
        _normalize(seen_by_judge(one)) == _normalize(seen_by_judge(other)) for one, other in (ideas, shown)
    )


def _normalize(view: Inputs) -> str:
    """The text with runs of white space collapsed."""
    return " ".join(view.model_dump_json().replace("\\n", " ").split())


def _flags(lineup: Lineup, ideas: tuple[Idea, Idea]) -> tuple[str, ...]:
    places = zip(("first", "second"), ideas, strict=True)
    return tuple(f"{place}: {flag}" for place, idea in places for flag in lineup.flags.get(idea.id, ()))


def idea_view(idea: Idea) -> IdeaView:
    """The idea as shown to a judge, without its author; missing parts are left out."""
    return IdeaView(
        title=idea.title,
        motivation=idea.motivation or None,
        novelty=idea.novelty or None,
        method=idea.method,
    )


def plan_view(idea: Idea) -> PlanCandidate:
    """The experiment as shown to a judge, with the idea that it tests."""
    plan = idea.experiment
    assert plan is not None, f"{idea.id} has no experiment"
    lists = {name: getattr(plan, name) for name in PlanView.model_fields if name != "refuted_if"}
    view = PlanView(**lists, refuted_if=plan.refuted_if or "")
    return PlanCandidate(
        title=idea.title,
        claim=idea.claim or idea.novelty or None,
        might_fail=idea.might_fail or None,
        method=idea.method,
        plan=view,
    )


def count_words(idea: Idea, kind: Kind) -> int:
    """Number of words that the judge sees of one idea."""
    if kind == "idea":
        return word_count(getattr(idea, part) or "" for part in PARTS)
    plan = plan_view(idea).plan.model_dump()
    return word_count(text for part in plan.values() for text in ([part] if isinstance(part, str) else part))
