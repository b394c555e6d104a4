"""Few votes of people joined with many verdicts: coverage and width of 95 % intervals, against votes alone.

Ideas are N(their agent, 0.8); people vote by them with logistic noise. Judges see the idea's quality with an
error of their own for each agent (a taste, N(0, bias)) and judge every pair in both orders. The truth is what
people would say on infinitely many topics.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bench.tournaments import IDEA_SPREAD, population_ratings
from ideagora.errors import RatingError
from ideagora.evaluators.statistics.ratings.prediction_powered import VotedPairs, prediction_powered
from ideagora.evaluators.statistics.ratings.ratings import BASE

RUNS = 300
KINDS = (
    # agents, topics, share of pairs voted on, judges' taste in logits
    (6, 20, 0.2, 0.5),
    (6, 10, 0.3, 0.5),
    (6, 20, 0.2, 0.0),
    (6, 20, 0.2, 2.0),
    (12, 20, 0.1, 0.5),
)


def main() -> None:
    """Print a row for each kind, and one JSON line."""
    print(f"{'agents × topics, votes, taste':32}{'joined':>9}{'width':>7}{'votes':>9}{'width':>7}{'none':>6}")
    figures = {}
    for agents, topics, share, bias in KINDS:
        name = f"{agents} × {topics}, {share:.0%}, {bias}"
        rows = [_measured(np.random.default_rng([seed, agents, topics]), agents, topics, share, bias)
                for seed in range(RUNS)]  # fmt: skip
        known = np.array([row for row in rows if row is not None])
        joined, width, alone, alone_width = known.mean(axis=0)
        figures[name] = {"joined": round(joined, 3), "width": round(width), "votes": round(alone, 3),
                         "votes_width": round(alone_width)}  # fmt: skip
        print(
            f"{name:32}{joined:9.1%}{width:7.0f}{alone:9.1%}{alone_width:7.0f}{RUNS - len(known):6}",
            flush=True,
        )
    print(json.dumps({"benchmark": "arena_votes", **figures}))


def simulate(
    random: np.random.Generator, strengths: NDArray[np.float64], topics: int, share: float, bias: float
) -> VotedPairs:
    """The pairs of a round robin with the judges' outcomes, and people's on a share of them."""
    agents = len(strengths)
    quality = strengths + random.normal(0.0, IDEA_SPREAD, (topics, agents))
    seen = 1.5 * quality + random.normal(0.0, bias, agents) if bias else 1.5 * quality
    low, high = (np.tile(side, topics) for side in np.triu_indices(agents, 1))
    topic = np.repeat(np.arange(topics), agents * (agents - 1) // 2)
    judged = (random.random((2, len(topic))) < expit(seen[topic, low] - seen[topic, high])).mean(axis=0)
    voted = (random.random(len(topic)) < expit(quality[topic, low] - quality[topic, high])).astype(np.float64)
    voted[random.random(len(topic)) >= share] = np.nan
    return VotedPairs(tuple(f"agent {n}" for n in range(agents)), topic, low, high, judged, voted)


def _measured(
    random: np.random.Generator, agents: int, topics: int, share: float, bias: float
) -> tuple[float, ...] | None:
    """Coverage and width, joined and of the votes alone; ``None`` where either has no rating."""
    strengths = random.normal(0.0, 0.5, agents)
    pairs, truth = simulate(random, strengths, topics, share, bias), BASE + population_ratings(strengths)
    figures = []
    for weight in (None, 0.0):
        try:
            found = prediction_powered(pairs, weight).intervals
        except RatingError:
            return None
        if found.low is None or found.high is None:
            return None
        figures += [((found.low <= truth) & (truth <= found.high)).mean(), (found.high - found.low).mean()]
    return tuple(figures)
