"""What the measures with reference to other literature share (NA, FA and FPS; section 3.2.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean

from ideagora.benchmarks.ai_idea_bench.parts import PAPER
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
    """Mean over the scored ideas of an agent on a sample, per judge (and epoch), then over these.

    Args:
        verdicts: the log; verdicts of other groups, judges and protocols are ignored.
        plan: judges and protocol.
        group: the verdicts' kind.
        criteria: measure -> the criterion that has its score; a verdict may lack some.
    """
    judges = {*plan.judges, CITATIONS}
    found: dict[str, dict[str, dict[str, dict[tuple[str, str], list[float]]]]] = {
        name: defaultdict(lambda: defaultdict(lambda: defaultdict(list))) for name in criteria
    }
    for verdict in verdicts:
        if verdict.kind != group or verdict.judge not in judges or not _is_of_protocol(verdict, plan):
            continue
        for name, criterion in criteria.items():
            values = found[name][verdict.agents[0]][verdict.sample or ""][verdict.judge, verdict.variant]
            if verdict.criteria is not None and criterion in verdict.criteria:
                values.append(verdict.criteria[criterion])
    return {
        name: {
            agent: {sample: _mean_of_means(by_judge.values()) for sample, by_judge in samples.items()}
            for agent, samples in agents.items()
        }
        for name, agents in found.items()
    }


def _is_of_protocol(verdict: Verdict, plan: Plan) -> bool:
    return (PAPER in verdict.variant.split()) == (plan.protocol == "paper")


def _mean_of_means(lists: Iterable[list[float]]) -> float | None:
    means = [fmean(values) for values in lists if values]
    return fmean(means) if means else None
