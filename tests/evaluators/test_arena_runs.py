"""Several runs of each agent: mean rating, variation between runs, the best of them, diversity."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from math import log10, sqrt
from pathlib import Path

import numpy as np
import pytest

from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals
from ideagora.evaluators.statistics.ratings.ratings import POINTS, Ratings, bradley_terry
from ideagora.evaluators.statistics.runs.best import best_of_runs
from ideagora.evaluators.statistics.runs.diversity import diversity
from ideagora.evaluators.statistics.runs.variation import by_cell, spread_between_runs
from tests.support import command
from tests.support.arena_verdicts import Row, verdicts
from tests.support.arena_world import TOPICS, Held, field, judge

pytestmark = pytest.mark.usefixtures("home")

AGENT = """
def ideate(topic, library, model, seed):
    strength = {strength} + seed % 2
    return [{{
        "title": f"A plan of strength {{strength}} for {{topic.text}}",
        "motivation": f"Nobody did {name}.", "novelty": f"It is new, {{seed}}.",
        "method": f"Do {name} in way {{seed}}.",
    }}]
"""


def agents(**strengths: int) -> list[str]:
    """A file for each agent; with an odd seed it is better by one."""
    for name, strength in strengths.items():
        Path(f"{name}.py").write_text(AGENT.format(strength=strength, name=name), encoding="utf-8")
    return [f"{name}={name}.py:ideate" for name in strengths]


def test_variation_between_runs_by_hand() -> None:
    rows: list[Row] = [
        ("a", "b", 1.0, "t0"),
        ("a", "b", 0.0, "t0"),
        ("a", "b", 1.0, "t1"),
        ("a", "b", 1.0, "t1"),
    ]
    played = replace(verdicts(rows), run=np.array([0, 1, 0, 1]))
    spread = spread_between_runs(played, bradley_terry(played))
    # a's share is 3/4, so a run moves its rating by (points - 3/4) / (4 · 3/16) / 2; alone, by twice that.
    contributions = [1 / 3, -1.0]
    expected = POINTS * sqrt((contributions[0] - contributions[1]) ** 2 / 2)
    assert spread is not None
    assert spread == pytest.approx([expected, expected])
    assert spread_between_runs(verdicts(rows), bradley_terry(verdicts(rows))) is None, "one run"
    assert by_cell(played).topics == ("t0, run 1", "t0, run 2", "t1, run 1", "t1, run 2")
    assert bradley_terry_intervals(played).topics == 2, "topics are the clusters, not their runs"


def test_the_best_run_is_chosen_by_other_verdicts_than_those_that_rate_it() -> None:
    played: list[tuple[str, str, float, str, int]] = [
        ("a", "b", 1.0, "t0", 0), ("a", "c", 1.0, "t0", 0),
        ("a", "b", 0.0, "t0", 1), ("c", "a", 0.5, "t0", 1),
        ("a", "b", 0.5, "t1", 0), ("a", "c", 1.0, "t1", 0),
        ("a", "b", 1.0, "t1", 1), ("a", "c", 0.5, "t1", 1),
    ]  # fmt: skip
    matches = replace(verdicts([row[:4] for row in played]), run=np.array([row[4] for row in played]))
    equal = Ratings(("a", "b", "c"), np.full(3, 1000.0), "bradley-terry")
    best = best_of_runs(matches, equal, "a")
    # On t0 both choose the first run: 1, 1. On t1, c's verdict chooses it for b, and b's the other: ½, ½.
    assert best.rating == pytest.approx(1000 + 400 * log10(3))
    assert "unbounded" in (best_of_runs(matches.rows(matches.topic == 0), equal, "a").reason or "")
    two = matches.rows((matches.first != 2) & (matches.second != 2))
    assert "three contestants" in (best_of_runs(two, equal, "a").reason or "")


def test_diversity_by_hand() -> None:
    x, y = np.eye(2, dtype=np.float32)
    found = diversity([np.stack([x, x, y]), np.stack([x, y]), x[None]])
    assert found.distance == pytest.approx((2 / 3 + 1) / 2)
    assert (found.twins, found.pairs) == (1, 4)
    assert diversity([x[None]]).distance is None


def test_each_run_meets_the_same_run_of_the_others_and_existing_ideas_meet_all() -> None:
    contestants = [*agents(alpha=3, beta=2), *field({"gamma": 3, "delta": 1}, TOPICS[:2])]
    held = Held(contestants, judge(), topic=TOPICS[:2], page=True, runs=2)
    assert held.code == 0
    # Per topic: 2 runs of alpha and beta, each against each other and the 2 existing ideas, which meet once.
    assert len(held.verdicts) == len(held.chat.calls) == 2 * 2 * (2 * 5 + 1)
    assert [one["runs"] for one in held.board["contestants"] if "runs" in one] == [2, 2]
    # alpha has strength 3 or 4: it wins against beta (2 or 3), ties once with gamma (3), and wins once.
    assert [held.row("alpha")[name] for name in ("won", "tied", "lost")] == [2 * (2 + 1 + 2), 2 * 1, 0]
    by_agent = {one["agent"]: one for one in held.board["runs"]}
    assert by_agent["gamma"]["reasons"] == ["Existing ideas have one run."]
    assert by_agent["alpha"]["pairs"] == 2
    assert by_agent["alpha"]["distance"] > 0
    page = Path("arena/report.html").read_text(encoding="utf-8")
    assert "Between runs" in page
    assert "alpha, run 2" in page
    rows = list(csv.DictReader(Path("arena/leaderboard.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["rating"] for row in rows if row["table"] == "overall"} >= {str(held.row("alpha")["rating"])}
    assert {row["agent"] for row in rows if row["table"] == "best of 2 runs"} == {"alpha", "beta"}


def test_more_runs_extend_an_arena_and_a_repeated_command_asks_nothing() -> None:
    contestants = [*agents(alpha=3, beta=2), *field({"gamma": 3}, TOPICS[:2])]
    first = Held(contestants, judge(), topic=TOPICS[:2])
    more = Held(contestants, judge(), topic=TOPICS[:2], runs=2)
    assert (len(first.chat.calls), len(more.chat.calls)) == (12, 12), "the second runs only"
    again = Held(contestants, judge(), topic=TOPICS[:2], runs=2, bootstrap=100)
    assert not again.chat.calls
    assert again.board["runs"] == more.board["runs"]
    assert again.board["ranking"][0]["won"] == more.board["ranking"][0]["won"]


def test_what_runs_cannot_be_combined_with_is_said_at_once() -> None:
    done = command.run(["arena", *field({"alpha": 1, "beta": 2}), "--runs", "2"])
    assert done.code == 2
    assert "no contestant is an agent" in done.err
    done = command.run(["arena", "direct", "rag", "--topic", "a", "--runs", "2", "--schedule", "adaptive"])
    assert done.code == 2
    assert "another --schedule" in done.err
    done = command.run(["arena", "direct", "rag", "--topic", TOPICS[0], "--runs", "3", "--plan", "--json"])
    plan = json.loads(done.out)["plan"]
    assert (plan["runs"], plan["verdicts"]) == (3, 6)
