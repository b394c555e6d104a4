"""How often rank ranges hold, one by one and all together, in simulated tournaments.

12 or 6 agents with strengths N(0, 0.5), ideas N(their agent, 0.8), a logistic judge, all pairs in both
orders. Of each size: the share of ranges that contain the agent's true rank, the share of tournaments in
which all of them do, and the mean width of a range; first for the ranges of single agents, then for the joint
ones, which promise 95 % of the tournaments.
"""

from __future__ import annotations

import json

import numpy as np

from bench.tournaments import tournament
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.intervals.ranks import joint_rank_intervals, rank_intervals
from ideagora.evaluators.statistics.ratings.matches import settle_match

RUNS = 500
SIZES = ((12, 50), (12, 20), (12, 10), (12, 5), (6, 20), (6, 10), (6, 5))


def main() -> None:
    """Print one row per size, and one JSON line."""
    print(f"{'':14}{'single: each':>14}{'all':>8}{'width':>8}{'joint: each':>14}{'all':>8}{'width':>8}")
    figures = {}
    for agents, topics in SIZES:
        generator = np.random.default_rng([agents, topics])
        rows = [row for _ in range(RUNS) if (row := _held(generator, agents, topics)) is not None]
        means = [float(mean) for mean in np.mean(rows, axis=0)]
        figures[f"{agents} x {topics}"] = [round(mean, 3) for mean in means]
        cells = "".join(f"{means[at]:14.1%}{means[at + 1]:8.1%}{means[at + 2]:8.1f}" for at in (0, 3))
        print(f"{f'{agents} x {topics}':14}{cells}", flush=True)
    print(json.dumps({"benchmark": "arena_ranks", **figures}))


def _held(generator: np.random.Generator, agents: int, topics: int) -> list[float] | None:
    strengths = generator.normal(0.0, 0.5, agents)
    found = bradley_terry_intervals(settle_match(tournament(generator, strengths, topics)))
    if found.reason:
        return None
    truth = 1 + (strengths > strengths[:, None]).sum(axis=1)
    row: list[float] = []
    for ranges in (rank_intervals(found), joint_rank_intervals(found)):
        inside = (ranges[:, 0] <= truth) & (truth <= ranges[:, 1])
        row += [inside.mean(), inside.all(), (ranges[:, 1] - ranges[:, 0]).mean()]
    return row
