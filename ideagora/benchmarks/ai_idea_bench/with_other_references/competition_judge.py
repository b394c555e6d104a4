"""The judge of the competition (AI Idea Bench 2025, section 3.2.2): compares two ideas on six criteria."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ideagora.agents.arena.judges import IDEA_JUDGE, IdeaPairInputs, normalize_choice
from ideagora.agents.views import IdeaView
from ideagora.benchmarks.judge_roles import judge_role
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

CRITERIA = ("novelty", "significance", "quality", "feasibility", "clarity", "relevance")
OVERALL = "overall"

Side = Literal["first", "second"]
SideField = Annotated[Side, BeforeValidator(normalize_choice)]

PLAN_WORDS = ("baseline", "metric", "data set", "dataset", "benchmark", "ablation", "compare", "control")
"""What the offline judge looks for in a plan: words on how its claims are tested."""
RELEVANCE_MARGIN = 0.05
"""Difference in similarity to the topic up to which the offline judge sees no difference."""


class Competitor(Inputs):
    """An idea as shown to the judge, without its author; parts that are ``None`` are missing."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str
    experiment: str | None

    @property
    def plan(self) -> str:
        """Method and experiment."""
        return "\n".join(filter(None, (self.method, self.experiment)))


class CompetitionInputs(Inputs):
    """Two ideas on one topic, in the order shown."""

    topic: str
    before: str | None
    """The agents' cut-off, the date as of which novelty is judged; ``None``: there is none."""
    first: Competitor
    second: Competitor


class CompetitionPreference(Answer):
    """The better idea on each criterion, and overall."""

    # no ties: both orders are asked, and a disagreement is a tie

    reason: str = Field(description="a short paragraph that compares the two ideas on each criterion")
    novelty: SideField
    significance: SideField
    quality: SideField
    feasibility: SideField
    clarity: SideField
    relevance: SideField
    overall: SideField


def _compare(engine: ExtractiveModel, inputs: CompetitionInputs) -> CompetitionPreference:
    """The measures of the offline idea judge, test words for quality, similarity to the topic for relevance.

    Without a difference it names the first, so that the two orders disagree, which is a tie.
    """
    views = [_view(one) for one in (inputs.first, inputs.second)]
    base = IDEA_JUDGE.offline(engine, IdeaPairInputs(topic=inputs.topic, first=views[0], second=views[1]))
    tests = [_test_words(one.plan) for one in (inputs.first, inputs.second)]
    near = engine.similarity(inputs.topic, [inputs.first.plan, inputs.second.plan])
    choices = base.model_dump(include=set(CRITERIA))
    choices["quality"] = _larger(tests[0], tests[1], 0)
    choices["relevance"] = _larger(near[0], near[1], RELEVANCE_MARGIN)
    won = [sum(choice == side for choice in choices.values()) for side in ("first", "second")]
    choices[OVERALL] = _larger(won[0], won[1], 0)
    equal = [name for name, choice in choices.items() if choice == "tie"]
    reason = (
        f"{base.reason} Words on testing in the plans: {tests[0]} to {tests[1]}. Similarity of the plans to "
        f"the topic: {near[0]:.2f} to {near[1]:.2f}. Criteria won: {won[0]} to {won[1]}. Without a "
        f"difference the first is named: {', '.join(equal) or 'none'}."
    )
    sides = {name: "first" if choice == "tie" else choice for name, choice in choices.items()}
    return CompetitionPreference.model_validate({"reason": reason, **sides})


def _view(idea: Competitor) -> IdeaView:
    return IdeaView(title=idea.title, motivation=idea.motivation, novelty=idea.novelty, method=idea.method)


def _test_words(plan: str) -> int:
    return sum(word in plan.casefold() for word in PLAN_WORDS)


def _larger(first: float, second: float, margin: float) -> str:
    if abs(first - second) <= margin:
        return "tie"
    return "first" if first > second else "second"


COMPETITION_JUDGE = judge_role(
    "competition_judge",
    CompetitionInputs,
    CompetitionPreference,
    _compare,
    Path(__file__).parents[1] / "prompts",
)
