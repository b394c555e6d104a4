"""A contestant without an entry on some topics: what can be rated is rated, what cannot is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals, resample_ratings
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from tests.support.arena_verdicts import verdicts
from tests.support.arena_world import Held, field, idea, judge, write

MANY = [f"topic number {number} of many" for number in range(6)]


def _with_gaps(topics: list[str]) -> list[str]:
    """Three contestants, of whom the last has an entry on the first topic only."""
    return [*field({"alpha": 2, "beta": 1}, topics), write("late", [idea("late", topics[0], 3)])]


@pytest.mark.parametrize("options", [{"protocol": "paper"}, {}, {"protocol": "both"}, {"bootstrap": 200}])
def test_an_arena_with_a_contestant_on_one_topic_is_rated_and_says_what_was_left_out(
    options: dict[str, Any],
) -> None:
    held = Held(_with_gaps(MANY), judge(), page=True, **options)
    assert held.code == 0
    assert len(held.ranking) == 3
    assert (held.row("late")["low"], held.row("late")["rank_low"]) == (None, None)
    assert held.row("late")["rating"] is not None
    refits = held.board["refits"]
    if options in ({}, {"protocol": "both"}):
        assert refits is None, "nothing is fitted again in closed form"
    else:
        assert 0 < refits["unratable"] < refits["tried"]
        told = f"{refits['unratable']} of {refits['tried']} refits"
        assert told in held.notes
        assert told in Path("arena/report.html").read_text(encoding="utf-8")
    assert "late meets the others on only one topic" in held.notes


def test_the_ratable_refits_make_the_interval() -> None:
    rows = [
        (one, other, outcome, f"t{topic}")
        for topic in range(6)
        for one, other in (("a", "b"), ("b", "a"))
        for outcome in [float((one == "a") == (topic != 3))]
    ]
    whole = verdicts(rows)
    late = verdicts([*rows, ("a", "late", 1.0, "t0"), ("late", "b", 1.0, "t0")])
    found = elo_intervals(late)
    assert (found.refits, found.unratable, found.alone) == (6, 1, ("late",))
    assert found.low is not None
    assert found.high is not None
    assert np.isfinite(found.low).all()
    drawn = resample_ratings(late, 300, seed=1)
    assert 0 < len(drawn) < 300, "draws without the only topic of a contestant say nothing of it"
    assert elo_intervals(whole).unratable == bradley_terry_intervals(whole).unratable == 0
    assert len(resample_ratings(whole, 300)) == 300
