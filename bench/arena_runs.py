"""Several runs of each agent: coverage of 95 % intervals.

Ideas are N(their agent, 0.8), and a part of this variance is the same in all runs on a topic. A logistic
judge compares the ideas of a run with each other, all pairs in both orders. The truth is the rating in the
limit of infinitely many topics and runs. "Cells" are intervals that take each run on each topic for a topic.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench.tournaments import IDEA_SPREAD, population_ratings, tournament
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.ratings import BASE
from ideagora.evaluators.statistics.runs.variation import by_cell

TOURNAMENTS = 200
KINDS = ((6, 20, 3, 0.5), (6, 10, 3, 0.5), (6, 5, 3, 0.5), (6, 10, 3, 0.0), (6, 10, 3, 0.9), (12, 10, 2, 0.5))
"""Agents, topics, runs, part of the ideas' variance that all runs on a topic share."""


def main() -> None:
    """Print a row for each kind, and one JSON line."""
    print(f"{'agents × topics × runs, shared':32}{'holds':>8}{'width':>7}{'cells hold':>12}{'width':>7}")
    figures = {}
    for agents, topics, runs, shared in KINDS:
        name = f"{agents} × {topics} × {runs}, {shared}"
        generator = np.random.default_rng([agents, topics, runs, int(10 * shared)])
        rows = [_measured(generator, agents, topics, runs, shared) for _ in range(TOURNAMENTS)]
        held, width, cells_held, cells_width = np.mean(rows, axis=0)
        figures[name] = {"holds": round(held, 3), "width": round(width), "cells": round(cells_held, 3)}
        print(f"{name:32}{held:8.1%}{width:7.0f}{cells_held:12.1%}{cells_width:7.0f}", flush=True)
    print(json.dumps({"benchmark": "arena_runs", **figures}))


def simulate(
    generator: np.random.Generator, strengths: NDArray[np.float64], topics: int, runs: int, shared: float
) -> Comparisons:
    """The matches of a round robin in each run on each topic."""
    agents = len(strengths)
    of_topic = generator.normal(0.0, IDEA_SPREAD * shared**0.5, (topics, 1, agents))
    of_run = generator.normal(0.0, IDEA_SPREAD * (1 - shared) ** 0.5, (topics, runs, agents))
    quality = (strengths + of_topic + of_run).reshape(topics * runs, agents)
    played = settle_match(tournament(generator, strengths, len(quality), quality=quality))
    names = tuple(f"topic {number}" for number in range(topics))
    return replace(played, topics=names, topic=played.topic // runs, run=played.topic % runs)


def _measured(
    generator: np.random.Generator, agents: int, topics: int, runs: int, shared: float
) -> tuple[float, ...]:
    """Coverage and mean width, over topics and over cells."""
    strengths = generator.normal(0.0, 0.5, agents)
    matches = simulate(generator, strengths, topics, runs, shared)
    truth = BASE + population_ratings(strengths)
    figures: list[float] = []
    for found in map(bradley_terry_intervals, (matches, by_cell(matches))):
        assert found.low is not None
        assert found.high is not None
        figures += [float(((found.low <= truth) & (truth <= found.high)).mean())]
        figures += [float((found.high - found.low).mean())]
    return tuple(figures)
