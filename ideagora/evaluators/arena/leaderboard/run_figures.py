"""Figures between the runs of an agent, beside its rating."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.arena.leaderboard.records import RunFigures
from ideagora.evaluators.arena.leaderboard.rows import DIGITS
from ideagora.evaluators.statistics.runs.best import best_of_runs
from ideagora.evaluators.statistics.runs.diversity import Diversity
from ideagora.evaluators.statistics.runs.variation import spread_between_runs

if TYPE_CHECKING:
    from ideagora.evaluators.arena.entries.lineup import Contestant, Lineup
    from ideagora.evaluators.statistics.comparisons import Comparisons
    from ideagora.evaluators.statistics.intervals.clustered import Intervals
    from ideagora.evaluators.statistics.ratings.ratings import Ratings

SHARE_DIGITS = 3
ONE_RUN = "Existing ideas have one run."


def run_figures(
    lineup: Lineup,
    matches: Comparisons,
    ratings: Ratings,
    intervals: Intervals,
    diversity: Mapping[str, Diversity | str],
) -> tuple[RunFigures, ...]:
    """One record for each rated contestant, best first; empty if no agent has several runs.

    Args:
        lineup: the contestants with their runs.
        matches: the rated matches, overall.
        ratings: of these matches.
        intervals: of the ratings.
        diversity: of the ideas of each agent with several runs, or why it is unknown.
    """
    if lineup.runs == 1:
        return ()
    spread, covariance = spread_between_runs(matches, ratings), intervals.covariance
    contestants = {one.name: one for one in lineup.contestants}
    figures = []
    for agent in ratings.ranking:
        if len(contestants[agent].runs) == 1:
            figures.append(RunFigures(agent=agent, reasons=(ONE_RUN,)))
            continue
        place = ratings.agents.index(agent)
        figures.append(
            _figures(
                contestants[agent],
                matches,
                ratings,
                None if spread is None else float(spread[place]),
                None if covariance is None else float(covariance[place, place]),
                diversity.get(agent, "The ideas were not compared."),
            )
        )
    return tuple(figures)


def _figures(
    contestant: Contestant,
    matches: Comparisons,
    ratings: Ratings,
    spread: float | None,
    variance: float | None,
    diversity: Diversity | str,
) -> RunFigures:
    best, runs = best_of_runs(matches, ratings, contestant.name), len(contestant.runs)
    share = None
    if spread is not None and variance is not None:
        share = round(min(1.0, spread**2 / runs / variance), SHARE_DIGITS)
    known = diversity if isinstance(diversity, Diversity) else None
    unknown = diversity if isinstance(diversity, str) else None
    return RunFigures(
        agent=contestant.name,
        runs=runs,
        spread=_rounded(spread),
        variance_share=share,
        best=_rounded(best.rating),
        best_low=_rounded(best.low),
        best_high=_rounded(best.high),
        distance=None if known is None or known.distance is None else round(known.distance, SHARE_DIGITS),
        twins=None if known is None else known.twins,
        pairs=None if known is None else known.pairs,
        reasons=tuple(reason for reason in (best.reason, unknown) if reason is not None),
    )


def _rounded(points: float | None) -> float | None:
    return None if points is None or not np.isfinite(points) else round(points, DIGITS)
