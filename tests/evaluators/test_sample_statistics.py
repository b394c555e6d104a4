"""Percentiles over samples and means of several figures: values, intervals, tests."""

from __future__ import annotations

import numpy as np
import pytest

from ideagora.evaluators.statistics.scores.judge_effects import judge_effects
from ideagora.evaluators.statistics.scores.sample_statistics import (
    compare_statistic,
    figure_over_samples,
    statistic_of,
)

NAN = float("nan")


def test_a_figure_is_the_mean_of_each_columns_statistic_without_missing_scores() -> None:
    scores = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, NAN], [4.0, 9.0]])
    # mean 2.5; 30th percentile of 4, 5, 9 at place 0.6: 4 + 0.6 * 1
    assert float(statistic_of(scores, ("mean", "p30"))) == pytest.approx((2.5 + 4.6) / 2)
    many = np.random.default_rng(1).normal(size=(3, 17))
    assert statistic_of(many[..., None], ("p30",)) == pytest.approx(np.percentile(many, 30, axis=1))
    assert np.isnan(statistic_of(np.array([[1.0, NAN]]), ("mean", "p30")))


def test_an_interval_contains_the_percentile_and_respects_the_scale() -> None:
    scores = np.array([1, 1, 1, 7, 8, 8, 9, 9, 10, 10], dtype=float)[:, None]
    figure = figure_over_samples(scores, ("p30",), 1, 10)
    assert figure.value is not None
    assert figure.low is not None
    assert figure.high is not None
    assert 1 <= figure.low <= figure.value <= figure.high <= 10
    assert figure_over_samples(np.array([[3.0]]), ("p30",)).low is None
    assert figure_over_samples(np.array([[3.0], [3.0]]), ("p30",)).low is None
    assert figure_over_samples(np.empty((0, 1)), ("p30",)).value is None


def test_agents_are_compared_by_exchange_or_by_bootstrap() -> None:
    low = np.linspace(3, 5, 8)[:, None]
    few = compare_statistic(low + 2, low, ("p30",))
    assert few.difference == pytest.approx(2)
    assert few.p is not None
    assert few.p < 0.05
    assert few.low is None
    assert compare_statistic(low, low, ("p30",)).p == 1
    noise = np.random.default_rng(0).normal(size=(40, 1))
    own, other = 5 + noise, 5 + noise[::-1]
    many = compare_statistic(own, other, ("p30",))
    assert many.p is not None
    assert many.p > 0.5
    assert many.low is not None
    assert many.low < 0
    clear = compare_statistic(own + 3, other, ("p30",))
    assert clear.p is not None
    assert clear.p < 0.001


def test_judge_effects_are_those_of_the_additive_model() -> None:
    quality, effects = np.array([2.0, 5.0, 9.0]), np.array([1.0, -1.0, 0.0])
    subjects, judges = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 0, 2])
    assert judge_effects(quality[subjects] + effects[judges], subjects, judges) == pytest.approx(effects)
    alone = judge_effects(np.array([3.0, 8.0]), np.array([0, 1]), np.array([0, 1]))
    assert alone == pytest.approx([0, 0]), "without common subjects nothing is known about judges"
