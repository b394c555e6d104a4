"""The figures of a published result file in place of judges: ratings by critic, and fluency if it is there.

A file has the ratings of each critic (SQLite, or CSV with a cell of scores), or columns (later CSV). The mean
over critics and ideas, flexibility and the average are computed here, as for a run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import PUBLISHED, Judgement, Question, Unscored
from ideagora.benchmarks.jury.critic import SCALE
from ideagora.benchmarks.jury.questions import QUALITY
from ideagora.benchmarks.liveideabench.questions import FLUENCY, checked_text
from ideagora.benchmarks.liveideabench.roles import DIMENSIONS
from ideagora.benchmarks.liveideabench.samples import Sample
from ideagora.benchmarks.replies import read_score
from ideagora.schema import Idea

if TYPE_CHECKING:
    from ideagora.graphs.services import Services


def published_questions(sample: Sample, ideas: Sequence[Idea]) -> Iterator[Question]:
    """The ratings of each idea by each critic of the file, and the fluency of all ideas; nothing is asked."""
    for idea in ideas:
        for critic, ratings in (_scores(idea) or {PUBLISHED: {}}).items():
            yield Question(
                QUALITY, sample.id, critic, (idea,), partial(_published_ratings, idea, ratings), calls=0
            )
    yield Question(FLUENCY, sample.id, PUBLISHED, tuple(ideas), partial(_published_fluency, ideas), calls=0)


def _scores(idea: Idea) -> dict[str, Mapping[str, Any]]:
    """The file's scores of an idea by critic, names of dimensions in small letters."""
    by_critic = idea.extra.get("scores") or {}
    return {
        str(critic): {str(name).casefold(): value for name, value in scores.items()}
        for critic, scores in by_critic.items()
        if isinstance(scores, Mapping)
    }


async def _published_ratings(idea: Idea, ratings: Mapping[str, Any], services: Services) -> Judgement:
    checked_text(idea)
    criteria = {name: _rating(name, ratings[name]) for name in DIMENSIONS if ratings.get(name) is not None}
    if not criteria:
        raise Unscored("the file has no rating of this idea")
    return Judgement(criteria)


async def _published_fluency(ideas: Sequence[Idea], services: Services) -> Judgement:
    found = [
        _rating(FLUENCY, scores[FLUENCY])
        for idea in ideas
        for scores in _scores(idea).values()
        if scores.get(FLUENCY) is not None
    ]
    if not found:
        raise Unscored("the file has no fluency")
    return Judgement({FLUENCY: fmean(found)})


def _rating(name: str, value: Any) -> float:
    """A number on the scale.

    Raises:
        Unscored: it is none.
    """
    try:
        rating = float(read_score(value, int(SCALE.highest)))
    except (TypeError, ValueError):
        rating = math.nan
    if isinstance(value, bool) or not SCALE.lowest <= rating <= SCALE.highest:
        raise Unscored(f"{name} is {str(value)[:40]!r} in the file, not {SCALE}")
    return rating
