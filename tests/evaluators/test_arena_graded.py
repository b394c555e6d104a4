"""Verdicts with degrees: how judges state them, and ratings by the share instead of the sign."""

from __future__ import annotations

import json
from math import log10
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.arena.judges import (
    CRITERIA,
    EXPERIMENT_JUDGE,
    GRADED_EXPERIMENT_JUDGE,
    GRADED_IDEA_JUDGE,
    IDEA_JUDGE,
    GradedIdeaPreference,
    normalize_grade,
)
from ideagora.errors import SettingsError
from ideagora.evaluators.agreement.raters import rater_of_verdicts
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.models.parsing.structured_output import parse_answer
from tests.support import command
from tests.support.arena_world import TOPICS, Held, by_strength, field, judge
from tests.support.each import each_case
from tests.support.role_samples import SAMPLES


def graded(call: ScriptedCall) -> Any:
    """Much better in novelty, better in all else: four fifths of the point."""
    side = by_strength(call)
    grades = dict.fromkeys((*CRITERIA, "overall"), f"{side} better")
    return {"reason": "So.", **grades, "novelty": f"{side} much better"}


def test_ratings_follow_the_share_by_hand() -> None:
    held = Held(field({"alpha": 2, "beta": 1}), judge(graded), verdict="graded", page=True)
    rating = {row["agent"]: row["rating"] for row in held.board["ranking"]}
    assert rating["alpha"] - rating["beta"] == pytest.approx(400 * log10(0.8 / 0.2), abs=0.02)
    clarity = {row["agent"]: row["rating"] for row in held.board["criteria"]["clarity"]}
    assert clarity["alpha"] - clarity["beta"] == pytest.approx(400 * log10(3), abs=0.02)
    assert held.board["ranking"][0]["won"] == len(TOPICS)
    assert held.board["audit"]["flip_rate"]["value"] == 0.0
    assert held.board["paper"] is None, "Elo knows no degrees"
    values = {value for one in held.verdicts for value in (one.criteria or {}).values()}
    assert values == {0.0, 0.25, 0.75, 1.0}
    assert all(one.is_graded and one.details["overall"] in (0.25, 0.75) for one in held.verdicts)
    assert "alpha (much)" in Path("arena/report.html").read_text(encoding="utf-8")
    votes = rater_of_verdicts("judges", held.verdicts).values
    assert set(votes["novelty"].values()) | set(votes["clarity"].values()) <= {0.0, 1.0}


@each_case("schedule", ["balanced", "swiss", "adaptive"])
def test_schedules_see_the_shares_and_plain_answers_are_read(schedule: str) -> None:
    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}), verdict="graded", schedule=schedule)
    assert held.ranking == ["alpha", "beta", "gamma"]
    assert held.board["coverage"]["unscored"] == 0
    assert {value for one in held.verdicts for value in (one.criteria or {}).values()} == {0.25, 0.75}


def test_the_offline_judges_take_the_same_sides_with_and_without_degrees() -> None:
    engine = ExtractiveModel(HashEmbedder())
    for plain, with_degrees in ((IDEA_JUDGE, GRADED_IDEA_JUDGE), (EXPERIMENT_JUDGE, GRADED_EXPERIMENT_JUDGE)):
        inputs = SAMPLES[plain.name].inputs
        signs, grades = (role.offline(engine, inputs).model_dump() for role in (plain, with_degrees))
        names = set(signs) - {"reason", "overall"}
        assert {name: grades[name].split()[0] for name in names} == {name: signs[name] for name in names}
    done = command.run(
        ["arena", *field({"alpha": 1, "beta": 0}), "--verdict", "graded", "--experiments", "--out", "arena"],
        {"IDEAGORA_EMBEDDER": "hash"},
    )
    assert done.code == 0, done.err
    board = json.loads(Path("arena/leaderboard.json").read_text(encoding="utf-8"))
    assert board["coverage"]["unscored"] == 0


def test_grades_are_read_in_the_words_that_models_use() -> None:
    cases = {
        "first_much_better": "first much better", "Idea 1 is much worse": "second much better",
        "Second": "second better", "the second idea is better": "second better", "Equal": "tie",
    }  # fmt: skip
    for said, meant in cases.items():
        answer = {**SAMPLES["graded_idea_judge"].answer, "novelty": said}
        assert parse_answer(json.dumps(answer), GradedIdeaPreference).novelty == meant
    for ambiguous in ("both", "2", "much better", "first or second", 3):
        assert normalize_grade(ambiguous) == ambiguous, "left to validation"


def test_the_paper_s_protocol_has_no_degrees() -> None:
    with pytest.raises((SettingsError, ValueError), match="knows no degrees"):
        ArenaOptions(judges=("one",), verdict="graded", protocol="both")
