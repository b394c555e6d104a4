"""Means over samples and paired differences: formulas worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ideagora.evaluators.statistics.scores.paired_tests import (
    detectable_difference,
    holm,
    paired_test,
)
from ideagora.evaluators.statistics.scores.sample_means import (
    ALL_EQUAL,
    NO_SCORE,
    ONE_SAMPLE,
    mean_over_samples,
)


def test_without_bounds_the_interval_is_student_s() -> None:
    found = mean_over_samples(np.array([1.0, 2.0, 3.0]))
    # sd 1, error 1/√3 = 0.57735, t(0.975, 2) = 4.30265
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2 - 2.48414, 2 + 2.48414), abs=1e-4)
    cut = mean_over_samples(np.array([1.0, 2.0, 3.0]), lowest=0.0)
    assert (cut.low, cut.high) == pytest.approx((0.0, 2 + 2.48414), abs=1e-4)


def test_on_a_scale_the_interval_is_wilson_s_and_stays_inside() -> None:
    found = mean_over_samples(np.array([1.0, 1.0, 1.0, 0.0]), 0.0, 1.0)
    # p = 0.75, variance of the mean 0.25/4 = 0.0625, so 0.1875/0.0625 = 3 trials; t(0.975, 3)² = 10.12796
    # centre 0.75 + 10.12796/6 = 2.437993, half 3.182446 √(0.0625 + 0.281332) = 1.866084, scale 4.375987
    assert (found.low, found.high) == pytest.approx((0.130688, 0.983564), abs=1e-4)
    assert found.value == 0.75
    ratings = mean_over_samples(np.array([4.0, 4.0, 4.0, 1.0]), 1.0, 4.0)
    assert (ratings.low, ratings.high) == pytest.approx((1 + 3 * 0.130688, 1 + 3 * 0.983564), abs=1e-3)
    best = mean_over_samples(np.ones(4), 0.0, 1.0)  # 4 trials, variance 0: low = 4 / (4 + t²)
    assert (best.low, best.high) == pytest.approx((4 / 14.12796, 1.0), abs=1e-5)


def test_what_has_no_mean_or_no_interval_says_why() -> None:
    for scores, value, reason in (
        ([], None, NO_SCORE),
        ([2.5], 2.5, ONE_SAMPLE),
        ([2, 2, 2], 2.0, ALL_EQUAL),
    ):
        found = mean_over_samples(np.array(scores, dtype=float))
        assert (found.value, found.low, found.high, found.reason) == (value, None, None, reason)


def test_few_differences_are_tested_by_flipping_their_signs() -> None:
    found = paired_test(np.array([1.0, 2.0, 3.0, 4.0, 5.0, -1.0]))
    # Sums with |sum| >= 14: flip nothing or {-1} (14, 16), flip {1} or {1, -1} (12, 14), and their negatives.
    # 16: {-1}; 14: nothing, {1, -1}; so 3 of 64, twice.
    assert found.test == "sign-flip"
    assert found.p == pytest.approx(6 / 64)
    assert (found.n, found.difference) == pytest.approx((6, 14 / 6))
    # 6 samples: 64 × 0.025 = 1.6, so the interval leaves out nothing but beyond the outermost of 63 means.
    assert (found.low, found.high) == (-1.0, 5.0)


def test_interval_and_exact_test_agree() -> None:
    generator = np.random.default_rng(0)
    for shift in (0.0, 0.4, 0.8, 1.2):
        for n in (6, 9, 12, 13, 20):
            values = generator.normal(shift, 1.0, n)
            found = paired_test(values)
            assert found.low is not None
            assert found.high is not None
            assert found.p is not None
            assert (found.low <= 0 <= found.high) == (found.p > 0.05), (shift, n)
            inside, outside = paired_test(values - found.low - 1e-6), paired_test(values - found.low + 1e-6)
            assert (inside.p or 0) > 0.05 >= (outside.p or 1)


def test_many_differences_are_tested_by_student_s_t() -> None:
    found = paired_test(np.arange(-3.0, 17.0))  # mean 6.5, sd √35, n 20: t = 6.5 / (5.91608 / √20) = 4.91354
    assert found.test == "t"
    assert found.p == pytest.approx(9.6e-5, rel=0.01)
    assert (found.low, found.high) == pytest.approx((6.5 - 2.76879, 6.5 + 2.76879), abs=1e-4)


def test_differences_without_variance_or_samples_say_why() -> None:
    none, one, same = paired_test(np.array([])), paired_test(np.array([0.5])), paired_test(np.full(30, 0.5))
    assert (none.difference, none.p, none.reason) == (None, None, "The two have no scored sample in common.")
    assert (one.difference, one.p) == (0.5, None)
    assert same.p == pytest.approx(2.0**-29)
    assert same.low is None
    equal = paired_test(np.zeros(30))
    assert (equal.difference, equal.p) == (0.0, 1.0)
    few = paired_test(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (few.p, few.low) == (2 / 32, None)
    assert few.reason == "5 common samples are too few for an interval at 95%."


def test_holm_multiplies_the_smallest_p_value_by_their_number() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == [
        pytest.approx(0.03),
        pytest.approx(0.06),
        None,
        pytest.approx(0.06),
    ]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_detectable_difference_is_that_of_a_paired_sample() -> None:
    # t(0.975, 24) = 2.06390, t(0.8, 24) = 0.85686; (2.92076) × 0.5 / 5
    assert detectable_difference(0.5, 25) == pytest.approx(0.292076, abs=1e-5)
    for deviation, n in ((0.0, 25), (None, 25), (0.5, 5), (0.5, 0)):
        assert detectable_difference(deviation, n) is None
