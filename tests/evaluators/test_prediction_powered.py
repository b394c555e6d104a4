"""Votes joined with verdicts: limits that are known by hand, coverage in simulation, and the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.arena_votes import simulate
from bench.tournaments import population_ratings
from ideagora.errors import RatingError
from ideagora.evaluators.judging.verdict_files import verdict_lines
from ideagora.evaluators.statistics.ratings.prediction_powered import VotedPairs, prediction_powered
from ideagora.evaluators.statistics.ratings.ratings import BASE
from tests.support.arena_world import Held, field


def pairs(judged: list[float], voted: list[float]) -> VotedPairs:
    """Two agents, one pair on each topic."""
    n = len(judged)
    zeros = np.zeros(n, dtype=np.int64)
    return VotedPairs(("a", "b"), np.arange(n), zeros, zeros + 1, np.array(judged), np.array(voted))


def test_the_correction_by_hand() -> None:
    """Judges give a 6 of 8 points; where people voted, judges gave 3 of 4 and people 2: 6/8 - 1/4 = 1/2."""
    gap, nan = 400 / np.log(10), np.nan
    given = pairs([1, 1, 1, 0, 1, 1, 1, 0], [1, 1, 0, 0, nan, nan, nan, nan])
    for weight, share in ((0.0, 2 / 4), (1.0, 6 / 8 - 1 / 4), (0.5, 0.5 * 6 / 8 + 2 / 4 - 0.5 * 3 / 4)):
        found = prediction_powered(given, weight).intervals
        assert found.scores[0] - found.scores[1] == pytest.approx(gap * np.log(share / (1 - share))), weight
    unlike = pairs([1, 0, 1, 0, 1, 0], [1, 1, 0, 0, nan, nan])
    assert prediction_powered(unlike).weight == pytest.approx(0.0), "the verdicts say nothing about the votes"
    with pytest.raises(RatingError, match="No vote"):
        prediction_powered(replace(given, voted=np.full(8, nan)))
    with pytest.raises(RatingError, match="won or lost everything"):
        prediction_powered(pairs([1, 1], [1, 1]), 0.0)


def test_intervals_hold_and_are_narrower_than_those_of_the_votes() -> None:
    random = np.random.default_rng(0)
    held, widths = [], []
    for _ in range(120):
        strengths = random.normal(0.0, 0.5, 6)
        drawn, truth = simulate(random, strengths, 20, 0.3, 1.0), BASE + population_ratings(strengths)
        joined, alone = (prediction_powered(drawn, weight).intervals for weight in (None, 0.0))
        assert joined.low is not None
        assert joined.high is not None
        assert alone.low is not None
        assert alone.high is not None
        held.append((joined.low <= truth) & (truth <= joined.high))
        widths.append([(joined.high - joined.low).mean(), (alone.high - alone.low).mean()])
    assert 0.92 < np.mean(held) < 0.98
    both, votes = np.mean(widths, axis=0)
    assert both < 0.98 * votes


def test_the_arena_shows_ratings_by_people_beside_those_of_judges(capsys: pytest.CaptureFixture[str]) -> None:
    contestants = field({"alpha": 3, "beta": 2, "gamma": 1})
    judged = Held(contestants).verdicts
    votes = [
        one.model_copy(update={
            "judge": "human:ada", "protocol": "vote",
            "criteria": {name: 1.0 - value if number % 4 == 0 else value
                         for name, value in (one.criteria or {}).items()},
        })
        for number, one in enumerate(judged)
    ]  # fmt: skip
    Path("ada.jsonl").write_text(verdict_lines(votes), encoding="utf-8")
    held = Held(contestants, votes=("ada.jsonl",), page=True)
    voted = held.board["voted"]
    assert voted["voters"] == ["ada"]
    assert voted["pairs"] == voted["judged"] == len(judged) // 2
    assert {row["agent"] for row in voted["ranking"]} == {"alpha", "beta", "gamma"}
    assert "Ratings by people (ada)" in capsys.readouterr().out
    Path("model.jsonl").write_text(verdict_lines(judged), encoding="utf-8")
    Held(contestants, votes=("model.jsonl",))
    assert "not votes. Give a file that 'ideagora vote import'" in " ".join(capsys.readouterr().err.split())
    Held(contestants, votes=("none.jsonl",))
    assert "--votes none.jsonl is not a file. Give" in " ".join(capsys.readouterr().err.split())
    for name in ("report.md", "report.html"):
        page = Path("arena", name).read_text(encoding="utf-8")
        joined = next(row for row in voted["ranking"] if row["agent"] == "alpha")
        assert "Ratings by people" in page
        assert f"{joined['low']:.0f} to {joined['high']:.0f}" in page
        assert f"{voted['pairs']} of {voted['judged']} pairs have votes, by ada" in page
