"""An arena that the offline model alone judges: a smoke test, in which saying less gains nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ideagora.evaluators.arena.leaderboard.records import leaderboard_from_json
from ideagora.registry import AGENTS
from ideagora.report.arena.terminal import show_leaderboard
from tests.support import command
from tests.support.arena_samples import leaderboard
from tests.support.arena_world import TOPICS, Held, field, judge
from tests.support.each import each_case
from tests.support.report_pages import Page

ECHO = """
def bare(topic, library):
    return [{"title": paper.title, "method": paper.abstract} for paper in library.search(topic.text, 1)]

def repeated(topic, library):
    paper = library.search(topic.text, 1)[0]
    return [{"title": paper.title, **dict.fromkeys(("motivation", "novelty", "method"), paper.abstract)}]

def split(topic, library):
    paper = library.search(topic.text, 1)[0]
    first, second, *rest = paper.abstract.split(". ")
    return [{"title": paper.title, "motivation": first, "novelty": second, "method": ". ".join(rest)}]
"""


def test_a_script_that_echoes_abstracts_does_not_come_first_and_no_interval_is_shown() -> None:
    Path("echo.py").write_text(ECHO, encoding="utf-8")
    contestants = [*(f"echo.py:{name}" for name in ("bare", "repeated", "split")), "direct"]
    asked = ["--topic", TOPICS[0], "--out", "arena"]
    done = command.run(["arena", *contestants, *asked], {"IDEAGORA_EMBEDDER": "hash"})
    assert done.code == 0, done.err
    board = json.loads(Path("arena/leaderboard.json").read_text(encoding="utf-8"))
    assert board["ranking"][0]["agent"] == "direct"
    assert board["smoke_test"] is True
    assert not _bounds(board)
    assert board["separation"] == []
    assert "Smoke test, not a ranking: Ideas on 1 topic" in done.out
    table = done.out.split("contestant  novelty")[0].split("• ")[0]
    assert "95 %" not in table
    assert "not separated" not in done.out
    markdown = Path("arena/report.md").read_text(encoding="utf-8")
    page = Page(Path("arena/report.html").read_text(encoding="utf-8"))
    for text in (markdown, page.text):
        assert "Smoke test, not a ranking" in text
        assert "95 %" not in text


def test_a_judge_that_is_a_model_gives_a_ranking_with_intervals() -> None:
    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}), judge(), page=True)
    assert held.board["smoke_test"] is False
    assert "Smoke test" not in Path("arena/report.md").read_text(encoding="utf-8")


def _bounds(told: Any) -> list[Any]:
    """All bounds that a record gives."""
    if isinstance(told, list):
        return [bound for one in told for bound in _bounds(one)]
    if not isinstance(told, dict):
        return []
    own = [told[name] for name in ("low", "high", "rank_low", "rank_high") if told.get(name) is not None]
    return [*own, *(bound for one in told.values() for bound in _bounds(one))]


@each_case("columns", [60, 80, 200])
def test_no_width_of_terminal_cuts_a_figure(columns: int) -> None:
    board = leaderboard(agents=("chain-of-ideas/no-entities", "a-name-of-some-length", "rag")) | {
        "smoke_test": False, "paper": None, "bias_aware": None, "refits": None,
    }  # fmt: skip
    board["audit"] = {}
    told = io.StringIO()
    show_leaderboard(
        Console(file=told, width=columns), leaderboard_from_json(board), "folder", None, both=False
    )
    assert told.getvalue().count("1080") == told.getvalue().count("940") == 1 + len(board["criteria"])
    assert "…" not in told.getvalue().split("•")[0]
    assert columns < 80 or "1040 to 1120" in told.getvalue()


@pytest.mark.slow
def test_all_agents_meet_in_one_arena(home: Path) -> None:
    """Every built-in agent but the ablations, and a published paper, on two topics, offline."""
    agents = sorted(name for name in AGENTS if "/" not in name and name != "real-paper")
    contestants = [*agents, "paper=real-paper:arxiv:2210.03629"]
    assert len(contestants) == 12
    topics = [argument for topic in TOPICS[:2] for argument in ("--topic", topic)]
    done = command.run(["arena", *contestants, *topics, "--out", "arena"])
    assert done.code == 0, done.err
    board = json.loads(Path("arena/leaderboard.json").read_text(encoding="utf-8"))
    assert {row["agent"] for row in board["ranking"]} == {*agents, "paper"}
    rows = Path("arena/report.md").read_text(encoding="utf-8")
    for name in (*agents, "paper"):
        assert f"| {name} |" in rows, name
        assert name in done.out
