"""What the measures with reference to other literature share (NA, FA and FPS; section 3.2.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean

from ideagora.benchmarks.benchmark import Plan, Scores, Unscored
from ideagora.errors import SourceRejected
from ideagora.schema import Idea, Verdict

CITATIONS = "citations"
"""The judge of questions that ask no model."""


def each_idea(ideas: Mapping[str, Sequence[Idea]]) -> Iterator[Idea]:
    """The ideas of all agents; one that an agent repeats counts once."""
    for several in ideas.values():
        yield from {idea.id: idea for idea in several}.values()


@contextmanager
def rejection_is_unscored() -> Iterator[None]:
    """Turn a rejected request into an unscored question; a source that is down raises as before."""
    try:
        yield
    except SourceRejected as error:
        raise Unscored(str(error)) from error


def mean_over_ideas(
    verdicts: Iterable[Verdict], plan: Plan, group: str, criteria: Mapping[str, str]
) -> Scores:
    """Mean over the scored ideas of an agent on a sample, per judge, then over the judges.

    Args:
        verdicts: those of one epoch and protocol; other groups and judges are ignored.
        plan: has the judges.
        group: the verdicts' kind.
        criteria: measure -> the criterion that has its score; a verdict may lack some.
    """
    judges = {*plan.judges, CITATIONS}
    found: dict[str, dict[str, dict[str, dict[str, list[float]]]]] = {
        name: defaultdict(lambda: defaultdict(lambda: defaultdict(list))) for name in criteria
    }
    for verdict in verdicts:
        if verdict.kind != group or verdict.judge not in judges:
            continue
        for name, criterion in criteria.items():
            values = found[name][verdict.agents[0]][verdict.sample or ""][verdict.judge]
            if verdict.criteria is not None and criterion in verdict.criteria:
                values.append(verdict.criteria[criterion])
    return {
        name: {
            agent: {sample: _mean_of_means(by_judge.values()) for sample, by_judge in samples.items()}
            for agent, samples in agents.items()
        }
        for name, agents in found.items()
    }


def _mean_of_means(lists: Iterable[list[float]]) -> float | None:
    means = [fmean(values) for values in lists if values]
    return fmean(means) if means else None
