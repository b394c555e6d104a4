"""The audit of judges, agreement between raters, and ratings with the biases taken out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import kendalltau

from bench.tournaments import Judge, tournament
from ideagora.errors import RatingError
from ideagora.evaluators.statistics.agreement.audit import (
    audit,
    first_slot_rate,
    flip_rate,
    intransitive,
    own_family,
)
from ideagora.evaluators.statistics.agreement.coefficients import (
    cohen_kappa,
    compare_labels,
    compare_ratings,
    compare_scores,
    kendall,
    krippendorff_alpha,
    pearson,
    percent,
    spearman,
)
from ideagora.evaluators.statistics.agreement.icc import icc
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.ratings.bias_aware import bias_aware
from ideagora.evaluators.statistics.ratings.ratings import bradley_terry
from ideagora.evaluators.statistics.ratings.slot_preference import slot_preference
from tests.support.arena_verdicts import both_orders, verdicts
from tests.support.each import each_case

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


@each_case(
    "kind, value, low, high",
    [
        ("1,1", 0.17, -0.13, 0.72),
        ("2,1", 0.29, 0.02, 0.76),
        ("3,1", 0.71, 0.34, 0.95),
        ("1,k", 0.44, -0.88, 0.91),
        ("2,k", 0.62, 0.07, 0.93),
        ("3,k", 0.91, 0.68, 0.99),
    ],
)
def test_intraclass_correlations_are_the_published_ones(
    kind: str, value: float, low: float, high: float
) -> None:
    found = icc(SHROUT_FLEISS, kind)  # type: ignore[arg-type]
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=0.006)
    assert found.n == 6


def test_an_intraclass_correlation_leaves_out_what_not_all_rated() -> None:
    gappy = np.vstack([SHROUT_FLEISS, [1, np.nan, 2, 3]])
    assert icc(gappy) == icc(SHROUT_FLEISS)
    assert icc(np.ones((5, 3))).value is None
    assert "same" in (icc(np.ones((5, 3))).reason or "")
    assert "two raters" in (icc(np.ones((5, 1))).reason or "")


def test_intervals_of_intraclass_correlations_are_over_topics() -> None:
    # on each of 12 topics, five ideas of the same quality: 60 ideas say no more than 12
    generator = np.random.default_rng(1)
    quality = np.repeat(generator.normal(size=12), 5)
    table = quality[:, None] + 0.5 * np.repeat(generator.normal(size=(12, 3)), 5, axis=0)
    topics = np.repeat(np.arange(12), 5)
    for kind in ("1,1", "1,k", "2,1", "2,k", "3,1", "3,k"):
        over_topics, over_ideas = icc(table, kind, topics), icc(table, kind)
        assert over_topics.value == over_ideas.value
        low, high = over_topics.low, over_topics.high
        assert low is not None
        assert high is not None
        assert low < (over_topics.value or 0.0) < high
        assert over_ideas.low is not None
        assert low < over_ideas.low
        assert icc(table, kind, np.arange(60)) == over_ideas


def test_the_slot_preference_by_hand_and_with_ideas_that_differ() -> None:
    # 30 matches go to the first slot twice, 10 to the second; half a reversal is added to each: half the log
    # odds of 30.5 to 10.5
    outcomes = [(1.0, 1.0)] * 30 + [(0.0, 0.0)] * 10 + [(1.0, 0.0)] * 7
    columns = np.array(outcomes).T.reshape(-1)
    played = tournament(np.random.default_rng(0), np.zeros(2), len(outcomes))
    found = slot_preference(replace(played, outcome=columns))
    assert found.value == pytest.approx(0.5 * np.log(30.5 / 10.5))
    assert found.n == 47
    biased = tournament(np.random.default_rng(2), np.linspace(-1, 1, 6), 100, judges=(Judge(position=0.8),))
    (judge,) = bias_aware(biased).judges
    assert judge.position.low is not None
    assert judge.position.high is not None
    assert judge.position.low < 0.8 < judge.position.high
    assert judge.position.value == pytest.approx(0.8, abs=0.08)


def test_kappa_by_hand() -> None:
    # both say yes 20, both no 15, one each way 5 and 10: observed 0.7, by chance 0.5
    one = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 5, 10, 15])
    other = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 10, 15])
    assert percent(one, other).value == pytest.approx(0.7)
    found = cohen_kappa(one, other)
    assert found.value == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert 0.05 < found.low < 0.4 < found.high < 0.75
    ordered = np.array([0, 1, 2, 2, 1, 0.0])
    assert cohen_kappa(ordered, ordered[::-1].copy(), weights="quadratic").value == pytest.approx(1.0)


def test_a_constant_rater_has_no_correlation_and_says_so() -> None:
    constant, other = np.ones(6), np.arange(6.0)
    for figure in (pearson, spearman, kendall):
        found = figure(constant, other)
        assert found.value is None
        assert "same value" in (found.reason or "")
    assert cohen_kappa(constant, constant).value is None
    assert krippendorff_alpha(np.ones((4, 2))).value is None
    nothing = np.full(3, np.nan)
    assert all(each.value is None for each in compare_scores(nothing, nothing).values())
    assert all(each.value is None for each in compare_labels(nothing, nothing).values())


def test_correlations_hold_to_their_interval_and_perfect_ones_have_none() -> None:
    generator = np.random.default_rng(0)
    one = generator.normal(size=200)
    other = 0.6 * one + 0.8 * generator.normal(size=200)
    found = pearson(one, other, clusters=np.arange(200) // 10)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.6 < found.high
    assert found.n == 200
    assert "perfect" in (pearson(one, 2 * one).reason or "")


def test_alpha_takes_gaps_and_every_rater_alike() -> None:
    table = np.array([[1, 1, np.nan], [2, 2, 2], [3, np.nan, 3], [np.nan, 1, 2], [2, 2, np.nan], [1, 1, 1]])
    found = krippendorff_alpha(table)
    assert found.value is not None
    assert 0.5 < found.value < 1
    assert krippendorff_alpha(table[:, ::-1]).value == pytest.approx(found.value)
    clustered = krippendorff_alpha(table, clusters=np.array([0, 0, 0, 1, 1, 2]))
    assert clustered.value == found.value
    assert clustered.low != found.low, "units of one topic are no independent evidence"


def test_ratings_of_two_judges_are_compared_over_shared_agents() -> None:
    generator = np.random.default_rng(1)
    strengths = generator.normal(0, 1, 6)
    one, other = (bradley_terry(tournament(generator, strengths, 20)) for _ in range(2))
    found = compare_ratings(one, other)
    assert found["spearman"].n == 6
    assert found["pearson"].value is not None
    assert found["pearson"].value > 0.7


def test_flips_and_first_slot_by_hand() -> None:
    played = both_orders([("a", "b", 1.0, 1.0), ("a", "c", 1.0, 0.0), ("b", "c", 1.0, 0.5)], topics=4)
    assert flip_rate(played).value == pytest.approx(2 / 3)
    assert flip_rate(played).n == 12
    assert first_slot_rate(played).value == pytest.approx(4.5 / 6)
    always = first_slot_rate(both_orders([("a", "b", 1.0, 1.0)], topics=20))
    assert (always.value, always.high) == (1.0, 1.0)
    assert always.low is not None
    assert 0.8 < always.low < 0.9
    single = verdicts([("a", "b", 1.0, "t0"), ("a", "b", 1.0, "t1")])
    assert "both orders" in (flip_rate(single).reason or "")


def test_circles_are_counted_of_the_decided_triples() -> None:
    circle = both_orders([("a", "b", 1.0, 0.0), ("b", "c", 1.0, 0.0), ("c", "a", 1.0, 0.0)])
    assert (intransitive(circle).value, intransitive(circle).n) == (1.0, 1)
    line = both_orders([("a", "b", 1.0, 0.0), ("b", "c", 1.0, 0.0), ("a", "c", 1.0, 0.0)])
    assert intransitive(line).value == 0.0
    assert intransitive(both_orders([("a", "b", 0.5, 0.5)])).value is None


def test_a_preference_for_the_own_family_shows() -> None:
    generator = np.random.default_rng(2)
    played = tournament(generator, np.zeros(4), 60, judges=(Judge(), Judge()))
    mine = {"agent 00": "x", "agent 01": "x", "agent 02": "y", "agent 03": "y"}
    own = played.judge == 0
    first_mine, second_mine = played.first < 2, played.second < 2
    favoured = np.where(first_mine, 1.0, 0.0)
    partial = replace(
        played,
        outcome=np.where(
            own & (first_mine != second_mine) & (generator.random(len(played)) < 0.6),
            favoured,
            played.outcome,
        ),
    )
    found = own_family(partial, {"judge 0": "x", "judge 1": "z"}, mine)
    assert found.low is not None
    assert found.low > 0.1
    fair = own_family(played, {"judge 0": "x", "judge 1": "z"}, mine)
    assert fair.low is not None
    assert fair.high is not None
    assert fair.low < 0 < fair.high
    assert "family" in (own_family(played, {}, {}).reason or "")


def test_the_whole_audit_of_two_judges_and_of_nothing() -> None:
    generator = np.random.default_rng(3)
    one = tournament(generator, generator.normal(0, 1, 4), 10)
    second = replace(one, judge=one.judge + 1, match=one.match + len(one))
    columns = ("first", "second", "outcome", "topic", "judge", "match", "length")
    both = replace(
        one,
        judges=("judge 0", "judge 1"),
        **cast(Any, {name: np.concatenate([getattr(one, name), getattr(second, name)]) for name in columns}),
    )
    found = audit(both)
    assert found.judge_pairs[0].percent.value == 1.0
    assert found.krippendorff_alpha.value == pytest.approx(1.0)
    empty = audit(verdicts([], agents=("a", "b")))
    assert empty.flip_rate.value is None
    assert empty.length_correlation.value is None
    assert "two judges" in (empty.krippendorff_alpha.reason or "")


def _tau(played: Comparisons, strengths: np.ndarray) -> tuple[float, float]:
    scores = (bradley_terry(played).scores, bias_aware(played).ratings.scores)
    return tuple(float(kendalltau(each, strengths).statistic) for each in scores)  # type: ignore[return-value]


def test_the_true_order_comes_back_from_a_judge_that_likes_long_and_first() -> None:
    generator = np.random.default_rng(4)
    strengths = generator.normal(0, 0.5, 12)
    lengths = -1.5 * strengths + generator.normal(0, 0.3, 12)
    biased = (Judge(position=1.0, length=1.5),)
    played = tournament(generator, strengths, 50, judges=biased, lengths=lengths)
    plain, aware = _tau(played, strengths)
    assert plain < 0.0
    assert aware > 0.6
    judge = bias_aware(played).judges[0]
    assert judge.length.low is not None
    assert judge.length.low > 0


def test_from_an_unbiased_judge_nothing_is_taken_out() -> None:
    generator = np.random.default_rng(5)
    played = tournament(generator, generator.normal(0, 0.5, 6), 30, lengths=np.linspace(0, 1, 6))
    found = bias_aware(played)
    assert found.ratings.scores == pytest.approx(bradley_terry(played).scores, abs=2.0)
    assert found.intervals.low is not None


def test_a_judge_that_throws_coins_counts_for_little() -> None:
    generator = np.random.default_rng(6)
    judges = (Judge(), Judge(discrimination=0.0))
    played = tournament(generator, np.array([-1.0, 0.0, 1.0, 0.5]), 60, judges=judges)
    found = {judge.judge: judge.discrimination for judge in bias_aware(played).judges}
    assert found["judge 0"] > 2 * found["judge 1"]


def test_an_unknown_length_cannot_be_taken_out() -> None:
    played = both_orders([("a", "b", 1.0, 0.5)])
    with pytest.raises(RatingError, match="length is unknown"):
        bias_aware(replace(played, length=np.full(len(played), np.nan)))
    equal = bias_aware(played).judges[0].length
    assert equal.value is None


def test_an_interval_of_agreement_stays_where_agreement_can_be() -> None:
    one, other = np.array([1.0, 0.0, 1.0, 0.0, 0.5]), np.array([0.0, 1.0, 1.0, 0.0, 0.0])
    figures = compare_labels(one, other, np.array([0, 0, 1, 1, 1]))
    for name in ("cohen_kappa", "krippendorff_alpha"):
        low, high = figures[name].low, figures[name].high
        assert low is not None
        assert high is not None
        assert -1.0 <= low < high <= 1.0


def test_what_no_topic_changes_has_no_interval_of_no_width() -> None:
    one, other = np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    figure = compare_labels(one, other, np.array([0, 0, 1, 1]))["percent"]
    assert (figure.value, figure.low, figure.high) == (0.5, None, None)
    assert figure.reason is not None
