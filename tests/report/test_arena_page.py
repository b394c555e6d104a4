"""The arena's page: every figure that is there, every one that is missing, and no foreign text at work."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ideagora.errors import RunError
from ideagora.report.arena.page import write_arena_report
from ideagora.schema import Idea
from tests.report.test_report_safety import ATTRIBUTES, TAGS
from tests.support.arena_samples import arena_folder, leaderboard, row
from tests.support.report_pages import EVIL, Page


def page_of(folder: Path) -> Page:
    return Page(write_arena_report(folder)[1].read_text(encoding="utf-8"))


def test_the_page_shows_ranking_audit_neighbours_and_what_is_missing(tmp_path: Path) -> None:
    held = leaderboard()
    held["contestants"][2]["missing"] = [{"topic": "another", "reason": "it raised ValueError"}]
    page = page_of(arena_folder(tmp_path, held))
    for words in (
        "3 contestants on 2 topics", "11 of 12 verdicts scored", "1040 to 1120", "Two topics are few",
        "agreement between judges, Cohen's kappa (there is one judge only) – –", "0.91",
        "another: it raised ValueError", "1 × the judge refused", "2 × speaks to the judge",
        "Rating corrected for position, length and judge",
    ):  # fmt: skip
        assert words in page.text
    assert "as in the paper" not in page.text
    assert [level for level, _ in page.headings][:1] == [1]


def test_plots_are_files_of_both_kinds_and_stand_in_the_page(tmp_path: Path) -> None:
    page = page_of(arena_folder(tmp_path, leaderboard()))
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert len(images) == 3
    for image, name in zip(images, ("ratings", "criteria", "win-rates"), strict=True):
        svg = (tmp_path / "plots" / f"ideas-{name}.svg").read_bytes()
        assert base64.b64decode((image["src"] or "").removeprefix("data:image/svg+xml;base64,")) == svg
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert (tmp_path / "plots" / f"ideas-{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_leaderboard_gives_the_same_bytes(tmp_path: Path) -> None:
    folders = [arena_folder(tmp_path / name, leaderboard()) for name in "ab"]
    pages = [[path.read_bytes() for path in write_arena_report(folder)] for folder in folders]
    assert pages[0] == pages[1]


def test_figures_that_are_missing_are_shown_as_missing(tmp_path: Path) -> None:
    held = leaderboard() | {
        "status": "nothing_scored", "criteria": {}, "audit": {}, "separation": [], "bias_aware": None,
        "ranking": [row("rag", None, None), row("direct", None, None)],
        "win_rates": {"agents": ["rag", "direct"], "matrix": [[None, None], [None, None]]},
    }  # fmt: skip
    page = page_of(arena_folder(tmp_path, held))
    assert "Status: nothing scored." in page.text
    assert "The judges were not audited." in page.text
    assert "The separation of neighbours is unknown." in page.text
    assert "None" not in page.text
    assert "nan" not in page.text.lower().split()


def test_experiments_and_the_paper_s_rating_get_their_own_parts(tmp_path: Path) -> None:
    held = leaderboard()
    board = {"ranking": held["ranking"], "criteria": {"feasibility": held["ranking"]}}
    page = page_of(arena_folder(tmp_path, held | {"experiments": board, "paper": board}))
    headings = [heading for level, heading in page.headings if level == 2]
    assert {"Experiment designs", "Rating as in the paper (Elo)"} <= set(headings)


def test_hostile_names_topics_and_ideas_stay_text(tmp_path: Path) -> None:
    held = leaderboard(agents=(EVIL, "$x^2$ \\frac", "rag\x00\ud83d\u202e"))
    held["notes"], held["topics"] = [EVIL], [EVIL]
    held["coverage"] |= {"reasons": {EVIL: 1}, "flags": {EVIL: 1}}
    idea = Idea(id="i", topic=EVIL, agent=EVIL, title=EVIL, motivation=EVIL, novelty=EVIL, method=EVIL)
    page = page_of(arena_folder(tmp_path, held, [idea]))
    assert {tag for tag, _ in page.tags} <= TAGS | {"img"}
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES | {"src", "alt"}
    assert not page.links
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    read = Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    assert "script" not in {tag for tag, _ in read.tags}
    assert {attrs["src"] for tag, attrs in read.tags if tag == "img"} == {
        f"plots/ideas-{name}.svg" for name in ("ratings", "criteria", "win-rates")
    }
    assert not read.links


def test_a_folder_without_a_leaderboard_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"has no readable leaderboard\.json"):
        write_arena_report(tmp_path)
    (tmp_path / "leaderboard.json").write_text(json.dumps([]), encoding="utf-8")
    with pytest.raises(RunError):
        write_arena_report(tmp_path)


def test_a_leaderboard_of_an_older_version_lacks_fields_and_is_shown(tmp_path: Path) -> None:
    old = {
        "judges": ["j"], "n_topics": 1, "contestants": [{"agent": "rag"}], "future": 1,
        "ranking": [{"agent": "rag", "rating": 1000.0, "future": 1}], "coverage": {"asked": 2, "scored": 2},
    }  # fmt: skip
    page = page_of(arena_folder(tmp_path, old))
    assert "2 of 2 verdicts scored" in page.text
    assert "1000" in page.text
    (tmp_path / "leaderboard.json").write_text(json.dumps({"ranking": "rag"}), encoding="utf-8")
    with pytest.raises(RunError, match=r"has no readable leaderboard\.json"):
        write_arena_report(tmp_path)
