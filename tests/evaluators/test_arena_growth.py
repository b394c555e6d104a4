"""The same folder with one contestant or topic more: the arena grows and pays for what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import command
from tests.support.arena_world import TOPICS, Held, field, idea, judge, write

pytestmark = pytest.mark.usefixtures("home")


def test_one_contestant_more_in_the_same_folder_pays_for_its_pairs_only() -> None:
    first = Held(field({"alpha": 3, "beta": 1}), judge())
    assert len(first.chat.calls) == 6
    grown = Held(field({"alpha": 3, "beta": 1, "gamma": 2}), judge())
    assert grown.code == 0
    assert grown.ranking == ["alpha", "gamma", "beta"]
    assert len(grown.verdicts) == 18
    assert len(grown.chat.calls) == 12, "two new pairs on three topics in both orders"
    again = Held(field({"alpha": 3, "beta": 1, "gamma": 2}), judge())
    assert again.code == 0
    assert not again.chat.calls
    apart = Held(field({"alpha": 3, "beta": 1, "gamma": 2}), judge(), out="apart")
    assert not apart.chat.calls
    assert apart.board["ranking"] == grown.board["ranking"]


def test_one_topic_more_in_the_same_folder_pays_for_it_only() -> None:
    Held(field({"alpha": 3, "beta": 1}, TOPICS[:2]), judge())
    grown = Held(field({"alpha": 3, "beta": 1}), judge())
    assert (grown.code, len(grown.chat.calls)) == (0, 2)
    assert grown.board["n_topics"] == 3


def test_an_arena_grows_by_an_agent_and_keeps_its_runs(tmp_path: Path) -> None:
    held = [*field({"alpha": 3}, TOPICS[:1]), "direct"]
    shared = ["--topic", TOPICS[0], "--out", "arena", "--no-page", "--json"]
    assert command.run(["arena", *held, *shared]).code == 0
    done = command.run(["arena", *held, "rag", *shared])
    assert done.code == 0, done.err
    names = {row["agent"] for row in json.loads(done.out)["leaderboard"]["ranking"]}
    assert names == {"alpha", "direct", "rag"}


def test_imported_names_are_found_in_the_home_that_is_given() -> None:
    write("made", [idea("made", TOPICS[0], 1)])
    write("other", [idea("other", TOPICS[0], 2)])
    for name in ("made", "other"):
        done = command.run(["ideas", "import", f"{name}.jsonl", "--as", name, "--home", "elsewhere"])
        assert done.code == 0, done.err
        Path(f"{name}.jsonl").unlink()
    done = command.run(["arena", "ideas:made", "other", "--home", "elsewhere", "--no-page", "--json"])
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["leaderboard"]["ranking"]) == 2
    done = command.run(
        ["generate", TOPICS[0], "--agent", "ideas:made", "--home", "elsewhere", "--json", "--quiet"]
    )
    assert done.code == 0, done.err
    done = command.run(["agents", "check", "ideas:made", "--topic", TOPICS[0], "--home", "elsewhere"])
    assert "no ideas found" not in done.out + done.err
    done = command.run(["arena", "ideas:made", "ideas:other"])
    assert done.code == 1
    assert "No ideas found for 'made'" in done.err
