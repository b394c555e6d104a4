"""Whether the estimated number of topics separates two agents, in simulated tournaments.

Agents with known strengths, so the difference is known; its spread over topics comes from one tournament
of 2,000 topics. Prints the estimated number of topics and the share of new tournaments in which the first two
agents are separated, with that many topics, half and twice as many. The first should be 80 %.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from bench.tournaments import population_ratings, tournament
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.ratings.separation import CONFIDENCE, further_topics
from ideagora.schedules.posterior import posterior_of

RUNS = 400
KINDS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("2 agents, 0.5 apart", (0.25, -0.25)),
    ("3 agents, 0.35 apart", (0.35, 0.0, -0.35)),
    ("6 agents, the first two 0.2 apart", (0.6, 0.4, 0.0, -0.2, -0.3, -0.5)),
    ("12 agents, the first two 0.3 apart", (0.8, 0.5, *np.linspace(0.3, -0.9, 10).tolist())),
)


def main() -> None:
    """Print one row per kind, and one JSON line."""
    print(f"{'':36}{'topics':>8}{'enough':>8}{'half':>8}{'twice':>8}")
    figures = {}
    for name, values in KINDS:
        strengths = np.array(values)
        topics = further_topics(*true_gap_and_spread(strengths, 2000, 1)) or 0
        shares = [
            share_separated(strengths, number, RUNS, seed)
            for seed, number in enumerate((topics, topics // 2, 2 * topics), 2)
        ]
        figures[name] = {"topics": topics, "enough": shares[0], "half": shares[1], "twice": shares[2]}
        print(f"{name:36}{topics:8}" + "".join(f"{share:8.0%}" for share in shares), flush=True)
    print(json.dumps({"benchmark": "arena_separation", **figures}))


def true_gap_and_spread(strengths: NDArray[np.float64], topics: int, seed: int) -> tuple[float, float]:
    """The difference of the first two ratings, and its standard deviation over topics, in points."""
    found = bradley_terry_intervals(tournament(np.random.default_rng(seed), strengths, topics))
    covariance = found.covariance
    assert covariance is not None
    contrast = np.zeros(len(strengths))
    contrast[:2] = 1.0, -1.0
    return float(contrast @ population_ratings(strengths)), float(
        np.sqrt(contrast @ covariance @ contrast * topics)
    )


def share_separated(strengths: NDArray[np.float64], topics: int, runs: int, seed: int) -> float:
    """Share of tournaments in which the first agent is separated from the second."""
    generator = np.random.default_rng(seed)
    played = (tournament(generator, strengths, topics) for _ in range(runs))
    return float(np.mean([posterior_of(each).probability()[0, 1] >= CONFIDENCE for each in played]))
