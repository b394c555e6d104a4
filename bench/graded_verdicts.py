"""Graded verdicts against signs, at the same number of calls: Kendall's tau and the width of intervals.

Simulated arenas of 12 agents (strengths N(0, 0.5)) and 20 topics (ideas N(their agent, 0.8)). A judge sees
each of five criteria of a pair with an error; the errors of the criteria correlate. Half of the error's
variance belongs to the two ideas and is the same in both orders. A sign is a tie within 0.25 logits; a grade
is "much better" from one logit on. Signs are rated by the majority of the criteria, as the arena does; grades
by their mean.

``full`` is the round robin in both orders (2,640 calls), ``quarter`` the balanced schedule (660 calls: each
idea meets five or six others, in one order). Widths are in standard deviations of the ratings, since grades
put ratings on another scale. "Mean of signs" tells what the degrees add. The goal is a loss of at most 0.02
tau, of graded verdicts on a quarter of the calls against full signs, for correlations up to 0.7.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.simulated_judges import Tournament
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.schedules.balanced import Balanced
from ideagora.schedules.pairing import Entrants, Pairing, Schedule
from ideagora.schedules.round_robin import RoundRobin

if TYPE_CHECKING:
    from numpy.typing import NDArray

RUNS = 100
AGENTS, TOPICS, CRITERIA = 12, 20, 5
CORRELATIONS = (0.3, 0.5, 0.7, 0.9)
NOISE = {"sharp": 0.8, "ordinary": 1.6, "noisy": 3.2}
"""Standard deviation of a criterion's error, in logits."""
SHARED = 0.5
"""Part of the error's variance that is the same in both orders."""
TIE, MUCH = 0.25, 1.0
FORMS = ("signs", "mean of signs", "graded")
QUARTER = AGENTS * (AGENTS - 1) * TOPICS // 4


@dataclass(frozen=True)
class Perceived:
    """What a judge perceives: strengths (agents,), and differences (topics, agents, agents, criteria)."""

    strengths: NDArray[np.float64]
    differences: NDArray[np.float64]


def main() -> None:
    """Print a row per judge and correlation, and one JSON line."""
    columns = [f"{form}, {calls}" for calls in ("full", "quarter") for form in FORMS]
    print(f"{'tau / width':22}" + "".join(f"{column:>24}" for column in columns) + f"{'loss':>8}")
    figures = {}
    for name, noise in NOISE.items():
        for correlation in CORRELATIONS:
            results = np.mean([_compare(noise, correlation, seed) for seed in range(RUNS)], axis=0)
            loss = float(results[0, 0] - results[columns.index("graded, quarter"), 0])
            cells = "".join(f"{f'{tau:.3f} / {width:.2f}':>24}" for tau, width in results)
            print(f"{f'{name}, {correlation}':22}{cells}{loss:8.3f}", flush=True)
            figures[f"{name}, {correlation}"] = {
                column: [round(float(value), 4) for value in row]
                for column, row in zip(columns, results, strict=True)
            }
    print(json.dumps({"benchmark": "graded_verdicts", **figures}))


def _compare(noise: float, correlation: float, seed: int) -> NDArray[np.float64]:
    """(tau, mean width) of each form at each number of calls."""
    random = np.random.default_rng([seed, 16])
    perceived = draw(random, noise, correlation)
    rows = []
    entrants = Entrants(np.ones((TOPICS, AGENTS), dtype=bool))
    for schedule in (RoundRobin(seed), Balanced(QUARTER, seed)):
        calls = draw_all(schedule, entrants)
        rows += [_tau_and_width(perceived.strengths, _judge(perceived, calls, form)) for form in FORMS]
    return np.array(rows)


def draw(random: np.random.Generator, noise: float, correlation: float) -> Perceived:
    """One arena; errors are antisymmetric in the ideas as far as both orders share them."""
    strengths = random.normal(0.0, 0.5, AGENTS)
    ideas = strengths + random.normal(0.0, 0.8, (TOPICS, AGENTS))
    shape = (TOPICS, AGENTS, AGENTS, CRITERIA)

    def errors() -> NDArray[np.float64]:
        common, own = random.normal(size=(*shape[:3], 1)), random.normal(size=shape)
        return np.asarray(noise * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own))

    lasting = errors()
    lasting = (lasting - lasting.swapaxes(1, 2)) / np.sqrt(2)
    error = np.sqrt(SHARED) * lasting + np.sqrt(1 - SHARED) * errors()
    return Perceived(strengths, (ideas[:, :, None] - ideas[:, None, :])[..., None] + error)


def draw_all(schedule: Schedule, entrants: Entrants) -> list[Pairing]:
    """All calls of a schedule that does not depend on verdicts."""
    calls: list[Pairing] = []
    none = Tournament(np.zeros(AGENTS), np.zeros((TOPICS, AGENTS, AGENTS))).judge([])
    while drawn := schedule.next(entrants, none, calls):
        calls += drawn
    return calls


def _judge(perceived: Perceived, calls: list[Pairing], form: str) -> Comparisons:
    """The verdicts on the calls."""
    seen = perceived.differences
    side, size = np.sign(seen), np.abs(seen)
    if form == "graded":
        outcome = (0.5 + 0.25 * side * ((size > TIE) * 1.0 + (size > MUCH))).mean(axis=-1)
    else:
        outcome = (0.5 + 0.5 * side * (size > TIE)).mean(axis=-1)
        if form == "signs":
            outcome = 0.5 + 0.5 * np.sign(np.round(outcome - 0.5, 9))
    return Tournament(perceived.strengths, outcome).judge(calls)


def _tau_and_width(strengths: NDArray[np.float64], verdicts: Comparisons) -> tuple[float, float]:
    from scipy.stats import kendalltau

    found = bradley_terry_intervals(settle_match(verdicts))
    assert found.low is not None
    assert found.high is not None
    width = float((found.high - found.low).mean() / found.scores.std())
    return float(kendalltau(found.scores, strengths).statistic), width
