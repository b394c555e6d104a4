"""How much ratings vary from run to run on the same topics.

The influence of a topic on a rating is the sum of those of its runs. What a single run on a topic would
contribute is the influence of that run times the number of runs, so the variance of the rating of a single
run is the sum over topics of the variance of these contributions. It contains the noise of the verdicts and
the variation of the other agents' runs. So does the interval of the rating, because topics are its clusters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.intervals.bradley_terry import influences
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import topic_wins
from ideagora.evaluators.statistics.ratings.ratings import POINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons
    from ideagora.evaluators.statistics.ratings.ratings import Ratings


def by_cell(comparisons: Comparisons) -> Comparisons:
    """The comparisons with each run on each topic as a topic of its own."""
    run = comparisons.run_of_row
    runs = int(run.max(initial=0)) + 1
    names = tuple(f"{topic}, run {number + 1}" for topic in comparisons.topics for number in range(runs))
    return replace(comparisons, topics=names, topic=comparisons.topic * runs + run)


def spread_between_runs(comparisons: Comparisons, ratings: Ratings) -> NDArray[np.float64] | None:
    """(agents,) standard deviation, in points, of ratings from one run of each agent on these topics.

    ``None`` if no topic has verdicts on two runs. Topics with one run count like the mean of the others.
    """
    wins = topic_wins(by_cell(comparisons))
    agents, topics = len(ratings.agents), len(comparisons.topics)
    strengths = (ratings.scores - ratings.base) / POINTS
    of_run = influences(wins, strengths).reshape(topics, -1, agents)
    is_judged = wins.any(axis=(1, 2)).reshape(topics, -1)
    variances = [
        np.var(len(rows) * rows, axis=0, ddof=1)
        for rows in (of_run[topic, is_judged[topic]] for topic in range(topics))
        if len(rows) > 1
    ]
    if not variances:
        return None
    return np.asarray(np.sqrt(is_judged.any(axis=1).sum() * np.mean(variances, axis=0)))
