"""What makes ``virsci``: a team from the library's authors, and a vote that can reject."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import TopicNotCovered
from ideagora.graphs.virsci.state import CastVote
from ideagora.graphs.virsci.team import count_votes, draw_candidates
from ideagora.models.chat_models import ScriptedCall
from tests.graphs.test_runtime import Ran, World, paper, task_of
from tests.support.field_agents import virsci
from tests.support.standin import ANSWERS

assert virsci.ROLES, "imported for the stand-in, which answers for them too"


def record() -> dict[str, Any]:
    return dict(json.loads(Path("run/run.json").read_text()))


def asked(ran: Ran, role: str) -> list[Any]:
    return [call.inputs for call in ran.calls if call.role == role]


def test_the_team_is_drawn_from_the_librarys_authors_and_shown_without_names() -> None:
    world = World([paper(n, authors=(f"Quill{n % 4}", f"Quill{(n + 1) % 4}")) for n in range(8)])
    ran = Ran(task_of("virsci"), world)
    team = ran.ideas[0].extra["team"]
    assert len({one["papers_of"] for one in team}) == 3
    for one in team:
        assert one["papers_of"] in {f"Quill{n}" for n in range(4)}
        assert all(one["papers_of"] in world.papers[paper_id].authors for paper_id in one["papers"])
    prompts = "\n".join(text for call in ran.calls for _, text in call.messages)
    assert "Quill" not in prompts


def test_coauthors_of_the_leader_are_drawn_more_often() -> None:
    papers = [paper(n, authors=("Leader", "Friend")) for n in range(6)]
    papers += [paper(10 + n, authors=(f"Other{n}",)) for n in range(6)]
    drawn = [draw_candidates(papers, 2, seed) for seed in range(200)]
    with_leader = [pair[1] for pair in drawn if pair[0] == "Leader"]
    assert with_leader.count("Friend") > len(with_leader) / 3, "weight 7 of 13, where chance alone is 1 of 7"
    assert draw_candidates([paper(1, authors=())], 3, 0) == []


def test_a_vote_for_none_rejects_the_ideas_and_starts_another_round() -> None:
    def vote(call: ScriptedCall) -> Any:
        first = not asked_before(call)
        return {"reason": "All of it is in the papers.", "choice": None if first else 1}

    def asked_before(call: ScriptedCall) -> bool:
        rounds.setdefault(call.inputs.candidates, len(rounds))
        return rounds[call.inputs.candidates] > 0

    rounds: dict[Any, int] = {}
    ran = Ran(task_of("virsci"), novelty_vote=vote)
    first, second = (inputs.candidates for inputs in asked(ran, "novelty_vote")[::3])
    assert ran.roles["novelty_vote"] == ran.roles["team_ideator"] == 6
    (written,) = asked(ran, "abstract_writer")
    assert written.title == second[1].title
    assert written.title not in {candidate.title for candidate in first}
    again = asked(ran, "team_ideator")[3:]
    assert all({idea.title for idea in inputs.rejected} == {one.title for one in first} for inputs in again)
    assert any("The vote of round 1 rejected" in note for note in record()["notes"])


def test_a_vote_that_rejects_the_last_round_is_named() -> None:
    ran = Ran(task_of("virsci", rounds=1), novelty_vote=lambda call: {"reason": "Known.", "choice": None})
    assert ran.ideas
    assert any("rejected all ideas of the last round" in note for note in record()["notes"])
    none, first = (CastVote(by=1, round=0, choice=choice, reason="Known.") for choice in (None, 0))
    assert count_votes(2, [none, first]) == ([1, 0], False)
    assert count_votes(2, [none, none, first]) == ([1, 0], True)


def test_an_abstract_that_is_too_close_is_revised_once() -> None:
    def too_close(call: ScriptedCall) -> Any:
        answer = ANSWERS["NoveltyVerdict"](call.messages[1][1])
        level = {"purpose": "same", "mechanism": "same", "evaluation": "same", "difference": "None."}
        compared = [
            {"paper": number, "overlap": shown.title, **level}
            for number, shown in enumerate(call.inputs.papers)
        ]
        return {**answer, "comparisons": compared, "verdict": "published"}

    ran = Ran(task_of("virsci"), novelty_judge=too_close)
    first, second = asked(ran, "abstract_writer")
    assert first.earlier is None
    assert second.earlier
    assert second.too_close
    check = ran.ideas[0].novelty_check
    assert check
    assert (check.status, check.rounds) == ("too_close", 1)


def test_a_library_without_authors_is_declined_and_a_small_one_gives_a_small_team() -> None:
    with pytest.raises(TopicNotCovered, match="None of the 6 papers found names its authors"):
        Ran(task_of("virsci"), World([paper(n, authors=()) for n in range(6)]))
    ran = Ran(task_of("virsci"), World([paper(n, authors=("Only",)) for n in range(6)]), folder="small")
    assert len(ran.ideas[0].extra["team"]) == 1
    notes = json.loads(Path("small/run.json").read_text())["notes"]
    assert "The team has 1 of 3 members." in notes


def test_who_declines_is_not_in_the_team() -> None:
    def decline(call: ScriptedCall) -> Any:
        return {"reason": "Another field.", "accepts": call.inputs.scientist.number != 2}

    ran = Ran(task_of("virsci"), team_invitation=decline)
    assert [one["scientist"] for one in ran.ideas[0].extra["team"]] == [1, 3]
    assert "Scientist 2 declined: Another field." in record()["notes"]
