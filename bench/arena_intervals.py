"""Coverage of each kind of 95 % interval, in one table with standard errors.

Judges and ideas are those of bench/tournaments.py. The truth of Bradley–Terry ratings, adaptive schedules,
votes and runs is the rating on infinitely many topics, that of Elo its mean over tournaments of the same
size, that of bias-aware ratings their value on 1,000 topics, that of the ICC the one that scores are drawn
with. Rows run side by side in two processes. arena_coverage, arena_votes and arena_runs have more sizes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from bench import arena_runs, arena_votes
from bench.arena_bias import BIASED, LENGTH_BIAS
from bench.arena_schedules import play
from bench.simulated_judges import World, draw
from bench.tournaments import Judge, population_ratings, tournament
from ideagora.errors import RatingError
from ideagora.evaluators.statistics.agreement.icc import icc
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.intervals.clustered import Intervals
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from ideagora.evaluators.statistics.ratings.bias_aware import bias_aware
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.prediction_powered import prediction_powered
from ideagora.evaluators.statistics.ratings.ratings import BASE
from ideagora.schedules.adaptive import Adaptive

PROCESSES = 2
TOURNAMENTS = 60
MANY_TOPICS = 1000
AGENTS = 8
BIASES: dict[str, tuple[Judge, bool, float]] = {
    # judge, both orders, log words per logit of strength
    "slot and length bias": (BIASED, True, -1.5),
    "the same, longer shown first": (BIASED, False, -1.5),
    "length bias": (Judge(length=LENGTH_BIAS), True, 0.0),
    "no bias": (Judge(), True, -1.5),
}
Shares = list[float]
"""Of each tournament, the share of the intervals that contain the truth."""


def main() -> None:
    """Print one row for each kind, and one JSON line."""
    figures = {}
    print(f"{'95 % intervals of':44}{'coverage':>18}{'s.e.':>8}{'n':>6}")
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        rows = {name: pool.submit(measure) for name, measure in _rows()}
        for name, row in rows.items():
            shares = row.result()
            mean, error = float(np.mean(shares)), float(np.std(shares, ddof=1) / len(shares) ** 0.5)
            figures[name] = [round(mean, 3), round(error, 3), len(shares)]
            print(f"{name:44}{mean:18.1%}{error:8.1%}{len(shares):6}", flush=True)
    print(json.dumps({"benchmark": "arena_intervals", **figures}))


def _rows() -> Iterable[tuple[str, Callable[[], Shares]]]:
    for agents, topics in ((12, 20), (12, 5)):
        yield f"Bradley–Terry, {agents} × {topics}", partial(rating_coverage, agents, topics)
    for topics in (5, 20):
        yield f"Elo, 12 × {topics}", partial(elo_coverage, topics)
    for share in (0.15, 0.25, 0.5):
        yield f"adaptive, 12 × 10, {share:.0%} of verdicts", partial(adaptive_coverage, share)
    for name, kind in BIASES.items():
        for topics in (5, 20):
            yield f"bias-aware, {name}, 8 × {topics}", partial(bias_aware_coverage, *kind, topics)
    yield "joined with votes, 6 × 20, 20 % of pairs", partial(vote_coverage, 6, 20, 0.2)
    yield "3 runs, 6 × 10", partial(run_coverage, 6, 10, 3)
    for icc_kind in ("1,1", "3,1", "3,k"):
        yield f"ICC({icc_kind}), 10 topics of 8 ideas, 2 raters", partial(icc_coverage, icc_kind)


def rating_coverage(agents: int, topics: int) -> Shares:
    """Bradley–Terry ratings from all pairs."""
    generator, held = np.random.default_rng(3), []
    for _ in range(TOURNAMENTS):
        strengths = generator.normal(0.0, 0.5, agents)
        found = bradley_terry_intervals(settle_match(tournament(generator, strengths, topics)))
        held.append((found, BASE + population_ratings(strengths)))
    return _shares(held)


def elo_coverage(topics: int) -> Shares:
    """Elo ratings, around their mean over tournaments of the same size."""
    generator = np.random.default_rng(1)
    strengths = generator.normal(0.0, 0.5, 12)
    found = [elo_intervals(tournament(generator, strengths, topics)) for _ in range(TOURNAMENTS)]
    truth = np.mean([each.scores for each in found], axis=0)
    return _shares((each, truth) for each in found)


def bias_aware_coverage(judge: Judge, both: bool, slope: float, topics: int) -> Shares:
    """Bias-aware ratings."""
    generator = np.random.default_rng(2)
    strengths = generator.normal(0.0, 0.5, AGENTS)
    lengths = slope * strengths + generator.normal(0.0, 0.3, AGENTS)

    def played(topics: int) -> Comparisons:
        return tournament(generator, strengths, topics, judges=(judge,), lengths=lengths, both_orders=both)

    truth = bias_aware(played(MANY_TOPICS)).ratings.scores
    return _shares((bias_aware(played(topics)).intervals, truth) for _ in range(TOURNAMENTS))


def adaptive_coverage(share: float, agents: int = 12, topics: int = 10) -> Shares:
    """Ratings from a share of the verdicts, chosen by the adaptive schedule."""
    held = []
    for seed in range(TOURNAMENTS):
        drawn = draw(World(agents, topics), [9, seed])
        budget = int(share * topics * agents * (agents - 1))
        asked = play(Adaptive(budget=budget, seed=seed, confidence=None), drawn)
        found = bradley_terry_intervals(settle_match(drawn.judge(asked)))
        held.append((found, BASE + population_ratings(drawn.strengths)))
    return _shares(held)


def vote_coverage(agents: int, topics: int, share: float) -> Shares:
    """People's ratings from votes on some pairs and verdicts on all; few votes may give no rating."""
    generator, held = np.random.default_rng(4), []
    for _ in range(TOURNAMENTS):
        strengths = generator.normal(0.0, 0.5, agents)
        pairs = arena_votes.simulate(generator, strengths, topics, share, bias=0.5)
        try:
            held.append((prediction_powered(pairs).intervals, BASE + population_ratings(strengths)))
        except RatingError:
            continue
    return _shares(held)


def run_coverage(agents: int, topics: int, runs: int) -> Shares:
    """Ratings from several runs, which share half of the ideas' variance."""
    generator, held = np.random.default_rng(5), []
    for _ in range(TOURNAMENTS):
        strengths = generator.normal(0.0, 0.5, agents)
        matches = arena_runs.simulate(generator, strengths, topics, runs, 0.5)
        held.append((bradley_terry_intervals(matches), BASE + population_ratings(strengths)))
    return _shares(held)


def icc_coverage(kind: str, topics: int = 10, ideas: int = 8, raters: int = 2) -> Shares:
    """The ICC over topics, which explain half of the ideas' variance."""
    generator = np.random.default_rng(0)
    clusters = np.repeat(np.arange(topics), ideas)
    single = 2.0 / 3.0
    truth = single if kind[2] == "1" else raters * single / (1 + (raters - 1) * single)
    held = []
    for _ in range(5 * TOURNAMENTS):
        quality = generator.normal(size=topics)[clusters] + generator.normal(size=len(clusters))
        table = quality[:, None] + generator.normal(size=(len(clusters), raters))
        found = icc(table, kind, clusters)  # type: ignore[arg-type]
        low, high = (-1.0 if found.low is None else found.low), (1.0 if found.high is None else found.high)
        held.append(float(low <= truth <= high))
    return held


def _shares(held: Iterable[tuple[Intervals, NDArray[np.float64]]]) -> Shares:
    return [
        float(((found.low <= truth) & (truth <= found.high)).mean())
        for found, truth in held
        if found.low is not None and found.high is not None
    ]
