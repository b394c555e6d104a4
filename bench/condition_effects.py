"""Tests of a condition's effect on scores: how often they find a difference where there is none, and widths.

Two ideas on each topic, one of each condition. Topics, ideas, reviewers and errors are N(0, 1); each idea is
reviewed by some of the reviewers, drawn at random, in half of the rows mostly by those of its condition.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from ideagora.evaluators.statistics.scores.condition_effects import (
    Effect,
    ReviewColumns,
    linear_effect,
    welch_effect,
)
from ideagora.evaluators.statistics.scores.mixed_model import mixed_effect

STUDIES = 200
TESTS: dict[str, Callable[[ReviewColumns, int, int], Effect]] = {
    "Welch": welch_effect, "linear": linear_effect, "mixed": mixed_effect,
}  # fmt: skip
KINDS = ((10, 6, 3, False), (20, 12, 2, False), (20, 12, 2, True))
"""Topics, reviewers, reviews of an idea, whether most reviewers see one condition."""


def main() -> None:
    """Print a row for each kind, and one JSON line."""
    print(f"{'topics, reviewers, reviews':34}" + "".join(f"{name:>10}{'width':>7}" for name in TESTS))
    figures = {}
    for topics, reviewers, each, divided in KINDS:
        name = f"{topics}, {reviewers}, {each}{', divided' if divided else ''}"
        random = np.random.default_rng([topics, reviewers, each, divided])
        rows = [_measured(simulate(random, topics, reviewers, each, divided)) for _ in range(STUDIES)]
        means = [float(mean) for mean in np.nanmean(rows, axis=0)]
        figures[name] = [round(mean, 3) for mean in means]
        cells = "".join(f"{means[at]:10.1%}{means[at + 1]:7.2f}" for at in range(0, len(means), 2))
        print(f"{name:34}{cells}", flush=True)
    print(json.dumps({"benchmark": "condition_effects", **figures}))


def simulate(
    random: np.random.Generator, topics: int, reviewers: int, each: int, divided: bool
) -> ReviewColumns:
    """The reviews of one study without a difference between the conditions."""
    topic, condition = np.divmod(np.arange(2 * topics), 2)
    side = np.arange(reviewers) % 2
    weights = [np.where(side == one, 5.0 if divided else 1.0, 1.0) for one in (0, 1)]
    chosen = [
        random.choice(reviewers, each, replace=False, p=weights[one] / weights[one].sum())
        for one in condition
    ]
    idea, reviewer = np.repeat(np.arange(2 * topics), each), np.concatenate(chosen)
    effects = (random.normal(size=number) for number in (topics, 2 * topics, reviewers))
    of_topic, of_idea, of_reviewer = effects
    score = of_topic[topic[idea]] + of_idea[idea] + of_reviewer[reviewer] + random.normal(size=len(idea))
    return ReviewColumns(score, condition[idea], idea, (reviewer, topic[idea]))


def _measured(reviews: ReviewColumns) -> list[float]:
    """Whether each test finds a difference at 5 %, and the width of its interval; nan where it has none."""
    row: list[float] = []
    for test in TESTS.values():
        found = test(reviews, 1, 0)
        if found.p is None or found.low is None or found.high is None:
            row += [np.nan, np.nan]
        else:
            row += [float(found.p < 0.05), found.high - found.low]
    return row
