"""How often neighbours whose order is said to be at least 95 % probable are in the right order.

Simulated tournaments, each pair in both orders. Of each kind of world: the share of such neighbours that are
right, by the posterior that the leaderboard shows, and by the intervals alone, which do not allow for the
choice of neighbours. Right in 95 % or more is what is promised.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from bench.simulated_judges import Tournament, World, draw
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.intervals.ranks import superiority
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.separation import CONFIDENCE
from ideagora.schedules.pairing import Pairing
from ideagora.schedules.posterior import posterior_of

RUNS = 600
SIZES = ((6, 5), (12, 10), (6, 20))
JUDGES = {"noisy": (0.5, 0.8, False), "consistent": (1.0, 0.5, True)}
"""Spread of agents and of ideas in logits, and whether both orders give the same verdict."""


def main() -> None:
    """Print one row per kind of world, and one JSON line."""
    print(f"{'agents × topics, judge':28}{'posterior':>16}{'intervals alone':>20}")
    figures = {}
    for agents, topics in SIZES:
        for name, (spread, ideas, consistent) in JUDGES.items():
            world = World(agents, topics, spread, ideas, consistent)
            counts = sum(
                (_right_and_said(draw(world, [seed, agents, topics])) for seed in range(RUNS)), _NONE
            )
            shares = counts[:, 0] / np.maximum(counts[:, 1], 1)
            kind = f"{agents} × {topics}, {name}"
            figures[kind] = {"posterior": round(shares[0], 3), "intervals": round(shares[1], 3)}
            cells = [f"{share:.1%} of {int(n)}" for share, n in zip(shares, counts[:, 1], strict=True)]
            print(f"{kind:28}{cells[0]:>16}{cells[1]:>20}", flush=True)
    print(json.dumps({"benchmark": "arena_calibration", **figures}))


_NONE = np.zeros((2, 2))


def _right_and_said(tournament: Tournament) -> NDArray[np.float64]:
    """(posterior and intervals, right and said to be probable) among neighbours."""
    topics, agents, _ = tournament.verdicts.shape
    pairs = [
        Pairing(topic, one, other)
        for topic in range(topics)
        for one in range(agents)
        for other in range(agents)
        if one != other
    ]
    verdicts = tournament.judge(pairs)
    intervals = bradley_terry_intervals(settle_match(verdicts))
    if intervals.reason:
        return _NONE
    order = np.argsort(-intervals.scores)
    above, below = order[:-1], order[1:]
    right = tournament.strengths[above] > tournament.strengths[below]
    rows = []
    for probability in (posterior_of(verdicts).probability(), superiority(intervals)):
        said = probability[above, below] >= CONFIDENCE
        rows.append([(right & said).sum(), said.sum()])
    return np.array(rows, dtype=np.float64)
