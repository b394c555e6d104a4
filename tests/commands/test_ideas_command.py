"""``ideagora ideas``: what it prints, what it keeps, how it ends."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ideagora.importing import read_ideas
from tests.support.command import Done, run
from tests.support.each import each_case
from tests.support.idea_files import COI, PLAIN, SCIENTIST, write_json, write_jsonl


def ideas(*arguments: str | Path) -> Done:
    return run(["ideas", *map(str, arguments)])


@pytest.fixture
def home() -> Path:
    return Path(os.environ["IDEAGORA_HOME"])


def test_import_show_and_list(tmp_path: Path, home: Path) -> None:
    file = write_json(tmp_path / "a.json", [SCIENTIST, None, {**SCIENTIST, "Title": "x\x1b[2Jy"}])
    done = ideas("import", file, "--as", "guest", "--topic", "glue")
    assert done.code == 0, done.err
    assert "Ideas: 2 from ai-scientist, 2 new, 0 already imported; 1 topic, by guest." in done.out
    assert "2 without motivation, 2 without novelty" in done.out
    assert "record 2" in done.err
    assert "failed run" in done.err
    stored = home / "ideas" / "guest.jsonl"
    content = stored.read_bytes()

    again = ideas("import", file, "--as", "guest", "--topic", "glue")
    assert "0 new, 2 already imported" in again.out
    assert stored.read_bytes() == content

    more = ideas("import", write_jsonl(tmp_path / "b", [PLAIN]), "--as", "guest", "--json")
    output = json.loads(more.out)
    assert (output["imported"], output["new"], output["file"], output["problems"]) == (1, 1, str(stored), [])
    assert len(read_ideas(stored).ideas) == 3

    listed = json.loads(ideas("list", "--json").out)
    assert [(row["name"], row["ideas"], row["topics"]) for row in listed] == [("guest", 3, 2)]
    assert "guest" in ideas("list").out
    shown = ideas("show", "guest")
    assert SCIENTIST["Title"] in " ".join(shown.out.split())
    assert "\x1b[2J" not in shown.out
    whole = ideas("show", "guest", output["ideas"][0][:6])
    assert PLAIN["method"] in whole.out
    assert json.loads(ideas("show", "guest", output["ideas"][0], "--json").out)[0]["title"] == PLAIN["title"]


def test_json_lists_what_was_left_out(tmp_path: Path) -> None:
    done = ideas(
        "import", write_json(tmp_path / "a", [COI, {**COI, "idea": None}]), "--as", "guest", "--json"
    )
    assert (done.code, done.err) == (0, "")
    (problem,) = json.loads(done.out)["problems"]
    why = "null (failed run?)"
    assert problem == {"file": "a", "row": "record 2", "field": "idea", "why": why}


def test_without_a_name_ideas_keep_the_forms(tmp_path: Path, home: Path) -> None:
    assert ideas("import", write_json(tmp_path / "a", [COI])).code == 0
    assert (home / "ideas" / "coi-agent.jsonl").exists()


def test_a_plain_files_name_is_the_name(tmp_path: Path, home: Path) -> None:
    assert ideas("import", write_jsonl(tmp_path / "mine.jsonl", [PLAIN])).code == 0
    assert (home / "ideas" / "mine.jsonl").exists()


def test_out_names_the_file(tmp_path: Path, home: Path) -> None:
    out = tmp_path / "deep" / "mine.jsonl"
    done = ideas("import", write_json(tmp_path / "a", [COI]), "--as", "guest", "--out", out)
    assert done.code == 0, done.err
    assert f"ideagora ideas show {out}" in done.out
    assert read_ideas(out).ideas[0].agent == "guest"
    assert not (home / "ideas").exists()
    assert "Planks" in ideas("show", out).out


@each_case(
    "arguments, code, message",
    [
        (["import"], 2, "Usage: ideagora ideas import"),
        (["import", "scientist", "--as", "guest"], 2, "--topic"),
        (["import", "scientist", "--as", "guest", "--topic", " "], 2, "--topic is empty"),
        (["import", "coi", "--as", "../guest"], 2, "is not a valid name"),
        (["import", "coi", "--as", "chain-of-ideas"], 2, "the name of a built-in agent"),
        (["import", "gone", "--as", "guest"], 1, "cannot be read"),
        (["import", "unknown", "--as", "guest"], 1, "Known formats:"),
        (["import", "failed", "--as", "guest"], 1, "no idea could be imported"),
        (["import", "coi", "--as", "guest", "--out", "unknown"], 1, "has no known format"),
        (["import", "coi", "--as", "guest", "--out", "plain"], 1, "is not a file of imported ideas"),
        (["show", "nobody"], 1, "No ideas found for 'nobody'"),
        (["show", "coi", "zzz"], 1, "starts with 'zzz'"),
        (["show", "scientist"], 2, "--topic"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[str], code: int, message: str) -> None:
    write_json(Path("coi"), [COI])
    write_json(Path("scientist"), [SCIENTIST])
    write_json(Path("unknown"), [{"rank": 1, "who": "x"}])
    write_json(Path("plain"), [PLAIN])
    write_json(Path("failed"), [{**COI, "idea": None}])
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    done = ideas(*arguments)
    assert done.code == code, done.err
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert {path: path.read_bytes() for path in before} == before


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    file = write_json(tmp_path / "a", [COI])
    blocked = write_json(tmp_path / "blocked", "a file, no folder")
    done = ideas("import", file, "--as", "guest", "--out", blocked / "ideas.jsonl")
    assert done.code == 1
    assert "cannot be used" in done.err
    assert stat.S_ISREG(blocked.stat().st_mode)


def test_formats_are_listed() -> None:
    assert {"plain", "coi-agent", "scipip"} <= {
        row["name"] for row in json.loads(ideas("formats", "--json").out)
    }
    assert "coi-agent" in ideas("formats").out


def test_nothing_imported_yet_says_how() -> None:
    assert "ideagora ideas import" in ideas("list").out
