"""What the measures with reference to other literature share (NA, FA and FPS; section 3.2.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ideagora.benchmarks.aggregation import criterion, mean_of_scored, score_ideas
from ideagora.benchmarks.benchmark import Scores, Unscored
from ideagora.errors import SourceRejected, SourceUnavailable
from ideagora.schema import Idea, Verdict

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library

T = TypeVar("T")
CITATIONS = "citations"
"""The judge of questions that ask no model."""


def each_idea(ideas: Mapping[str, Sequence[Idea]]) -> Iterator[Idea]:
    """The ideas of all agents; one that an agent repeats counts once."""
    for several in ideas.values():
        yield from {idea.id: idea for idea in several}.values()


@contextmanager
def from_all_sources(library: Library) -> Iterator[None]:
    """Literature on which a verdict may rest: that of all sources, since a verdict is final.

    Several sources answer without one that is down, so other questions at the same time may be repeated too.

    Raises:
        SourceUnavailable: a source is down.
        Unscored: a source rejected a request, or what was found is not enough.
    """
    before = library.outages
    unscored: Unscored | None = None
    try:
        yield
    except SourceRejected as error:
        unscored = Unscored(str(error))
    except Unscored as error:
        unscored = error
    if library.outages > before:
        raise SourceUnavailable(
            "A source did not respond, so papers may be missing. Repeat the command when it is back."
        )
    if unscored is not None:
        raise unscored


async def side_by_side(requests: Iterable[Awaitable[T]]) -> list[T]:
    """Send requests to the library concurrently and return their results in order.

    All requests end before an error is raised, which is that of the first one that failed.
    """
    results = await asyncio.gather(*requests, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def mean_over_ideas(verdicts: Iterable[Verdict], group: str, criteria: Mapping[str, str]) -> Scores:
    """Mean over the scored ideas of an agent on a sample, per judge, then over the judges.

    Args:
        verdicts: the log; other groups are ignored.
        group: the verdicts' kind.
        criteria: measure -> the criterion that has its score; a verdict may lack some.
    """
    log = list(verdicts)
    return {name: score_ideas(log, group, criterion(of), mean_of_scored) for name, of in criteria.items()}
