"""Coverage of 95 % intervals in simulated tournaments.

The standard kind, 500 times: 12 agents with strengths N(0, 0.5), 50 topics, ideas N(their agent, 0.8), a
logistic judge, all pairs in both orders. The truth is the rating in the limit of infinitely many topics
(bench/tournaments.py), not the strength, which ratings do not estimate on this scale. The plain percentile
bootstrap by topic is the baseline.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.tournaments import Judge, population_ratings, tournament
from ideagora.errors import RatingError
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals, resample_ratings
from ideagora.evaluators.statistics.ratings.ratings import BASE, POINTS

REPLICATES = 400
KINDS: tuple[tuple[str, int, int, int, float, dict[str, Any]], ...] = (
    # name, agents, topics, tournaments, spread of strengths, options
    ("standard", 12, 50, 500, 0.5, {}),
    ("20 topics", 12, 20, 300, 0.5, {}),
    ("10 topics", 12, 10, 300, 0.5, {}),
    ("5 topics", 12, 5, 500, 0.5, {}),
    ("3 topics", 12, 3, 500, 0.5, {}),
    ("2 topics", 12, 2, 300, 0.5, {}),
    ("a quarter of the pairs, 50 topics", 12, 50, 300, 0.5, {"share": 0.25}),
    ("a quarter of the pairs, 5 topics", 12, 5, 300, 0.5, {"share": 0.25}),
    ("far apart (1.5), 10 topics", 12, 10, 300, 1.5, {}),
    ("2 agents, 10 topics", 2, 10, 1000, 0.5, {}),
    ("2 agents, 3 topics", 2, 3, 1000, 0.5, {}),
    ("3 agents far apart (2), 3 topics", 3, 3, 1000, 2.0, {}),
    ("first slot by 1 logit, 50 topics", 12, 50, 200, 0.5, {"judges": (Judge(position=1.0),)}),
)


def main() -> None:
    """Print the coverage of each kind, and one JSON line."""
    print(f"{'':36}{'ours':>8}{'points':>8}{'plain':>8}{'points':>8}{'none':>6}")
    figures = {}
    for name, agents, topics, runs, spread, options in KINDS:
        ours, width, plain, plain_width, none = coverage(agents, topics, runs, spread, options)
        figures[name] = {"ours": ours, "plain": plain}
        print(f"{name:36}{ours:8.1%}{width:8.0f}{plain:8.1%}{plain_width:8.0f}{none:6}", flush=True)
    print(json.dumps({"benchmark": "arena_coverage", **figures}))


def coverage(
    agents: int, topics: int, runs: int, spread: float, options: dict[str, Any]
) -> tuple[float, float, float, float, int]:
    """Coverage and mean width, ours and the plain bootstrap's, and the number of runs without an interval."""
    generator = np.random.default_rng(7)
    judges = options.get("judges", (Judge(),))
    rows = []
    for run in range(runs):
        strengths = generator.normal(0.0, spread, agents)
        played = tournament(generator, strengths, topics, **options)
        truth = BASE + population_ratings(strengths, position=judges[0].position)
        try:
            found = bradley_terry_intervals(played)
        except RatingError:
            continue
        if found.low is None or found.high is None:
            continue
        low, high = np.percentile(
            BASE + POINTS * resample_ratings(played, REPLICATES, run), (2.5, 97.5), axis=0
        )
        rows.append(
            (*_coverage_and_width(found.low, found.high, truth), *_coverage_and_width(low, high, truth))
        )
    ours, width, plain, plain_width = np.mean(rows, axis=0)
    return float(ours), float(width), float(plain), float(plain_width), runs - len(rows)


def _coverage_and_width(
    low: NDArray[np.float64], high: NDArray[np.float64], truth: NDArray[np.float64]
) -> tuple[float, float]:
    return float(((low <= truth) & (truth <= high)).mean()), float((high - low).mean())
