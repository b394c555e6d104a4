"""Intervals over topics: what they say, what they refuse to say, and that they hold the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import t

from bench.tournaments import population_ratings, tournament
from ideagora.errors import RatingError
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals, resample_ratings
from ideagora.evaluators.statistics.intervals.clustered import Intervals, combine_intervals
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from ideagora.evaluators.statistics.intervals.ranks import (
    draws,
    joint_rank_intervals,
    rank_intervals,
    superiority,
)
from ideagora.evaluators.statistics.ratings.ratings import POINTS
from tests.support.arena_verdicts import both_orders, tournaments
from tests.support.each import each_case


def simulated(topics: int, seed: int = 0) -> tuple[Comparisons, np.ndarray]:
    generator = np.random.default_rng(seed)
    strengths = generator.normal(0.0, 0.5, 6)
    return tournament(generator, strengths, topics), strengths


def test_nineteen_of_twenty_intervals_hold_the_truth_even_with_few_topics() -> None:
    held = []
    for seed in range(150):
        played, strengths = simulated(4, seed)
        found = bradley_terry_intervals(played)
        truth = 1000 + population_ratings(strengths)
        assert found.low is not None
        assert found.high is not None
        held.append(((found.low <= truth) & (truth <= found.high)).mean())
    assert 0.92 < np.mean(held) < 0.98


def test_with_many_topics_the_plain_bootstrap_says_the_same() -> None:
    played, _ = simulated(60)
    found = bradley_terry_intervals(played)
    assert found.low is not None
    assert found.high is not None
    error = (found.high - found.low) / 2 / t.ppf(0.975, 59)
    assert error == pytest.approx(POINTS * resample_ratings(played).std(axis=0), rel=0.12)


def test_draws_are_spread_as_the_intervals_are() -> None:
    found = bradley_terry_intervals(simulated(40)[0])
    assert found.covariance is not None
    many = draws(found, 20_000, seed=1)
    assert many.std(axis=0) == pytest.approx(np.sqrt(np.diag(found.covariance) * 39 / 37), rel=0.05)
    above = (many[:, :, None] > many[:, None, :]).mean(axis=0)
    off = ~np.eye(6, dtype=bool)
    assert np.abs(above - superiority(found))[off].max() < 0.02
    assert np.array_equal(draws(found, 5, seed=3), draws(found, 5, seed=3))


@settings(max_examples=20, deadline=None)
@given(tournaments())
def test_chances_of_a_pair_sum_to_one_and_ranks_fit_in(played: Comparisons) -> None:
    found = bradley_terry_intervals(played)
    if found.reason:
        with pytest.raises(RatingError):
            superiority(found)
        return
    chance = superiority(found)
    assert chance + chance.T == pytest.approx(1.0)
    ranks = rank_intervals(found)
    assert (ranks[:, 0] <= ranks[:, 1]).all()
    assert ranks.min() == 1
    assert ranks.max() == 4
    joint = joint_rank_intervals(found)
    assert (joint[:, 0] <= ranks[:, 0]).all()
    assert (joint[:, 1] >= ranks[:, 1]).all()


def test_all_ranks_hold_together_in_nineteen_of_twenty_tournaments() -> None:
    held: dict[str, list[bool]] = {"single": [], "joint": []}
    for seed in range(60):
        played, strengths = simulated(12, seed)
        truth = 1 + (strengths > strengths[:, None]).sum(axis=1)
        found = bradley_terry_intervals(played)
        for name, ranges in (("single", rank_intervals(found)), ("joint", joint_rank_intervals(found))):
            held[name].append(bool(((ranges[:, 0] <= truth) & (truth <= ranges[:, 1])).all()))
    assert np.mean(held["joint"]) >= 0.95
    assert np.mean(held["single"]) < np.mean(held["joint"])


def test_one_topic_has_ratings_and_says_why_there_is_no_interval() -> None:
    found = bradley_terry_intervals(both_orders([("a", "b", 1.0, 1.0), ("b", "a", 1.0, 0.0)], topics=1))
    assert found.low is None
    assert found.covariance is None
    assert "two topics" in (found.reason or "")


def test_nothing_but_ties_has_no_interval() -> None:
    found = bradley_terry_intervals(both_orders([("a", "b", 0.5, 0.5)]))
    assert found.low is None
    assert "differ" in (found.reason or "")


def test_a_judge_that_always_says_first_separates_nobody() -> None:
    found = bradley_terry_intervals(both_orders([("a", "b", 1.0, 1.0)], topics=10))
    assert found.low is not None
    assert found.high is not None
    assert (found.low < 950).all()
    assert (found.high > 1050).all()


def test_three_topics_all_won_do_not_prove_an_agent_better() -> None:
    few = bradley_terry_intervals(both_orders([("a", "b", 1.0, 0.0)], topics=3))
    many = bradley_terry_intervals(both_orders([("a", "b", 1.0, 0.0)], topics=40))
    assert rank_intervals(few).tolist() == [[1, 2], [1, 2]]
    assert rank_intervals(many).tolist() == [[1, 1], [2, 2]]


def test_criteria_that_agree_make_the_average_no_surer() -> None:
    one = bradley_terry_intervals(simulated(10)[0])
    average = combine_intervals([one, one])
    assert one.low is not None
    assert average.low == pytest.approx(one.low)
    other = bradley_terry_intervals(simulated(10, seed=1)[0])
    independent = combine_intervals([one, other])
    assert np.mean(np.diag(independent.covariance)) < np.mean(np.diag(one.covariance))  # type: ignore[arg-type]


def test_elo_has_intervals_too() -> None:
    played, _ = simulated(30)
    found = elo_intervals(played, k=4.0)
    assert found.low is not None
    assert found.high is not None
    assert (found.low < found.scores).all()
    assert (found.high - found.low).mean() < 400


@each_case("rate", [bradley_terry_intervals, elo_intervals])
def test_verdicts_on_one_topic_are_not_independent(rate: Callable[[Comparisons], Intervals]) -> None:
    """The same verdicts dealt out to topics at random hide that those on one topic agree."""
    played, _ = simulated(30)
    dealt = np.random.default_rng(0).permutation(played.topic)
    found, independent = rate(played), rate(replace(played, topic=dealt))
    assert (found.high - found.low).mean() > 1.25 * (independent.high - independent.low).mean()  # type: ignore[operator]
