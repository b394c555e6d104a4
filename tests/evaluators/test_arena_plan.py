"""The plan of an arena: what it would tell apart and cost, without a call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ideagora.evaluators.statistics.ratings.separation import detectable_gap, further_topics
from tests.support import command, standin
from tests.support.arena_world import field
from tests.support.loopback import Loopback

TOPICS = tuple(f"tool use by language models in field {number}" for number in range(10))


def test_the_detectable_difference_by_hand() -> None:
    assert detectable_gap(10, 100.0) == pytest.approx((1.8331 + 0.8834) * 100 / 10**0.5, rel=1e-4)
    assert detectable_gap(1, 100.0) == float("inf")
    for topics in (2, 7, 40):
        assert further_topics(1.0001 * detectable_gap(topics, 100.0), 100.0) == topics


def test_a_plan_makes_no_call_and_more_topics_tell_more_apart(server: Loopback, model: standin.Model) -> None:
    found = {}
    for count in (5, 10):
        contestants = field({"alpha": 1, "beta": 2, "gamma": 3}, TOPICS[:count])
        asked = ["--judge", "openai/standin", "--api-base", server.base, "--no-style", "--repeat", "0.1"]
        done = command.run(["arena", *contestants, *asked, "--plan", "--json", "--out", "arena"])
        assert done.code == 0, done.err
        found[count] = json.loads(done.out)["plan"]
    assert not server.requests
    assert not Path("arena").exists()
    assert found[10]["verdicts"] == found[10]["calls"][0]["calls"] == 66, "60 verdicts and six repetitions"
    fewer, more = (found[count]["detectable"][1]["difference"] for count in (5, 10))
    assert more < fewer
    assert found[10]["assumed"] == {"confidence": 0.95, "power": 0.8, "agent_spread": 0.5}
