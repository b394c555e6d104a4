"""Simulated tournaments with known strengths, for the benchmarks of ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.ratings.bradley_terry_fit import fit
from ideagora.evaluators.statistics.ratings.ratings import POINTS

IDEA_SPREAD = 0.8
"""Standard deviation, in logits, of ideas around their agent's strength."""


@dataclass(frozen=True)
class Judge:
    """A logistic judge: its discrimination, and its biases in logits."""

    discrimination: float = 1.0
    position: float = 0.0
    length: float = 0.0
    tie: float = 0.0
    """Half the width, in logits, of the band in which it calls a tie."""


def tournament(
    generator: np.random.Generator,
    strengths: NDArray[np.float64],
    topics: int,
    *,
    judges: tuple[Judge, ...] = (Judge(),),
    lengths: NDArray[np.float64] | None = None,
    share: float = 1.0,
    both_orders: bool = True,
    spread: float = IDEA_SPREAD,
    quality: NDArray[np.float64] | None = None,
) -> Comparisons:
    """A round robin on every topic, or a random share of its pairs; ``lengths`` are log words by agent.

    ``quality`` are the ideas, (topics, agents); without it they are drawn around their agents. With one order
    only, the longer agent's idea is shown first: the worst case of unbalanced orders.
    """
    agents = len(strengths)
    if quality is None:
        quality = strengths + generator.normal(0.0, spread, (topics, agents))
    words = (np.zeros(agents) if lengths is None else lengths) + generator.normal(0.0, 0.2, (topics, agents))
    low, high = np.triu_indices(agents, 1)
    topic = np.repeat(np.arange(topics), len(low))
    low, high = np.tile(low, topics), np.tile(high, topics)
    chosen = generator.random(len(topic)) < share
    topic, low, high = topic[chosen], low[chosen], high[chosen]
    if not both_orders and lengths is not None:
        low, high = np.where(lengths[low] > lengths[high], (low, high), (high, low))
    match = np.arange(len(topic))
    judge = generator.integers(0, len(judges), len(topic))
    if both_orders:
        low, high = np.concatenate([low, high]), np.concatenate([high, low])
        topic, match, judge = (np.tile(column, 2) for column in (topic, match, judge))
    length = words[topic, low] - words[topic, high]
    discrimination, position, length_bias, tie = (
        np.array([getattr(each, name) for each in judges])[judge]
        for name in ("discrimination", "position", "length", "tie")
    )
    logit = discrimination * (quality[topic, low] - quality[topic, high]) + position + length_bias * length
    drawn = generator.random(len(topic))
    outcome = np.where(drawn < expit(logit - tie), 1.0, np.where(drawn < expit(logit + tie), 0.5, 0.0))
    names = tuple(f"agent {number:02}" for number in range(agents))
    return Comparisons(
        agents=names, topics=tuple(f"topic {number}" for number in range(topics)),
        judges=tuple(f"judge {number}" for number in range(len(judges))),
        first=low, second=high, outcome=outcome, topic=topic, judge=judge, match=match, length=length,
    )  # fmt: skip


def population_ratings(
    strengths: NDArray[np.float64], spread: float = IDEA_SPREAD, position: float = 0.0
) -> NDArray[np.float64]:
    """The ratings (agents,), in points around 0, of an infinite round robin in both orders.

    Noise and the spread of ideas shrink them, so they lie closer together than the strengths.
    The expected share of each pair is integrated over the ideas (Gauss and Hermite), then rated.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    gap = strengths[:, None] - strengths[None, :]
    seen = gap[..., None] + np.sqrt(2.0) * spread * nodes
    shares = (expit(seen + position) + expit(seen - position)) / 2 @ (weights / weights.sum())
    np.fill_diagonal(shares, 0.0)
    return np.asarray(POINTS * fit(shares, 0.0))
