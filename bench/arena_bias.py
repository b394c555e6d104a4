"""Kendall's tau to the truth of plain and bias-aware ratings, with and without biased judges.

12 agents, 50 topics, strengths N(0, 0.5). Biased judges prefer the first slot by 1 logit and twice the
words by 1 logit; weak agents write more (log words fall by 1.5 a logit of strength), and the longer idea is
shown first. Also: half wins against Davidson's ties (evalica's Newman fit) for a judge with many ties.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from bench.tournaments import Judge, tournament
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.ratings.bias_aware import bias_aware
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.ratings import bradley_terry

RUNS = 40
TOPICS = 50
LENGTH_BIAS = 1.0 / np.log(2.0)
BIASED = Judge(position=1.0, length=LENGTH_BIAS)
SIMULATIONS: dict[str, tuple[tuple[Judge, ...], bool, float]] = {
    # judges, both orders, log words per logit of strength
    "biased, longer shown first": ((BIASED,), False, -1.5),
    "biased, both orders": ((BIASED,), True, -1.5),
    "biased and a coin flipper, longer first": ((BIASED, Judge(discrimination=0.05)), False, -1.5),
    "unbiased, both orders": ((Judge(),), True, -1.5),
    "unbiased, lengths as strengths": ((Judge(),), True, 1.5),
    "unbiased, lengths by chance": ((Judge(),), True, 0.0),
}


def main() -> None:
    """Print tau of the plain and the bias-aware ratings, then of the two treatments of ties."""
    figures: dict[str, dict[str, float]] = {}
    print(f"{'':44}{'plain':>8}{'aware':>8}")
    for name, (judges, both, slope) in SIMULATIONS.items():
        plain, aware = _simulated(judges, both, slope)
        figures[name] = {"plain": plain, "aware": aware}
        print(f"{name:44}{plain:8.3f}{aware:8.3f}", flush=True)
    print(f"{'':44}{'half':>8}{'Davidson':>9}")
    for name, tie, collapse in (("a third ties", 0.8, False), ("swaps that disagree are ties", 0.0, True)):
        half, davidson = _ties(tie, collapse)
        figures[name] = {"half": half, "davidson": davidson}
        print(f"{name:44}{half:8.3f}{davidson:9.3f}", flush=True)
    print(json.dumps({"benchmark": "arena_bias", **figures}))


def _simulated(judges: tuple[Judge, ...], both: bool, slope: float) -> tuple[float, float]:
    generator = np.random.default_rng(3)
    rows = []
    for _ in range(RUNS):
        strengths = generator.normal(0.0, 0.5, 12)
        lengths = slope * strengths + generator.normal(0.0, 0.3, 12)
        played = tournament(generator, strengths, TOPICS, judges=judges, lengths=lengths, both_orders=both)
        found = (bradley_terry(played).scores, bias_aware(played).ratings.scores)
        rows.append([_tau(scores, strengths) for scores in found])
    plain, aware = np.mean(rows, axis=0)
    return round(float(plain), 3), round(float(aware), 3)


def _ties(tie: float, collapse: bool) -> tuple[float, float]:
    generator = np.random.default_rng(5)
    rows = []
    for _ in range(RUNS):
        strengths = generator.normal(0.0, 0.5, 12)
        played = tournament(generator, strengths, TOPICS, judges=(Judge(tie=tie),))
        played = settle_match(played) if collapse else played
        rows.append([_tau(scores, strengths) for scores in (bradley_terry(played).scores, _davidson(played))])
    half, davidson = np.mean(rows, axis=0)
    return round(float(half), 3), round(float(davidson), 3)


def _davidson(played: Comparisons) -> NDArray[np.float64]:
    from evalica import Winner, newman

    winners = [(Winner.Y, Winner.Draw, Winner.X)[int(2 * outcome)] for outcome in played.outcome]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = newman(played.first, played.second, winners, tolerance=1e-9, limit=5000)
    return np.asarray(found.scores.loc[list(range(len(played.agents)))].to_numpy())


def _tau(scores: NDArray[np.float64], strengths: NDArray[np.float64]) -> float:
    return float(kendalltau(scores, strengths).statistic)
