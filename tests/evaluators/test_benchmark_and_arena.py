"""Ideas of a benchmark's folder in an arena, and of an arena's folder in a benchmark."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.schema import Idea
from tests.support.arena_world import Held, always, judge
from tests.support.bench_world import Benched, write

KEYWORDS = ("stars", "fossils")
MARKS = ("atlas", "borealis", "secret thought", "coherence_score", "0.4242", "refused_first")
"""What tells who wrote an idea, and what was said of it before."""


def made(agent: str, keyword: str, number: int, **fields: Any) -> Idea:
    """An idea as a benchmark or an arena leaves it in its folder."""
    told = {
        "id": f"{agent} {keyword} {number}",
        "topic": keyword,
        "agent": f"model:lab/{agent}",
        "title": f"Plan {number}",
        "method": f"Count {keyword} {number} times by way {len(agent)}.",
        "model": f"lab/{agent}",
        "extra": {
            "reasoning": "secret thought", "novelty": 0.4242, "refused_first": True,
            "scores": {"coherence_score": 0.4242},
        },
    }  # fmt: skip
    return Idea(**{**told, **fields})


def reply(call: ScriptedCall) -> Any:
    """A judge of LiveIdeaBench."""
    if call.role == "liveideabench_fluency":
        return {"reason": "r", "letter": "B"}
    return {"analysis": "a", "originality": 8, "feasibility": 6, "clarity": 7}


def benched(specs: Sequence[str]) -> Benched:
    """LiveIdeaBench on the two keywords."""
    Path("keywords.csv").write_text("Keyword\n" + "\n".join(KEYWORDS) + "\n", encoding="utf-8")
    judges = dict.fromkeys(("lab/one", "den/two", "pub/three"), ScriptedChatModel(replies=reply))
    chosen: dict[str, Any] = {
        "benchmark": "liveideabench",
        "data": Path("keywords.csv"),
        "limit": None,
        "only": (),
    }
    return Benched(specs, judges=judges, **chosen)


def two_authors() -> list[str]:
    """Two files with two ideas for each keyword."""
    return [
        write(agent, [made(agent, keyword, number) for keyword in KEYWORDS for number in (1, 2)])
        for agent in ("atlas", "borealis")
    ]


def prompts(chat: ScriptedChatModel) -> str:
    """Everything that a model was shown."""
    return "\n".join(json.dumps(call.inputs.model_dump(), default=str) for call in chat.calls)


def test_a_benchmarks_folder_enters_an_arena_with_all_its_contestants() -> None:
    run = benched(two_authors())
    assert run.code == 0
    home = Path(os.environ["IDEAGORA_HOME"])
    shutil.copytree("bench", home / "bench" / "named")
    for spec in ("bench", "named"):  # by its path, or by its name in the home
        held = Held([spec], judge(always("first")), out=f"arena-{spec}")
        assert held.code == 0
        assert set(held.board["topics"]) == set(KEYWORDS)
        names = [one["agent"] for one in held.board["contestants"]]
        assert names == ["model:lab/atlas", "model:lab/borealis"]
        assert "2 further ideas did not compete" in held.notes
        if spec == "bench":  # else the judge's answers are cached
            assert len(held.chat.calls) == 4
            assert not [mark for mark in MARKS if mark in prompts(held.chat)]


def test_an_arenas_folder_enters_a_benchmark_and_its_authors_do_not_judge_themselves() -> None:
    assert Held(two_authors(), judge(always("first"))).code == 0
    run = benched(["arena"])
    assert run.code == 0
    quality = [one for one in run.verdicts if one.kind == "quality"]
    assert {one.judge for one in quality} == {"den/two", "pub/three"}, "lab/one is of the authors' family"
    assert {(one.agents[0], one.sample) for one in quality} == {
        (f"model:lab/{agent}", keyword) for agent in ("atlas", "borealis") for keyword in KEYWORDS
    }
    assert run.chat.calls
    assert not [mark for mark in MARKS if mark in prompts(run.chat)]


def test_topics_that_do_not_match_are_an_error_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (spec, *_) = two_authors()
    held = Held([spec, "direct"], topic=["rivers"])
    said = capsys.readouterr().err
    assert (held.code, held.chat.calls) == (2, [])
    assert f"{spec} has no idea on “rivers”: its ideas are on “stars”, “fossils”." in said

    lost = write("lost", [made("lost", "rivers", 1)])
    run = benched([lost, spec])
    said = capsys.readouterr().err
    assert run.code == 2
    assert f"{lost} has no idea on “stars”, “fossils”: its ideas are on “rivers”. Choose samples" in said


def test_the_sample_of_another_benchmark_is_not_meant() -> None:
    """A sample's id may be one of several benchmarks; then the topic decides."""
    here = {"benchmark": "liveideabench", "sample": "stars"}
    other = {"benchmark": "ai-idea-bench", "sample": "stars"}
    ideas = [made("atlas", "fossils", 1, extra=other), made("atlas", "fossils", 2, extra=here)]
    ideas.append(made("atlas", "stars", 3, extra={}))
    run = benched([write("mixed", ideas)])
    assert [(idea.extra["sample"], idea.id[-1]) for idea in run.ideas] == [
        ("stars", "2"), ("stars", "3"), ("fossils", "1"),
    ]  # fmt: skip
