"""The two parts of an idea that are matched, and the aggregation over the ideas of a sample.

Section 3.2.1: a target has a motivation and an experimental framework, and so has an idea. Every measure is
computed for each part, as in Table 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, get_args

from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.benchmark import Measure, Plan, Scores, Unscored
from ideagora.schema import Idea, Verdict

Part = Literal["motivation", "plan"]
PARTS: tuple[Part, ...] = get_args(Part)


def idea_part(idea: Idea, part: Part) -> str:
    """A part of an idea as shown to a judge: without title, author and references.

    Raises:
        Unscored: the idea does not have it.
    """
    text = (idea.motivation or "") if part == "motivation" else _plan(idea)
    if not text.strip():
        raise Unscored(f"the idea has no {part}")
    return text


def target_part(sample: Sample, part: Part) -> str:
    """A part of a target; the plan is its method, without data sets and metrics, as in the paper's cases.

    Raises:
        Unscored: the data set does not have it.
    """
    text = sample.motivation if part == "motivation" else sample.method
    if not text.strip():
        raise Unscored(f"target {sample.id} has no {part} in the data set")
    return text


def experiment_text(idea: Idea) -> str | None:
    """The experiment as shown to a judge; ``None`` if the idea has none."""
    plan = idea.experiment
    if plan is None:
        return None
    lines = [f"{number}. {step}" for number, step in enumerate(plan.steps, start=1)]
    lists = {"Data sets": plan.datasets, "Baselines": plan.baselines, "Metrics": plan.metrics}
    lines += [f"{name}: {', '.join(values)}" for name, values in lists.items() if values]
    return "\n".join(lines) or None


def _plan(idea: Idea) -> str:
    """Method and experiment as one text."""
    return "\n".join(part for part in (idea.method, experiment_text(idea)) if part and part.strip())


def each_case(ideas: Mapping[str, Sequence[Idea]], plan: Plan) -> Iterator[tuple[Part, str, Idea]]:
    """Every part, judge and idea of a sample; an idea that an agent repeats counts once."""
    for part in PARTS:
        for judge in plan.judges:
            for several in ideas.values():
                for idea in {idea.id: idea for idea in several}.values():
                    yield part, judge, idea


def measures(group: str, title: str, unit: str, highest: float) -> tuple[Measure, ...]:
    """The measures of a group: per part, the best of a sample's ideas, and the expected value of one."""
    return tuple(
        Measure(
            name=f"{group}_{part}{suffix}",
            group=group,
            title=f"{title} {part}{label}",
            unit=unit,
            lowest=0.0,
            highest=highest,
        )
        for suffix, label in (("", ""), ("_single", ", one idea"))
        for part in PARTS
    )


def best_of_ideas(scores: Sequence[float | None]) -> float | None:
    """The best score of a sample's ideas (equations 2 to 4); ``None`` unless every idea has one.

    With an unscored idea, the maximum of the others would be too low, and keeping it only where it cannot
    rise any more would be too high on average.

    >>> best_of_ideas([0.0, 1.0]), best_of_ideas([1.0, None])
    (1.0, None)
    """
    known = [score for score in scores if score is not None]
    return max(known) if known and len(known) == len(scores) else None


def single_idea(scores: Sequence[float | None]) -> float | None:
    """The expected score of one idea drawn at random from the scored ones; ``None`` if there is none.

    >>> single_idea([0.0, 1.0]), single_idea([1.0, None])
    (0.5, 1.0)
    """
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


AGGREGATES: Mapping[str, Callable[[Sequence[float | None]], float | None]] = {
    "": best_of_ideas,
    "_single": single_idea,
}
"""Suffix of a measure's name -> how it aggregates the ideas of a sample."""


def scores_per_sample(verdicts: Iterable[Verdict], plan: Plan, criteria: Mapping[str, str]) -> Scores:
    """Scores from verdicts on single ideas: aggregated per judge, then averaged over judges.

    Args:
        verdicts: those of one epoch and protocol; other measures and judges are ignored.
        plan: has the judges.
        criteria: the measure that a question is about -> the criterion that has its score.
    """
    asked: dict[tuple[str, str, str], dict[str, dict[str, float | None]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for verdict in verdicts:
        if verdict.kind not in criteria or verdict.judge not in plan.judges:
            continue
        value = None if verdict.criteria is None else verdict.criteria[criteria[verdict.kind]]
        for agent in verdict.agents:
            place = (verdict.kind, agent, verdict.sample or "")
            asked[place][verdict.judge][verdict.id] = value
    scores: dict[str, dict[str, dict[str, float | None]]] = {
        f"{name}{suffix}": {} for name in criteria for suffix in AGGREGATES
    }
    for (name, agent, sample), by_judge in asked.items():
        for suffix, aggregate in AGGREGATES.items():
            values = [aggregate(list(ideas.values())) for ideas in by_judge.values()]
            scores[f"{name}{suffix}"].setdefault(agent, {})[sample] = single_idea(values)
    return scores
