"""What makes ``scipip``: retrieval in three ways, clusters, and two paths that are merged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import AllBranchesFailed
from ideagora.models.chat_models import ScriptedCall
from tests.graphs.test_runtime import Ran, World, line, paper, task_of
from tests.support.field_agents import scipip
from tests.support.standin import ANSWERS

assert scipip.ROLES, "imported for the stand-in, which answers for them too"


def notes() -> str:
    return " ".join(json.loads(Path("run/run.json").read_text())["notes"])


def test_every_idea_is_merged_from_one_of_either_path() -> None:
    def merge(call: ScriptedCall) -> Any:
        ideas = ANSWERS["MergedIdeas"](call.messages[1][1])["ideas"][:2]
        return {
            "ideas": [{**idea, "from_literature": n, "brainstormed": 3 - n} for n, idea in enumerate(ideas)]
        }

    ran = Ran(task_of("scipip", ideas=2), idea_merger=merge)
    (merged,) = [call.inputs for call in ran.calls if call.role == "idea_merger"]
    literature = [idea.title for idea in merged.from_literature]
    brainstormed = [idea.title for idea in merged.brainstormed]
    assert (len(literature), len(brainstormed)) == (4, 4)
    pairs = {tuple(idea.extra["merged_from"]) for idea in ran.ideas}
    assert pairs == {(literature[0], brainstormed[3]), (literature[1], brainstormed[2])}
    (bold,) = [call.inputs for call in ran.calls if call.role == "brainstormer"]
    assert not hasattr(bold, "papers"), "the second path sees no literature"


def test_the_filter_decides_which_ideas_are_refined() -> None:
    def last_wins(call: ScriptedCall) -> Any:
        fixed = {"reason": "So.", "novelty": 3, "feasibility": 3}
        numbers = range(len(call.inputs.ideas))
        return {"scores": [{"idea": number, "relevance": 1 + number, **fixed} for number in numbers]}

    ran = Ran(task_of("scipip"), idea_filter=last_wins)
    (scored,) = [call.inputs for call in ran.calls if call.role == "idea_filter"]
    (refined,) = [call.inputs for call in ran.calls if call.role == "idea_refiner"]
    assert refined.idea == scored.ideas[-1]
    assert ran.ideas[0].extra["scores"]["relevance"] == 4


def test_papers_are_found_by_cocitation_and_one_of_each_cluster_is_shown() -> None:
    papers = [paper(0), paper(1), paper(2), *(paper(n, 0, 2) for n in (3, 4))]
    world = World([papers[0], *papers[1:]])

    class Narrow(World):
        async def search(self, query: str, k: int) -> list[Any]:
            return (await super().search(query, 1))[:1]

    Ran(task_of("scipip", clusters=9), Narrow(papers))
    assert "1 by meaning, 1 by entity, 1 by co-citation; 2 in all, 2 clusters" in notes()
    ran = Ran(task_of("scipip", clusters=2), world, folder="two")
    (shown,) = [call.inputs.papers for call in ran.calls if call.role == "literature_ideator"]
    assert len(shown) == 2


def test_a_library_without_citations_is_named() -> None:
    ran = Ran(task_of("scipip"), World([paper(n) for n in range(6)]))
    assert len(ran.ideas) == 1
    assert "no co-citation was used" in notes()


@pytest.mark.parametrize("lost", ["brainstormer", "literature_ideator", "idea_merger", "idea_filter"])
def test_a_step_that_cannot_be_read_costs_only_itself(lost: str) -> None:
    replies: dict[str, Any] = {lost: lambda call: "no idea"}
    ran = Ran(task_of("scipip"), **replies)
    record = json.loads(Path("run/run.json").read_text())
    assert len(ran.ideas) == 1
    messages = [*record["notes"], *(failure["error"] for failure in record["failures"])]
    assert any(f"{lost}: none of 3 replies" in text for text in messages)
    parents = ran.ideas[0].extra["merged_from"]
    assert len(parents) == (2 if lost == "idea_filter" else 1)


def test_two_lost_paths_end_the_run() -> None:
    with pytest.raises(AllBranchesFailed, match="Neither path has an idea"):
        Ran(
            task_of("scipip"),
            line(6, 3),
            brainstormer=lambda call: "no",
            literature_ideator=lambda call: "no",
        )
