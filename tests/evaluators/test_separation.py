"""How many more topics and verdicts tell two agents apart: what is said holds when it is played."""

from __future__ import annotations

import numpy as np
import pytest

from bench.arena_separation import share_separated, true_gap_and_spread
from bench.tournaments import tournament
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from ideagora.evaluators.statistics.ratings.separation import (
    CONFIDENCE,
    POWER,
    further_topics,
    topics_to_separate,
)
from tests.evaluators.test_arena_figures import MANY, noisy
from tests.support.arena_verdicts import verdicts
from tests.support.arena_world import Held, field, judge


def test_the_topics_named_are_enough_in_four_of_five_tournaments() -> None:
    strengths = np.array([0.35, 0.0, -0.35])
    gap, spread = true_gap_and_spread(strengths, topics=2000, seed=1)
    topics = further_topics(gap, spread)
    assert topics is not None
    assert share_separated(strengths, topics, runs=300, seed=2) == pytest.approx(POWER, abs=0.08)
    assert share_separated(strengths, topics // 2, runs=300, seed=3) < POWER - 0.12


def test_verdicts_are_those_that_are_asked_and_not_the_matches_made_of_them() -> None:
    played = tournament(np.random.default_rng(5), np.array([0.3, 0.0, -0.3]), 8)
    found = bradley_terry_intervals(played)
    wanted = topics_to_separate(played, found, ("agent 00", "agent 01"), 0.8, verdicts=48)
    assert wanted.topics
    assert wanted.verdicts == wanted.topics * 6
    board = Held(field({"alpha": 2, "beta": 1, "gamma": 1}, MANY), judge(noisy)).board
    steps = [step for step in board["separation"] if step["more_topics"]]
    for step in steps:
        assert step["more_verdicts"] == step["more_topics"] * 6, "three pairs in both orders"
        told = f"{step['more_topics']:,} more topic"
        assert told in "\n".join(board["notes"])


def test_what_is_told_apart_needs_nothing_and_what_is_equal_cannot_be_named() -> None:
    more = tournament(np.random.default_rng(6), np.array([0.3, 0.0, -0.3]), 400)
    for found in (bradley_terry_intervals(more), elo_intervals(more)):
        assert topics_to_separate(more, found, ("agent 00", "agent 02"), 0.96, 2400).topics == 0
    rows = [("a", "b", 1.0, "t0"), ("b", "a", 1.0, "t1"), ("a", "b", 0.5, "t2")]
    played = verdicts(rows)
    assert "same" in (
        topics_to_separate(played, bradley_terry_intervals(played), ("a", "b"), 0.5, 3).reason or ""
    )
    one = verdicts(rows[:1])
    assert "two topics" in (
        topics_to_separate(one, bradley_terry_intervals(one), ("a", "b"), 0.5, 1).reason or ""
    )
    assert further_topics(1e-9, 1.0) is None


def test_separated_neighbours_need_no_more_topics() -> None:
    board = Held(field({"alpha": 3, "beta": 2, "gamma": 1}, MANY), judge(noisy)).board
    probabilities = [step["probability"] for step in board["separation"]]
    assert any(value >= CONFIDENCE for value in probabilities)
    for step in board["separation"]:
        assert (step["more_topics"] == 0) == (step["probability"] >= CONFIDENCE)


def test_the_adaptive_schedule_stops_where_the_table_says_separated() -> None:
    adaptive = Held(field({"alpha": 3, "beta": 2, "gamma": 1}, MANY), judge(), schedule="adaptive").board
    assert adaptive["coverage"]["asked"] < adaptive["coverage"]["expected"]
    assert all(step["probability"] >= CONFIDENCE for step in adaptive["separation"])
