"""The choice among branches: both orders have to agree, and a verdict that is missing counts for nobody."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ideagora.agents.arena.judges import CRITERIA
from ideagora.graphs.chain_of_ideas.choice import Score, rank_branches, score_duels
from ideagora.graphs.chain_of_ideas.records import Choice, Duel
from tests.support.each import each_case

SWAPPED: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}


def duel(first: int, second: int, *choices: Choice) -> Duel:
    """One duel; without choices it is unscored."""
    criteria = dict(zip(CRITERIA, choices, strict=False)) if choices else None
    return {
        "first": first,
        "second": second,
        "judge": "judge",
        "criteria": criteria,
        "overall": None,
        "reason": "said so",
    }


def pair(one: int, other: int, winner: int | None) -> list[Duel]:
    """Both orders of a pair, which agree on the winner (``None``: on a tie)."""

    def preferred(first: int) -> Choice:
        if winner is None:
            return "tie"
        return "first" if first == winner else "second"

    return [duel(first, second, preferred(first)) for first, second in ((one, other), (other, one))]


def record(scores: Sequence[Score], branch: int) -> tuple[int, int, int, int]:
    """(won, tied, lost, unscored) of one branch."""
    score_of_branch = next(score for score in scores if score.branch == branch)
    return score_of_branch.won, score_of_branch.tied, score_of_branch.lost, score_of_branch.unscored


# --- by hand ------------------------------------------------------------------------------------


def test_a_pair_is_won_when_both_orders_agree() -> None:
    scores = score_duels(pair(1, 2, winner=2), [1, 2])
    assert scores == [Score(1, lost=1), Score(2, won=1)]


@each_case(
    "there, back",
    [
        (["first"], ["first"]),  # the first slot wins, whoever is in it
        (["second"], ["second"]),
        (["first"], ["tie"]),
        (["tie"], ["first"]),
        (["tie"], ["tie"]),
        (["first", "second"], ["second", "first"]),  # one criterion each in both orders
        (["first", "second", "tie"], ["second", "first", "tie"]),
    ],
)
def test_a_preference_in_one_order_only_is_a_tie(there: list[Choice], back: list[Choice]) -> None:
    scores = score_duels([duel(1, 2, *there), duel(2, 1, *back)], [1, 2])
    assert scores == [Score(1, tied=1), Score(2, tied=1)]


def test_the_overall_preference_decides_between_equal_criteria() -> None:
    there: Duel = {**duel(1, 2, "first", "second"), "overall": "second"}
    back: Duel = {**duel(2, 1, "second", "first"), "overall": "first"}
    assert score_duels([there, back], [1, 2]) == [Score(1, lost=1), Score(2, won=1)]
    assert score_duels([there, {**back, "overall": "second"}], [1, 2])[0].tied == 1, "the orders disagree"


def test_the_majority_of_criteria_decides_an_order() -> None:
    there = duel(1, 2, "first", "first", "second", "tie", "tie")
    back = duel(2, 1, "second", "second", "second", "first", "first")
    assert score_duels([there, back], [1, 2]) == [Score(1, won=1), Score(2, lost=1)]


def test_three_branches_by_hand() -> None:
    """1 beats 2 and 3; of 2 and 3 each order prefers its first slot."""
    duels = [*pair(1, 2, 1), *pair(1, 3, 1), duel(2, 3, "first"), duel(3, 2, "first")]
    scores = score_duels(duels, [1, 2, 3])
    assert [record(scores, branch) for branch in (1, 2, 3)] == [(2, 0, 0, 0), (0, 1, 1, 0), (0, 1, 1, 0)]
    assert [score.rate for score in scores] == [1.0, 0.25, 0.25]
    assert [score.branch for score in rank_branches(scores, set())] == [1, 2, 3]
    assert [score.branch for score in rank_branches(scores, {1})] == [2, 3, 1]
    assert scores[1].summary == "0 won, 1 tied, 1 lost of 2"


THERE, BACK = duel(1, 2, "first"), duel(2, 1, "second")
NOT_THERE, NOT_BACK = duel(1, 2), duel(2, 1)


@each_case("duels", [[], [NOT_THERE], [THERE], [BACK], [THERE, NOT_BACK], [NOT_THERE, BACK]])
def test_a_pair_with_a_verdict_missing_has_no_verdict(duels: list[Duel]) -> None:
    scores = score_duels(duels, [1, 2])
    assert scores == [Score(1, unscored=1), Score(2, unscored=1)]
    assert [score.rate for score in scores] == [None, None]
    assert scores[0].summary == "0 won, 0 tied, 0 lost of 0, 1 without a verdict"


def test_a_branch_alone_has_no_rate() -> None:
    scores = score_duels([], [7])
    assert scores == [Score(7)]
    assert scores[0].rate is None
    assert rank_branches(scores, set()) == scores


def test_equals_are_ranked_by_summed_criteria_and_then_by_novelty() -> None:
    duels = [*pair(5, 2, None), *pair(5, 9, None), *pair(2, 9, None)]
    novelty = {2: (2, 0.1), 5: (0, 0.7), 9: (0, 0.6)}
    ranked = rank_branches(score_duels(duels, [5, 9, 2]), set(), novelty=novelty)
    assert [score.branch for score in ranked] == [9, 5, 2]
    for_two = duel(5, 2, "second")  # in one order only, so the pair stays tied
    ranked = rank_branches(score_duels([*duels, for_two], [5, 9, 2]), set(), novelty=novelty)
    assert [score.branch for score in ranked] == [2, 9, 5]


def test_all_too_close_are_ranked_among_themselves() -> None:
    scores = score_duels(pair(1, 2, winner=2), [1, 2])
    assert [score.branch for score in rank_branches(scores, {1, 2})] == [2, 1]


def test_a_score_as_state_is_plain() -> None:
    state = score_duels(pair(1, 2, winner=1), [1, 2])[0].as_state()
    assert state == {
        "branch": 1,
        "won": 1,
        "tied": 0,
        "lost": 0,
        "unscored": 0,
        "points": 2,
        "told": "1 won, 0 tied, 0 lost of 1",
    }


# --- by properties ------------------------------------------------------------------------------

BRANCHES = [1, 2, 3, 4]
ORDERS = list(permutations(BRANCHES, 2))
choices = st.lists(st.sampled_from(["first", "second", "tie"]), min_size=5, max_size=5)
some_duels = st.tuples(*(st.none() | choices for _ in ORDERS)).map(
    lambda found: [duel(*order, *(said or [])) for order, said in zip(ORDERS, found, strict=True)]
)


def reversed_verdict(verdict: Duel) -> Duel:
    criteria = verdict["criteria"]
    return {**verdict, "criteria": criteria and {name: SWAPPED[choice] for name, choice in criteria.items()}}


@given(some_duels)
def test_every_pair_counts_once_for_each_of_its_branches(duels: list[Duel]) -> None:
    scores = score_duels(duels, BRANCHES)
    assert [score.branch for score in scores] == BRANCHES
    assert all(score.won + score.tied + score.lost + score.unscored == 3 for score in scores)
    assert sum(score.won for score in scores) == sum(score.lost for score in scores)
    assert sum(score.tied for score in scores) % 2 == sum(score.unscored for score in scores) % 2 == 0


@given(some_duels, st.randoms(use_true_random=False))
def test_the_order_in_which_verdicts_come_changes_nothing(duels: list[Duel], random: Any) -> None:
    shuffled = random.sample(duels, len(duels))
    assert score_duels(shuffled, BRANCHES) == score_duels(duels, BRANCHES)


@given(some_duels)
def test_the_opposite_verdicts_give_the_opposite_records(duels: list[Duel]) -> None:
    there = score_duels(duels, BRANCHES)
    back = score_duels(map(reversed_verdict, duels), BRANCHES)
    assert [(s.won, s.tied, s.lost, s.unscored) for s in there] == [
        (s.lost, s.tied, s.won, s.unscored) for s in back
    ]
    rates = [score.rate for score in there]
    if None not in rates and len(set(rates)) == len(rates):
        ranked = [[score.branch for score in rank_branches(scores, set())] for scores in (there, back)]
        assert ranked[0] == ranked[1][::-1]


@given(some_duels)
def test_a_judge_that_looks_at_the_slot_alone_decides_nothing(duels: list[Duel]) -> None:
    """The verdict on (b, a) is that on (a, b), slot by slot: every pair that has one is a tie."""
    said = {(verdict["first"], verdict["second"]): verdict["criteria"] for verdict in duels}
    by_slot: list[Duel] = [
        {
            **verdict,
            "criteria": said[
                min(verdict["first"], verdict["second"]), max(verdict["first"], verdict["second"])
            ],
        }
        for verdict in duels
    ]
    scores = score_duels(by_slot, BRANCHES)
    assert all(score.won == score.lost == 0 for score in scores)


@given(some_duels, st.sampled_from(ORDERS))
def test_a_pair_without_a_verdict_counts_as_if_it_had_not_been(
    duels: list[Duel], order: tuple[int, int]
) -> None:
    missing = [
        duel(*order) if (verdict["first"], verdict["second"]) == order else verdict for verdict in duels
    ]
    apart = [verdict for verdict in duels if {verdict["first"], verdict["second"]} != set(order)]
    assert score_duels(missing, BRANCHES) == score_duels(apart, BRANCHES)
    before, after = score_duels(duels, BRANCHES), score_duels(missing, BRANCHES)
    assert [s for s in before if s.branch not in order] == [s for s in after if s.branch not in order]
    for branch in order:
        changed = [
            now - then for then, now in zip(record(before, branch), record(after, branch), strict=True)
        ]
        assert sum(changed) == 0
        assert max(changed[:3]) <= 0 <= changed[3]


@given(some_duels, st.sets(st.sampled_from(BRANCHES)))
def test_the_ranking_holds_every_branch_best_first_and_too_close_last(
    duels: list[Duel], too_close: set[int]
) -> None:
    ranked = rank_branches(score_duels(duels, BRANCHES), too_close)
    assert sorted(score.branch for score in ranked) == BRANCHES
    last = [score.branch in too_close for score in ranked]
    assert last == sorted(last)
    for part in (False, True):
        rates = [s.rate for s in ranked if (s.branch in too_close) is part and s.rate is not None]
        assert rates == sorted(rates, reverse=True)
