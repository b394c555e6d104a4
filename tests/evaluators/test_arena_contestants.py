"""What can be named as a contestant: agents, files, runs, imports, and labels for each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ideagora.errors import UsageError
from ideagora.evaluators.arena.entries.contestants import choose_topics, locate_ideas, resolve_contestants
from ideagora.evaluators.arena.entries.lineup import Lineup
from ideagora.evaluators.arena.entries.selection import build_lineup
from ideagora.evaluators.arena.tournament import without_unstyled
from ideagora.schema import Topic
from tests.support import command
from tests.support.arena_world import TOPICS, field, idea, write

HOME = Path("home")


def run_folder(place: str, agent: str, topic: str) -> Path:
    """A run's folder as a finished run leaves it."""
    folder = Path(place)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"id": "x", "status": "done"}), encoding="utf-8")
    (folder / "events.jsonl").write_text('{"event": "note"}\n', encoding="utf-8")
    lines = [idea(agent, topic, 5 - number, number).model_dump_json() + "\n" for number in range(2)]
    (folder / "ideas.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def test_agents_files_runs_and_imports() -> None:
    (alpha,) = field({"alpha": 1})
    run_folder("runs/one", "runner", TOPICS[0])
    run_folder("runs/two", "runner", TOPICS[1])
    (HOME / "ideas").mkdir(parents=True)
    Path("alpha.jsonl").rename(HOME / "ideas" / "kept.jsonl")
    write("alpha", [idea("alpha", TOPICS[0], 1)])
    named = resolve_contestants(
        ["chain-of-ideas", "short=chain-of-ideas/no-trend", alpha, "kept-ones=kept", "runs", "solo=runs/two"],
        HOME,
        [],
    )
    assert named.names == ("alpha", "chain-of-ideas", "kept-ones", "runner", "short", "solo")
    idea_sets = {one.name: [found.topic for found in one.ideas] for one in named.idea_sets}
    assert idea_sets["kept-ones"] == list(TOPICS)
    assert idea_sets["runner"] == [TOPICS[0], TOPICS[0], TOPICS[1], TOPICS[1]]
    assert idea_sets["solo"] == [TOPICS[1]] * 2
    assert [one.agent.name for one in named.agents] == ["chain-of-ideas", "chain-of-ideas/no-trend"]


def test_an_agent_keeps_its_name_where_an_import_has_it_too() -> None:
    (HOME / "ideas").mkdir(parents=True)
    (HOME / "ideas" / "chain-of-ideas.jsonl").write_text("", encoding="utf-8")
    Path("chain-of-ideas").mkdir()
    assert locate_ideas("chain-of-ideas", HOME) == []
    assert locate_ideas("ideas:chain-of-ideas", HOME) == [Path("chain-of-ideas")]


def test_a_plug_in_is_no_file_of_ideas() -> None:
    Path("mine.py").touch()
    assert locate_ideas("mine.py:Agent", HOME) == []
    assert locate_ideas("mine.py", HOME) == []
    assert locate_ideas("command:./mine --fast=1", HOME) == []


def test_topics_are_those_of_the_files_where_none_are_given() -> None:
    named = resolve_contestants([*field({"alpha": 1}), "chain-of-ideas"], HOME, [])
    assert tuple(topic.text for topic in choose_topics(named, ())) == TOPICS
    given = (Topic(text=TOPICS[0]),)
    assert choose_topics(named, given) == given
    with pytest.raises(UsageError, match="Give --topic TEXT or --topics FILE"):
        choose_topics(resolve_contestants(["chain-of-ideas", "again=chain-of-ideas"], HOME, []), ())


def lineup() -> Lineup:
    named = resolve_contestants(field({"alpha": 1, "beta": 2}), HOME, [])
    return build_lineup(named.idea_sets, ())


def test_the_patience_with_agents_from_outside_can_be_said() -> None:
    done = command.run(["arena", *field({"alpha": 1, "beta": 2}), "--agent-timeout", "0"])
    assert done.code == 2
    assert "--agent-timeout is 0.0" in done.err


def test_a_lineup_changes_its_digest_with_any_text() -> None:
    one = lineup()
    write("alpha", [idea("alpha", topic, 1, method="Another one.") for topic in TOPICS])
    named = resolve_contestants(["ideas:alpha.jsonl", "ideas:beta.jsonl"], HOME, [])
    assert one.digest == lineup().digest
    assert one.digest != build_lineup(named.idea_sets, ()).digest


def test_an_entry_taken_out_is_missing_with_its_reason() -> None:
    less = without_unstyled(lineup(), [[1, 0, "no style"]])
    assert [len(one.ideas) for one in less.contestants] == [2, 3]
    (gone,) = less.contestants[0].missing
    assert (gone.topic, gone.reason) == (TOPICS[1], "no style")
    assert less.entered() == [[True, True], [False, True], [True, True]]
