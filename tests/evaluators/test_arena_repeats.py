"""Comparisons that are judged once more: they show a judge's noise and enter no rating."""

from __future__ import annotations

from collections import Counter

import pytest

from ideagora.evaluators.agreement.raters import rater_of_verdicts
from ideagora.evaluators.statistics.agreement.audit import repeat_flip_rate
from ideagora.models.chat_models import ScriptedCall
from tests.support.arena_verdicts import verdicts
from tests.support.arena_world import Held, by_strength, field, judge

STRENGTHS = {"alpha": 3, "beta": 2, "gamma": 1}
OTHER = {"first": "second", "second": "first"}


class Contrary:
    """A judge that says the opposite when it is asked the same question again."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, call: ScriptedCall) -> str:
        question = f"{call.inputs.first.title} {call.inputs.second.title}"
        self.asked[question] += 1
        preference = by_strength(call)
        return preference if self.asked[question] == 1 else OTHER[preference]


def test_repeats_measure_noise_and_enter_no_rating() -> None:
    contrary = judge(Contrary())
    for schedule in ("round-robin", "balanced", "swiss", "adaptive"):
        plain = Held(field(STRENGTHS), contrary, schedule=schedule, out=f"{schedule}-plain")
        held = Held(field(STRENGTHS), contrary, schedule=schedule, repeat=0.5, out=schedule)
        asked, repeats = len(plain.verdicts), [one for one in held.verdicts if one.is_repeat]
        assert len(repeats) == -(-asked // 2), schedule
        assert len({one.id for one in held.verdicts}) == len(held.verdicts) == asked + len(repeats), schedule
        assert held.board["coverage"]["asked"] == len(held.verdicts), schedule
        assert held.board["coverage"]["expected"] >= len(held.verdicts), schedule
        assert held.board["ranking"] == plain.board["ranking"], schedule
        audit = held.board["audit"]
        assert audit["repeat_flip_rate"]["value"] == 1.0, schedule
        assert audit["repeat_flip_rate"]["n"] == len(repeats), schedule
        assert audit["flip_rate"] == plain.board["audit"]["flip_rate"], schedule
        assert "repeat_flip_rate" not in plain.board["audit"], schedule
        outcomes = rater_of_verdicts(schedule, held.verdicts).values["novelty"]
        assert set(outcomes.values()) <= {0.0, 1.0}, schedule


def test_each_judge_has_its_own_noise_and_the_sample_is_drawn_by_seed() -> None:
    judges = {"noisy": judge(Contrary()), "steady": judge()}
    held = Held(field(STRENGTHS), judges=judges, repeat=1.0)
    noise = {
        (one["judge"], one["criterion"]): one["figures"]["repeat_flip_rate"]["value"]
        for one in held.board["audit_breakdown"]
    }
    assert noise["noisy", None] == noise["noisy", "clarity"] == 1.0
    assert noise["steady", None] == 0.0
    assert held.board["audit"]["repeat_flip_rate"]["value"] == pytest.approx(0.5)
    drawn = [
        {one.id for one in Held(field(STRENGTHS), repeat=0.2, out=f"{n}", settings={"seed": seed}).verdicts}
        for n, seed in enumerate((1, 1, 2))
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_repeated_verdicts_by_hand() -> None:
    first = verdicts(
        [("a", "b", 1.0, "t0"), ("a", "b", 0.75, "t1"), ("a", "c", 0.5, "t2"), ("c", "b", 0.0, "t3")]
    )
    again = verdicts(
        [("a", "b", 1.0, "t0"), ("a", "b", 1.0, "t1"), ("a", "c", 0.0, "t2"), ("c", "b", 1.0, "t3")]
    )
    figure = repeat_flip_rate(first, again)
    assert (figure.value, figure.n) == (0.5, 4), "better and much better are one preference"
