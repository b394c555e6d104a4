"""Workers that plan an experiment: designer, reviewer, refiner.

Source: Chain of Ideas (arXiv 2410.13185), section 3.4 and Tables 17 to 20. The reviewer also names
the searches that would help (Table 19), which saves a call that waits for nothing else.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.views import EntityView, IdeaView, PaperBrief, PastExperiment
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import Engine
from ideagora.models.offline import text as texts

ASK_DATA = "Name at least one public data set or benchmark, and say why it shows the limit."
ASK_METRICS = "Say what is measured, and how a judgement by a model or a person is checked."
ASK_BASELINES = "Compare with at least two systems, one of them simple."
ASK_INTERVALS = "Repeat with several seeds and report intervals clustered by item."
ASK_COST = "Report calls, tokens and cost of each variant beside its quality."
ASK_ABLATIONS = "Switch each new part off once."
"""What the offline reviewer asks for where the plan has nothing on it."""

NO_DATA = (
    "No data set is named so far: collect cases from the tasks at hand, and publish the rule of selection "
    "before any run."
)
MORE_COMPUTATION = (
    "The gain may come from more computation alone: give every variant the same number of calls and tokens."
)
SMALL_STRESS_SET = (
    "The stress set may be too small to separate the variants: report intervals, and enlarge it before "
    "looking at results."
)
NO_GAIN = (
    "On the stress set the new method does no better than the baselines at the same cost, "
    "within the interval."
)
USUAL_METRICS = ("share of the stress set solved", "quality judged blind, in both orders")


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


def _has_steps(inputs: Inputs, answer: Plan) -> str | None:
    return None if any(step.strip() for step in answer.steps) else "a plan needs at least one step"


class DesignInputs(Inputs):
    """The idea, how earlier papers tested theirs, and the entities to know."""

    topic: str
    idea: IdeaView
    evaluation: str
    past: tuple[PastExperiment, ...]
    related: tuple[PaperBrief, ...]
    entities: tuple[EntityView, ...]


def _design(engine: Engine, inputs: DesignInputs) -> dict[str, Any]:
    data = _of_kind(inputs.entities, "dataset")
    systems = _of_kind(inputs.entities, "model")[:4]
    parts = texts.method_steps(inputs.idea.method)
    built = parts[2:4] or parts
    return {
        "steps": _steps(inputs, data, systems, built),
        "datasets": data,
        "baselines": systems,
        "metrics": _of_kind(inputs.entities, "metric") or _measured(engine, inputs),
        "ablations": [f"without: {texts.clip(part, 22)}" for part in built],
        "risks": [MORE_COMPUTATION, SMALL_STRESS_SET],
        "refuted_if": NO_GAIN,
    }


def _steps(inputs: DesignInputs, data: list[str], systems: list[str], built: list[str]) -> list[str]:
    claim = texts.without_stop(texts.clip(inputs.idea.title, 25))
    named = ", ".join(systems) or "the nearest published methods"
    earlier = [f"Earlier result to match first, from {p.title}: {p.experiment}" for p in inputs.past[-1:]]
    return [
        f"Claim to be tested: {claim}. State before any run which difference would count against it.",
        f"Take the data on which the earlier papers can be compared: {', '.join(data)}." if data else NO_DATA,
        f"Reproduce the baselines unchanged ({named}) and check them against the published figures.",
        *earlier,
        *(f"Build: {part}" for part in built),
        f"Compare on the same inputs and with the same model. {inputs.evaluation}",
    ]


def _of_kind(entities: tuple[EntityView, ...], kind: str) -> list[str]:
    return [entity.name for entity in entities if entity.kind == kind][:5]


def _measured(engine: Engine, inputs: DesignInputs) -> list[str]:
    """Phrases of the past experiments nearest to the notion of a measure; none when nothing is near."""
    pool = list(dict.fromkeys(p for past in inputs.past for p in texts.phrases(past.experiment)))
    ranked = engine.rank("evaluation metric such as accuracy, success rate or quality score", pool)
    return [pool[i] for i, score in ranked[:3] if score >= 0.35]


EXPERIMENT_DESIGNER = Role(
    name="experiment_designer",
    group="main",
    inputs=DesignInputs,
    answer=Plan,
    offline=_design,
    check=_has_steps,
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


def _review(engine: Engine, inputs: ReviewInputs) -> dict[str, Any]:
    plan, topic = inputs.plan, texts.clip(inputs.topic, 20)
    text = " ".join(plan.steps).lower()
    lacks = [
        (not plan.datasets, ASK_DATA, f"benchmark for {topic}"),
        (not plan.metrics, ASK_METRICS, f"evaluation metrics for {topic}"),
        (len(plan.baselines) < 2, ASK_BASELINES, f"baselines for {topic}"),
        ("seed" not in text and "interval" not in text, ASK_INTERVALS, None),
        ("cost" not in text and "calls" not in text, ASK_COST, None),
        (not plan.ablations, ASK_ABLATIONS, None),
    ]
    missing = [(suggestion, query) for absent, suggestion, query in lacks if absent]
    return {
        "suggestions": [suggestion for suggestion, _ in missing],
        "queries": [query for _, query in missing if query],
    }


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


def _refine(engine: Engine, inputs: RefineInputs) -> dict[str, Any]:
    plan, settled, steps = inputs.plan, set(), []
    data = plan.datasets or _named_data(inputs.papers)
    if data and not plan.datasets:
        settled.add(ASK_DATA)
        steps.append(f"Run all variants on {', '.join(data)}, and say on how many items the limit shows.")
    if not plan.metrics:
        settled.add(ASK_METRICS)
    steps += [suggestion for suggestion in inputs.suggestions if suggestion not in settled]
    read = [f"{texts.short_name(p.title, p.abstract or '')} ({p.year})" for p in inputs.papers[:2]]
    if read:
        steps.append(f"Found for the review, to be read before the first run: {texts.listed(read)}.")
    return {
        "steps": [*plan.steps, *steps],
        "datasets": data,
        "baselines": plan.baselines,
        "metrics": plan.metrics or USUAL_METRICS,
        "ablations": plan.ablations,
        "risks": plan.risks,
        "refuted_if": plan.refuted_if,
        "declined": [],
    }


def _named_data(papers: tuple[PaperBrief, ...]) -> tuple[str, ...]:
    """Data sets that the found papers name, and found papers that are one."""
    named = [name for p in papers for name in texts.names(f"{p.title}. {p.abstract or ''}")]
    return tuple(dict.fromkeys(name.name for name in named if name.kind == "dataset"))[:4]


EXPERIMENT_REFINER = Role(
    name="experiment_refiner",
    group="main",
    inputs=RefineInputs,
    answer=RefinedPlan,
    offline=_refine,
    check=_has_steps,
)
