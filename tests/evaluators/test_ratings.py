"""Ratings: hand-worked cases, evalica as the second opinion, and what must hold for any verdicts."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from evalica import Winner
from evalica import bradley_terry as evalica_bradley_terry
from hypothesis import given, settings

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.ratings.connectivity import components, missing_pairs, tiers
from ideagora.evaluators.statistics.ratings.matches import ablation_points, settle_match
from ideagora.evaluators.statistics.ratings.ratings import bradley_terry, combine, elo, win_matrix
from tests.support.arena_verdicts import both_orders, tournaments, verdicts
from tests.support.each import each_case

quick = settings(max_examples=40, deadline=None)


def gap(comparisons: Comparisons) -> float:
    """Points between the two agents."""
    scores = bradley_terry(comparisons).scores
    return float(scores[0] - scores[1])


def test_ten_wins_to_one_are_400_points() -> None:
    won = verdicts([("a", "b", 1.0, "t")] * 10 + [("a", "b", 0.0, "t")])
    assert bradley_terry(won).scores == pytest.approx([1200, 800])


def test_half_wins_by_hand() -> None:
    # 2 wins, 2 ties: 3 of 4, odds 3 to 1
    tied = verdicts([("a", "b", 1.0, "t")] * 2 + [("b", "a", 0.5, "t")] * 2)
    assert gap(tied) == pytest.approx(400 * np.log10(3))


def test_elo_by_hand() -> None:
    one = elo(verdicts([("a", "b", 1.0, "t")]), k=32)
    assert one.scores == pytest.approx([1016, 984])
    two = elo(verdicts([("a", "b", 1.0, "t0"), ("b", "a", 0.5, "t1")]), k=32)
    expected = 1 / (1 + 10 ** (-32 / 400))
    first_won, first_tied = 1016 + 32 * (0.5 - expected), 1016
    assert two.scores[0] == pytest.approx((first_won + first_tied) / 2), "the mean over orders"


@quick
@given(tournaments())
def test_bradley_terry_is_evalicas(played: Comparisons) -> None:
    winners = [(Winner.Y, Winner.Draw, Winner.X)[int(2 * outcome)] for outcome in played.outcome]
    theirs = evalica_bradley_terry(played.first, played.second, winners, tolerance=1e-12, limit=10_000)
    logs = np.log(theirs.scores.loc[list(range(4))].to_numpy())
    assert bradley_terry(played).scores == pytest.approx(
        1000 + 400 / np.log(10) * (logs - logs.mean()), abs=1e-3
    )


@quick
@given(tournaments())
def test_new_positions_move_ratings_along(played: Comparisons) -> None:
    order = np.array([2, 0, 3, 1])
    moved = replace(
        played,
        agents=tuple(played.agents[old] for old in order),
        first=np.argsort(order)[played.first],
        second=np.argsort(order)[played.second],
    )
    for rate in (bradley_terry, elo):
        assert rate(moved).scores == pytest.approx(rate(played).scores[order])


@quick
@given(tournaments())
def test_reversed_verdicts_reverse_ratings(played: Comparisons) -> None:
    turned = replace(played, outcome=1 - played.outcome)
    for rate in (bradley_terry, elo):
        assert rate(turned).scores - 1000 == pytest.approx(1000 - rate(played).scores)


@quick
@given(tournaments())
def test_verdicts_counted_twice_change_nothing(played: Comparisons) -> None:
    twice = played.rows(np.tile(np.arange(len(played)), 2))
    assert bradley_terry(twice).scores == pytest.approx(bradley_terry(played).scores)


@quick
@given(tournaments())
def test_ties_between_all_move_all_together(played: Comparisons) -> None:
    ties = replace(played, outcome=np.full(len(played), 0.5))
    more = verdicts([], agents=played.agents)
    columns = ("first", "second", "outcome", "topic", "judge", "match", "length")
    both: dict[str, Any] = {
        name: np.concatenate([getattr(played, name), getattr(ties, name)]) for name in columns
    }
    before = bradley_terry(played).scores
    after = bradley_terry(replace(more, topics=played.topics, judges=played.judges, **both)).scores
    assert np.ptp(after) <= np.ptp(before) + 1e-6


@quick
@given(tournaments())
def test_the_order_of_rows_does_not_matter(played: Comparisons) -> None:
    shuffled = played.rows(np.random.default_rng(0).permutation(len(played)))
    for rate in (bradley_terry, elo):
        assert rate(shuffled).scores == pytest.approx(rate(played).scores)


def test_a_tie_added_moves_two_agents_together() -> None:
    rows = [("a", "b", 1.0, "t")] * 8 + [("a", "b", 0.0, "t")] * 2
    assert 0 < gap(verdicts([*rows, ("a", "b", 0.5, "t")])) < gap(verdicts(rows))


def test_swapped_twins_rate_the_same_settled_or_not() -> None:
    played = both_orders([("a", "b", 1.0, 0.0), ("b", "c", 1.0, 1.0), ("a", "c", 0.0, 0.0)])
    assert bradley_terry(settle_match(played)).scores == pytest.approx(bradley_terry(played).scores)


def test_an_agent_that_wins_everything_is_named_unbounded_and_stays_finite() -> None:
    rated = bradley_terry(both_orders([("a", "b", 1.0, 0.0), ("b", "c", 1.0, 1.0), ("a", "c", 1.0, 0.0)]))
    assert rated.unbounded == ("a",)
    assert rated.prior == 1.0
    assert rated.ranking[0] == "a"
    assert np.isfinite(rated.scores).all()
    with pytest.raises(RatingError, match="infinite"):
        bradley_terry(both_orders([("a", "b", 1.0, 0.0)]), prior=0.0)


def test_more_wins_put_an_undefeated_agent_further_up() -> None:
    few, many = (both_orders([("a", "b", 1.0, 0.0)], topics) for topics in (2, 20))
    assert gap(few) < gap(many)


def test_a_chain_of_wins_has_a_tier_for_each() -> None:
    chain = verdicts([("a", "b", 1.0, "t"), ("b", "c", 1.0, "t")])
    assert len(tiers(chain)) == 3
    assert bradley_terry(chain).ranking == ("a", "b", "c")


def test_verdicts_that_fall_apart_name_the_pairs() -> None:
    apart = verdicts(
        [("a", "b", 1.0, "t"), ("b", "a", 1.0, "t"), ("b", "e", 0.0, "t"), ("c", "d", 1.0, "t")],
        agents=("a", "b", "c", "d", "e", "f"),
    )
    assert components(apart) == (("a", "b", "e"), ("c", "d"), ("f",))
    assert missing_pairs(apart) == (("b", "c"), ("b", "f"))
    with pytest.raises(RatingError, match="b and c; b and f") as raised:
        bradley_terry(apart)
    assert raised.value.missing == (("b", "c"), ("b", "f"))


@each_case("rate", [bradley_terry, elo])
def test_too_little_to_rate_says_what_is_missing(rate: type) -> None:
    with pytest.raises(RatingError, match="two agents"):
        rate(verdicts([], agents=("a",)))
    with pytest.raises(RatingError, match="No verdict is scored"):
        rate(verdicts([], agents=("a", "b")))


def test_an_agent_against_itself_counts_for_nothing() -> None:
    rows = [("a", "b", 1.0, "t"), ("b", "a", 1.0, "t"), ("a", "b", 1.0, "t")]
    assert bradley_terry(verdicts([*rows, ("a", "a", 1.0, "t")])).scores == pytest.approx(
        bradley_terry(verdicts(rows)).scores
    )


@each_case("outcome", [1.0, 0.0, 0.5])
def test_a_judge_that_always_says_the_same_rates_all_alike(outcome: float) -> None:
    same = both_orders([("a", "b", outcome, outcome), ("b", "c", outcome, outcome)])
    assert bradley_terry(same).scores == pytest.approx([1000] * 3)


def test_win_matrix_has_nan_where_two_never_met() -> None:
    shares = win_matrix(verdicts([("a", "b", 1.0, "t"), ("b", "a", 0.5, "t"), ("b", "c", 0.0, "t")]))
    assert shares[0, 1] == 0.75
    assert shares[1, 0] == 0.25
    assert np.isnan(shares[0, 2])


def test_the_average_counts_each_criterion_the_same() -> None:
    one = bradley_terry(verdicts([("a", "b", 1.0, "t")] * 10 + [("a", "b", 0.0, "t")]))
    other = bradley_terry(verdicts([("a", "b", 0.5, "t")]))
    assert combine([one, other]).scores == pytest.approx([1100, 900])
    with pytest.raises(RatingError, match="averaged"):
        combine([one, elo(verdicts([("a", "b", 0.5, "t")]))])


def test_a_match_counts_the_mean_of_its_two_orders() -> None:
    played = both_orders([("a", "b", 1.0, 1.0), ("a", "c", 1.0, 0.0), ("b", "c", 1.0, 0.5)], topics=1)
    assert settle_match(played).outcome.tolist() == [0.5, 1.0, 0.75]


def test_elo_does_not_depend_on_the_order_of_the_topics() -> None:
    rows = [
        (one, other, float(number % 4 > 1), topic)
        for number, (topic, (one, other)) in enumerate(product(["t", "u", "v"], permutations("abc", 2)))
    ]
    forward, backward = (elo(verdicts(ordered)) for ordered in (rows, rows[::-1]))
    for agent in "abc":
        assert forward[agent] == pytest.approx(backward[agent], abs=1e-9)


def test_ablation_points_are_the_papers() -> None:
    played = both_orders([("full", "part", 1.0, 0.0), ("other", "full", 1.0, 1.0)], topics=50)
    assert [(each.agent, each.points, each.matches) for each in ablation_points(played, "full")] == [
        ("part", 0.0, 50),
        ("other", 50.0, 50),
    ]
