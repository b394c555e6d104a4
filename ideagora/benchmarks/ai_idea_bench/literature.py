"""What the measures with reference to other literature share (NA, FA and FPS; section 3.2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ideagora.benchmarks.aggregation import criterion, mean_of_scored, score_ideas
from ideagora.benchmarks.benchmark import Scores, Unscored
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


def mean_over_ideas(verdicts: Iterable[Verdict], group: str, criteria: Mapping[str, str]) -> Scores:
    """Mean over the scored ideas of an agent on a sample, per judge, then over the judges.

    Args:
        verdicts: the log; other groups are ignored.
        group: the verdicts' kind.
        criteria: measure -> the criterion that has its score; a verdict may lack some.
    """
    log = list(verdicts)
    return {name: score_ideas(log, group, criterion(of), mean_of_scored) for name, of in criteria.items()}
