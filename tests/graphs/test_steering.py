"""What a user adds to a topic: a wish, own notes, ideas that must not come again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import UsageError
from ideagora.graphs.task import Task
from ideagora.importing.steering import MAX_OWN, read_steering
from ideagora.schema import Steering, Topic
from tests.graphs.test_runtime import Ran, task_of
from tests.support import standin

WISH = "It should run on a phone."
SMALL: dict[str, Any] = {"branches": 1, "length": 2, "refinements": 0}


def steered(steering: Steering | None, agent: str = "chain-of-ideas") -> Task:
    task = task_of(agent, **(SMALL if agent == "chain-of-ideas" else {}))
    return Task(task.topic.model_copy(update={"steering": steering}), task.agent, task.options, task.settings)


def steering() -> Steering | None:
    Path("notes.txt").write_text("- Tools that explain their errors to the model\n", encoding="utf-8")
    Path("old.md").write_text("# A registry of tool failures\n\nKeep a registry of them.\n", encoding="utf-8")
    return read_steering(WISH, [Path("notes.txt")], [Path("old.md")], "tools")


def test_wish_notes_and_avoided_ideas_reach_the_roles_that_use_them() -> None:
    ran = Ran(steered(steering()))
    prompts = {str(call.role): call.messages[-1][1] for call in ran.calls}
    for role, texts in {
        "query_planner": [WISH],
        "forecaster": [WISH, "Tools that explain their errors"],
        "ideator": [
            WISH,
            "Tools that explain their errors",
            "A registry of tool failures. Keep a registry of them.",
        ],
        "novelty_judge": ["A registry of tool failures"],
    }.items():
        assert all(text in prompts[role] for text in texts), role
    assert "Tools that explain" not in prompts["novelty_judge"], "a note is no publication"
    for agent, role in (("direct", "direct_ideator"), ("rag", "rag_ideator")):
        ran = Ran(steered(steering(), agent), folder=agent)
        prompt = next(call.messages[-1][1] for call in ran.calls if call.role == role)
        assert WISH in prompt
        assert "A registry of tool failures" in prompt


def test_an_idea_that_must_not_come_again_is_rewritten() -> None:
    avoided = steering()
    assert avoided is not None
    (old,) = avoided.avoided

    def too_close(call: object) -> str:
        prompt = call.messages[-1][1]  # type: ignore[attr-defined]
        number = next(n for n in range(30) if f"[{n}] (n.d.)" in prompt)
        verdict = standin.ANSWERS["NoveltyVerdict"](prompt)
        same = {"overlap": "A registry of tool failures", "purpose": "same", "mechanism": "same"}
        verdict["comparisons"] += [{**verdict["comparisons"][0], "paper": number, **same}]
        return json.dumps({**verdict, "verdict": "published"})

    ran = Ran(steered(avoided), novelty_judge=too_close)
    (idea,) = ran.ideas
    check = idea.novelty_check
    assert check is not None
    assert [close.paper_id for draft in check.dropped for close in draft.too_close] == [old.id, old.id]
    assert old.title in [call for call in ran.calls if call.role == "ideator"][-1].messages[-1][1]


def test_the_identity_of_a_run_contains_what_steers_it() -> None:
    plain, wished = steered(None), steered(Steering(focus=WISH))
    assert plain.identity != wished.identity != steered(steering()).identity
    assert "steering" not in plain.topic.model_dump_json(), "earlier runs are still found"
    assert Topic.model_validate_json(wished.topic.model_dump_json()) == wished.topic


def test_files_that_steer_are_read_in_every_form_or_refused_in_one_line() -> None:
    Path("list.txt").write_text("1. First idea\n2) Second idea\n", encoding="utf-8")
    Path("headed.md").write_text("# My ideas\n\n- First idea\n- Second idea\n", encoding="utf-8")
    Path("prose.txt").write_text(
        "We could let every tool explain why its call failed, so\nthat the model learns to call it.\n",
        encoding="utf-8",
    )
    for name, titles in {
        "list.txt": ["First idea", "Second idea"],
        "headed.md": ["First idea", "Second idea"],
        "prose.txt": ["We could let every tool explain why its call failed"],
    }.items():
        read = read_steering(None, [Path(name)], [], "tools")
        assert read is not None
        assert [one.title[: len(title)] for one, title in zip(read.own, titles, strict=True)] == titles
    Path("many.txt").write_text("\n".join(f"Idea {n}" for n in range(MAX_OWN + 1)), encoding="utf-8")
    Path("empty.txt").touch()
    for focus, own, message in (
        (" ", [], "--focus is empty"),
        ("word " * 101, [], "--focus has 101 words; the limit is 100"),
        (None, ["missing.md"], "--like missing.md"),
        (None, ["empty.txt"], "--like empty.txt"),
        (None, ["many.txt"], "--like has 51 ideas; the limit is 50"),
    ):
        with pytest.raises(UsageError, match=message) as raised:
            read_steering(focus, [Path(name) for name in own], [], "tools")
        assert "\n" not in str(raised.value)


def test_ideas_of_all_runs_in_a_folder_can_be_avoided() -> None:
    for folder in ("runs/a", "runs/b"):
        Ran(task_of("direct", topic=f"tools {folder[-1]}"), folder=folder)
    read = read_steering(None, [], [Path("runs")], "tools")
    assert read is not None
    assert len(read.avoided) == 2
