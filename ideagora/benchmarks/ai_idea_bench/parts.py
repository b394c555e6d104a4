"""The two parts of an idea that are matched, and the aggregation over the ideas of a sample.

Section 3.2.1: a target has a motivation and an experimental framework, and so has an idea. Every measure is
computed for each part, as in Table 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ideagora.benchmarks.aggregation import Aggregate, best_of_all, criterion, mean_of_scored, score_ideas
from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.benchmark import Measure, Plan, Scores, Unscored
from ideagora.schema import Idea, Verdict

Part = Literal["motivation", "plan"]
PARTS: tuple[Part, ...] = get_args(Part)


class Case(NamedTuple):
    """A part of an idea, and the judge that gets it."""

    part: Part
    judge: str
    idea: Idea

    @property
    def text(self) -> str:
        """The part as shown to the judge (``idea_part``)."""
        return idea_part(self.idea, self.part)


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


def each_case(ideas: Mapping[str, Sequence[Idea]], plan: Plan) -> Iterator[Case]:
    """Every part, judge and idea of a sample; an idea that an agent repeats counts once."""
    for part in PARTS:
        for judge in plan.judges:
            for several in ideas.values():
                for idea in {idea.id: idea for idea in several}.values():
                    yield Case(part, judge, idea)


def measures(group: str, title: str, unit: str, lowest: float, highest: float) -> tuple[Measure, ...]:
    """The measures of a group: per part, the best of a sample's ideas, and the expected value of one."""
    return tuple(
        Measure(
            name=f"{group}_{part}{suffix}",
            group=group,
            title=f"{title} {part}{label}",
            unit=unit,
            lowest=lowest,
            highest=highest,
            several_ideas=bool(suffix),
        )
        for suffix, label in (("", ""), ("_single", ", one idea"))
        for part in PARTS
    )


AGGREGATES: Mapping[str, Aggregate] = {"": best_of_all, "_single": mean_of_scored}
"""Suffix of a measure's name -> how it aggregates the ideas of a sample (equations 2 to 4)."""


def scores_per_sample(verdicts: Iterable[Verdict], criteria: Mapping[str, str]) -> Scores:
    """Scores from verdicts on single ideas: aggregated per judge, then averaged over judges.

    Args:
        verdicts: the log; verdicts of other measures are ignored.
        criteria: the measure that a question is about -> the criterion that has its score.
    """
    log = list(verdicts)
    return {
        f"{name}{suffix}": score_ideas(log, name, criterion(of), aggregate)
        for name, of in criteria.items()
        for suffix, aggregate in AGGREGATES.items()
    }
