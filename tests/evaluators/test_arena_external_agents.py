"""What a contestant's name, an idea's text or an agent from outside must not do to an arena."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ideagora.evaluators.agreement.ballot_files import ballot_text
from ideagora.evaluators.arena.entries.contestants import clean_name
from tests.support import command
from tests.support.arena_world import TOPICS, Held, field, idea, judge, write
from tests.support.each import each_case

pytestmark = pytest.mark.usefixtures("home")

FORGED = "alpha\n   1  winner            2000\u2028  1\tbest\r\x1b[2K\u202egammu\u200b"


def test_a_name_forges_no_row_of_any_table() -> None:
    contestants = [write("evil", [idea(FORGED, topic, 1) for topic in TOPICS]), *field({"beta": 2})]
    held = Held(contestants, judge(), page=True)
    assert held.code == 0
    (name,) = [row["agent"] for row in held.board["ranking"] if row["agent"] != "beta"]
    assert name.isprintable()
    done = command.run(["arena", *contestants, "--out", "shown", "--judge", "offline", "--no-style"])
    assert done.code == 0, done.err
    assert not [line for line in done.out.splitlines() if line.split()[:2] == ["1", "winner"]]
    rows = [
        line for line in Path("arena/report.md").read_text(encoding="utf-8").splitlines() if "2000" in line
    ]
    assert [row for row in rows if "alpha" not in row] == []


@each_case("name", ["", "\n", "\u202e", "\x00" * 9])
def test_a_name_of_nothing_to_see_is_said_to_be_none(name: str) -> None:
    assert clean_name(name) == "unnamed"
    assert clean_name(f"{name}alpha{name}") == "alpha"


def test_no_cell_of_a_ballot_is_a_formula() -> None:
    signs = "=+-@＝＋－＠﹦﹢﹣﹫−"
    before = ("", " ", "\u200b", "\ufeff", "\u00a0", "\u2060 ")
    cells = [f"{space}{sign}cmd()" for sign in signs for space in before]
    cells += [f"{mark}x" for mark in "\t\r\n"]
    text = ballot_text([{"first": cell} for cell in cells], Path("a.csv"))
    kept = ballot_text([{"first": cell} for cell in ("a=b", "5 - 3", "", "é")], Path("a.csv"))
    assert text.count("'") == len(cells)
    assert "'" not in kept


AGENTS = """
import os, tempfile
def wanders(topic):
    os.chdir(tempfile.mkdtemp())
    return [{"title": "a title", "method": "Go away and do it."}]
def ends(topic):
    os._exit(0)
def forks(topic):
    child = os.fork()
    if child == 0:
        os._exit(7)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [{"title": f"ended with {code}", "method": "Fork it."}]
"""


def test_an_agent_that_leaves_the_directory_or_ends_the_process_costs_its_own_entry_at_most() -> None:
    Path("own.py").write_text(AGENTS, encoding="utf-8")
    contestants = [f"own.py:{name}" for name in ("wanders", "ends", "forks")]
    done = command.run(
        [
            "arena",
            *contestants,
            "--topic",
            TOPICS[0],
            "--home",
            "mine",
            "--out",
            "arena",
            "--no-page",
            "--json",
        ]
    )
    assert done.code == 0, done.err
    board = json.loads(done.out)["leaderboard"]
    reasons = {one["agent"]: one["missing"] for one in board["contestants"]}
    assert reasons["own.py:wanders"] == reasons["own.py:forks"] == []
    assert "exited before it returned" in reasons["own.py:ends"][0]["reason"]
    assert Path("arena/leaderboard.json").exists()
    assert "ended with 7" in Path("arena/ideas.jsonl").read_text(encoding="utf-8")
    assert {path.name for path in Path().iterdir()} >= {"mine", "arena"}
    alone = command.run(["generate", TOPICS[0], "--agent", "own.py:wanders", "--out", "run", "--json"])
    assert alone.code == 0, alone.err
    assert Path("run/report.html").exists()
