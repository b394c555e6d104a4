"""Coverage of the 95 % intervals that arena_coverage leaves out: Elo, bias-aware, adaptive, and the ICC.

Judges and ideas are those of bench/tournaments.py. The truth of Elo is its mean over tournaments of the
same size, that of bias-aware ratings their value on 4,000 topics, that of the ICC the one that the scores are
drawn with. Some minutes; ``RUNS`` tournaments a row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.arena_bias import BIASED, LENGTH_BIAS
from bench.arena_schedules import play
from bench.simulated_judges import World, draw
from bench.tournaments import Judge, population_ratings, tournament
from ideagora.evaluators.statistics.agreement.icc import icc
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.intervals.clustered import Intervals
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from ideagora.evaluators.statistics.ratings.bias_aware import bias_aware
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.ratings import BASE
from ideagora.schedules.adaptive import Adaptive

RUNS = 100
MANY_TOPICS = 4000
AGENTS = 8
BIASES: dict[str, tuple[Judge, bool, float]] = {
    # judge, both orders, log words per logit of strength
    "slot and length bias": (BIASED, True, -1.5),
    "the same, longer shown first": (BIASED, False, -1.5),
    "length bias": (Judge(length=LENGTH_BIAS), True, 0.0),
    "no bias": (Judge(), True, -1.5),
}


def main() -> None:
    """Print one row for each method and size, and one JSON line."""
    rows: dict[str, Callable[[], float]] = {
        **{f"Elo, {topics} topics": partial(elo_coverage, topics) for topics in (3, 5, 20)},
        **{
            f"bias-aware, {name}, {topics} topics": partial(bias_aware_coverage, *BIASES[name], topics)
            for name in BIASES
            for topics in (5, 10, 20, 50)
        },
        **{
            f"adaptive, {share:.0%} of the verdicts": partial(adaptive_coverage, share)
            for share in (0.15, 0.25, 0.5)
        },
        **{f"ICC({kind})": partial(icc_coverage, kind) for kind in ("1,1", "3,1", "3,k")},
    }
    figures = {}
    for name, measure in rows.items():
        figures[name] = round(measure(), 3)
        print(f"{name:56}{figures[name]:8.1%}", flush=True)
    print(json.dumps({"benchmark": "arena_intervals", **figures}))


def elo_coverage(topics: int) -> float:
    """Coverage of Elo's intervals."""
    generator = np.random.default_rng(1)
    strengths = generator.normal(0.0, 0.5, 12)
    found = [elo_intervals(tournament(generator, strengths, topics)) for _ in range(RUNS)]
    return _coverage(found, np.mean([each.scores for each in found], axis=0))


def bias_aware_coverage(judge: Judge, both: bool, slope: float, topics: int) -> float:
    """Coverage of bias-aware intervals."""
    generator = np.random.default_rng(2)
    strengths = generator.normal(0.0, 0.5, AGENTS)
    lengths = slope * strengths + generator.normal(0.0, 0.3, AGENTS)

    def played(topics: int) -> Comparisons:
        return tournament(generator, strengths, topics, judges=(judge,), lengths=lengths, both_orders=both)

    truth = bias_aware(played(MANY_TOPICS)).ratings.scores
    return _coverage([bias_aware(played(topics)).intervals for _ in range(RUNS)], truth)


def adaptive_coverage(share: float, agents: int = 12, topics: int = 10) -> float:
    """Coverage of intervals from a share of the verdicts, chosen by the adaptive schedule."""
    held = []
    for seed in range(RUNS):
        drawn = draw(World(agents, topics), [9, seed])
        budget = int(share * topics * agents * (agents - 1))
        asked = play(Adaptive(budget=budget, seed=seed, confidence=None), drawn)
        found = bradley_terry_intervals(settle_match(drawn.judge(asked)))
        held.append(_coverage([found], BASE + population_ratings(drawn.strengths)))
    return float(np.mean(held))


def icc_coverage(kind: str, topics: int = 10, ideas: int = 8, raters: int = 2) -> float:
    """Coverage of the ICC's intervals over topics, which explain half of the ideas' variance."""
    generator = np.random.default_rng(0)
    clusters = np.repeat(np.arange(topics), ideas)
    single = 2.0 / 3.0
    truth = single if kind[2] == "1" else raters * single / (1 + (raters - 1) * single)
    held = []
    for _ in range(5 * RUNS):
        quality = generator.normal(size=topics)[clusters] + generator.normal(size=len(clusters))
        table = quality[:, None] + generator.normal(size=(len(clusters), raters))
        found = icc(table, kind, clusters)  # type: ignore[arg-type]
        held.append((found.low or -1.0) <= truth <= (found.high or 1.0))
    return float(np.mean(held))


def _coverage(found: list[Intervals], truth: NDArray[np.float64]) -> float:
    bounds = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    return float(np.mean([(low <= truth) & (truth <= high) for low, high in bounds]))
