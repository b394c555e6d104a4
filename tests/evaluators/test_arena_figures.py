"""The leaderboard's figures: intervals, audit, separation, bias, families, and what it says it can't say."""

from __future__ import annotations

import random
import re
from math import exp, log
from typing import Any

import pytest

from ideagora.agents.arena.judges import CRITERIA
from ideagora.evaluators.arena.comparisons import majority_outcome
from ideagora.evaluators.arena.leaderboard.audit import family_of
from ideagora.models.chat_models import ScriptedCall
from tests.support.arena_world import Held, by_strength, field, idea, judge, strength_of, write

LONG = [f"topic number {number} of many" for number in range(24)]
MANY = [f"topic number {number} of many" for number in range(8)]


def noisy(call: ScriptedCall) -> str:
    """Right on three topics of four; the others differ in nothing but the slot."""
    number = int(call.inputs.topic.split()[2])
    return by_strength(call) if number % 4 else "first"


def turned(said: str) -> str:
    return {"first": "second", "second": "first", "tie": "tie"}[said]


def test_intervals_ranks_and_separation() -> None:
    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}, MANY), judge(noisy))
    assert held.ranking == ["alpha", "beta", "gamma"]
    for row in held.board["ranking"]:
        assert row["low"] < row["rating"] < row["high"]
        assert 1 <= row["rank_low"] <= row["rank"] <= row["rank_high"] <= 3
    first, second = held.board["separation"]
    assert (first["above"], first["below"]) == ("alpha", "beta")
    assert 0.5 < first["probability"] <= 1
    assert (second["above"], second["below"]) == ("beta", "gamma")


def test_intervals_from_resampled_topics() -> None:
    contestants = field({"alpha": 3, "beta": 2, "gamma": 1}, MANY)
    closed = Held(contestants, judge(noisy))
    first, one = closed.board, closed.row("alpha")
    resampled = Held(contestants, judge(noisy), bootstrap=300)
    again = Held(contestants, judge(noisy), bootstrap=300)
    assert resampled.board == again.board != first
    other = resampled.row("alpha")
    assert one["rating"] == other["rating"]
    assert (one["low"], one["high"]) != (other["low"], other["high"])
    assert other["low"] <= other["rating"] <= other["high"]


def test_the_audit_stands_beside_the_ranking() -> None:
    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}, MANY), judge(noisy))
    audit = held.board["audit"]
    assert audit["flip_rate"]["value"] == 0.25, "two topics of eight follow the slot"
    assert audit["flip_rate"]["n"] == 24
    assert audit["first_slot_rate"]["value"] == pytest.approx(0.5 + 0.25 / 2)
    assert audit["intransitive_triples"]["value"] == 0
    assert audit["krippendorff_alpha"]["value"] is None
    assert "two judges" in audit["krippendorff_alpha"]["reason"]


def test_opposite_slot_biases_of_two_judges_are_shown_and_noted_judge_by_judge() -> None:
    def second(call: ScriptedCall) -> str:
        said = noisy(call)
        return "second" if int(call.inputs.topic.split()[2]) % 4 == 0 else said

    judges = {"early": judge(noisy), "late": judge(second)}
    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}, LONG), judges=judges)
    assert held.board["audit"]["first_slot_rate"]["value"] == pytest.approx(0.5, abs=0.03)
    shown = {(one["judge"], one["criterion"]): one["figures"] for one in held.board["audit_breakdown"]}
    assert shown["early", None]["first_slot_rate"]["value"] == pytest.approx(0.625, abs=0.03)
    assert shown["late", "novelty"]["first_slot_rate"]["value"] == pytest.approx(0.375, abs=0.03)
    assert re.search(r"early prefers the idea shown first: it takes 6\d%, 95 % interval", held.notes)
    assert re.search(r"late prefers the idea shown second: it takes 6\d%, 95 % interval", held.notes)


def test_judges_agree_by_figures() -> None:
    judges = {"right": judge(), "noisy": judge(noisy)}
    held = Held(field({"alpha": 2, "beta": 3, "gamma": 1}, MANY), judges=judges)
    audit = held.board["audit"]
    assert audit["agreement_percent"]["value"] == 0.75, "where the noisy one follows the slot, it ties"
    assert 0 < audit["cohen_kappa"]["value"] < 1
    assert 0 < audit["krippendorff_alpha"]["value"] < 1


def test_three_judges_are_compared_two_by_two() -> None:
    judges = {name: judge() for name in ("one", "two", "three")}
    held = Held(field({"alpha": 2, "beta": 1}), judges=judges)
    pairs = [name for name in held.board["audit"] if name.startswith("agreement_percent")]
    assert pairs == [f"agreement_percent ({pair})" for pair in ("one, two", "one, three", "two, three")]


def test_a_liking_for_length_and_the_first_slot_is_taken_out() -> None:
    """The weaker an idea, the longer it is on the whole; the judge likes both length and the first slot."""
    chance = random.Random(7)
    topics = [f"topic number {number} of many" for number in range(24)]

    def biased(call: ScriptedCall) -> str:
        first, second = call.inputs.first, call.inputs.second
        gap = strength_of(first) - strength_of(second)
        longer = log(len(first.motivation.split()) / len(second.motivation.split()))
        leaning = 1.2 * gap + 0.7 + 2.5 * longer
        mood = random.Random(f"{call.inputs.topic} {first.title} {second.title}")  # whatever came before
        return "first" if mood.random() < 1 / (1 + exp(-leaning)) else "second"

    contestants = [
        write(
            name,
            [
                idea(name, topic, strength, motivation="word " * int(length * chance.choice([0.5, 1, 2])))
                for topic in topics
            ],
        )
        for name, strength, length in (("alpha", 3, 60), ("beta", 2, 120), ("gamma", 1, 240))
    ]
    held = Held(contestants, judge(biased), bias_aware=True)
    corrected = [row["agent"] for row in held.board["bias_aware"]]
    assert corrected == ["alpha", "beta", "gamma"] != held.ranking
    (bias,) = held.board["biases"]["judges"]
    assert bias["length"]["value"] > bias["length"]["low"] > 0
    assert bias["position"]["value"] > 0


def test_overall_is_who_is_better_by_more_criteria() -> None:
    assert majority_outcome([1.0, 1.0, 1.0, 0.0, 0.0]) == 1.0
    assert majority_outcome([0.5, 0.5, 0.0, 0.5, 0.5]) == 0.0
    assert majority_outcome([1.0, 0.0, 0.5, 0.5, 0.5]) == 0.5
    for values in ([1.0, 0.5, 0.0], [1.0, 1.0], [0.0, 0.5]):
        assert majority_outcome(1.0 - value for value in values) == 1.0 - majority_outcome(values)


@pytest.mark.parametrize(
    ("models", "family"),
    [
        (["openai/gpt-4o"], "openai"),
        (["openai/gpt-4o + openai/o3-mini", "gpt-4.1"], "openai"),
        (["anthropic/claude-sonnet-4-5"], "anthropic"),
        (["bedrock/us.anthropic.claude-3"], "anthropic"),
        (["ollama_chat/llama3.1"], "meta"),
        (["together_ai/meta-llama/Meta-Llama-3-70B"], "meta"),
        (["openai/gpt-4o", "anthropic/claude-3"], None),
        (["openai/my-own-model"], None),
        (["offline"], None),
        (["unknown"], None),
    ],
)
def test_the_family_of_a_model_is_by_its_name_not_by_its_server(
    models: list[str], family: str | None
) -> None:
    assert family_of(models) == family


def test_preference_for_the_own_family_is_measured_where_it_can_be() -> None:
    def loyal(call: ScriptedCall) -> str:
        names = [one.novelty for one in (call.inputs.first, call.inputs.second)]
        home = ["ahpla" in name for name in names]
        return "first" if home[0] else "second" if home[1] else by_strength(call)

    contestants = [
        write(name, [idea(name, topic, strength, model=model) for topic in MANY])
        for name, strength, model in (
            ("alpha", 1, "openai/gpt-4o"), ("beta", 2, "anthropic/claude-3"), ("gamma", 3, "unknown"),
        )
    ]  # fmt: skip
    held = Held(contestants, judges={"openai/gpt-4o": judge(loyal), "other": judge()})
    figure = held.board["audit"]["own_family_preference"]
    assert figure["value"] > 0.3


def test_a_circle_is_told() -> None:
    def circle(call: ScriptedCall) -> str:
        first, second = strength_of(call.inputs.first), strength_of(call.inputs.second)
        return "first" if (first - second) % 3 == 1 else "second"

    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}), judge(circle))
    assert held.board["audit"]["intransitive_triples"]["value"] == 1
    assert {round(row["rating"]) for row in held.board["ranking"]} == {1000}


def test_the_notes_name_neighbours_that_are_not_told_apart() -> None:
    def coin(call: ScriptedCall) -> Any:
        number = int(call.inputs.topic.split()[2])
        said = by_strength(call) if number < 5 else turned(by_strength(call))
        return {"reason": "So.", **dict.fromkeys((*CRITERIA, "overall"), said)}

    held = Held(field({"alpha": 2, "beta": 1}, MANY), judge(coin))
    assert "alpha and beta are not separated (probability 0." in held.notes
    assert re.search(r"\d+ more topics, so about \d+ more verdicts, would tell in 80% of cases", held.notes)


def test_one_who_won_everything_is_said_to_be_out_of_scale() -> None:
    held = Held(field({"alpha": 2, "beta": 1}))
    assert "Won or lost every comparison with the others" in held.notes


def test_agreement_is_shown_as_the_share_that_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    Held(field({"alpha": 2, "beta": 1}), judges={"one": judge(), "two": judge()})
    shown = " ".join(capsys.readouterr().out.split())
    assert "agreement 1.00" in shown
    assert "percent" not in shown
