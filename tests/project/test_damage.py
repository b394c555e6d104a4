"""A run's folder with damaged files, an output that is not UTF-8, and an impatient user."""

from __future__ import annotations

import codecs
import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from ideagora.cli import main as cli
from tests.graphs.test_runtime import Ran, task_of
from tests.support import command, standin
from tests.support.loopback import Loopback

TOPIC = "tool use by language models"


@pytest.fixture
def server(server: Loopback, home: Path) -> Loopback:
    """The server that the command asks, beside a home whose store is filled."""
    return server


def direct(server: Loopback, *more: str) -> list[str]:
    base = ["--model", "openai/standin", "--api-base", server.base, "--retries", "0"]
    return ["generate", TOPIC, "--agent", "direct", "--out", "run", *base, *more]


def test_ideas_that_were_lost_from_a_finished_run_are_generated_again(caplog: Any) -> None:
    task = task_of(branches=2, length=2)
    Ran(task)
    path = Path("run/ideas.jsonl")
    whole = path.read_bytes()
    for damaged in (b"", whole.split(b"\n")[0] + b"\n", whole[:-200], whole.replace(b"Idea", b"idea", 1)):
        path.write_bytes(damaged)
        again = Ran(task)
        assert (path.read_bytes(), again.calls) == (whole, [])
    assert "has changed since it was written" in caplog.text


def test_a_truncated_record_is_renamed_and_the_run_begins_again(caplog: Any) -> None:
    task = task_of(branches=2, length=2)
    Ran(task)
    whole = Path("run/ideas.jsonl").read_bytes()
    Path("run/run.json").write_text('{"id": "')
    again = Ran(task)
    assert (Path("run/ideas.jsonl").read_bytes(), again.calls) == (whole, [])
    (aside,) = Path("run").glob("run.json.damaged-*")
    assert aside.read_text() == '{"id": "'
    assert aside.name in caplog.text
    assert [one.read_bytes() for one in Path("run").glob("ideas.jsonl.damaged-*")] == [whole]


def test_damaged_events_end_in_no_traceback() -> None:
    task = task_of(branches=2, length=2)
    Ran(task)
    path = Path("run/events.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    calls = [one for one in lines if one["event"] == "call"]
    damages: list[dict[str, Any]] = [
        {"role": None}, {"usage": "x"}, {"usage": {"calls": "many"}}, {"worth": {"calls": -1}},
        {"billed": None},
    ]  # fmt: skip
    broken = [{**calls[0], **damage} for damage in damages]
    broken += [{name: value for name, value in calls[0].items() if name != gone} for gone in calls[0]]
    broken += [{"event": name} for name in ("request", "literature", "held back", "outage", "begin", "step")]
    record = json.loads(Path("run/run.json").read_text())
    for one in broken:
        path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, one]))
        Path("run/run.json").write_text(json.dumps({**record, "status": "interrupted"}))
        assert len(Ran(task).ideas) == 2, one


def test_a_run_that_stopped_before_its_first_checkpoint_begins_in_its_events() -> None:
    task = task_of(branches=1, length=1)
    Ran(task)
    record = json.loads(Path("run/run.json").read_text())
    Path("run/run.json").write_text(json.dumps({**record, "status": "running"}))
    for name in ("events.jsonl", "ideas.jsonl", *(path.name for path in Path("run").glob("checkpoints*"))):
        Path("run", name).unlink()
    Ran(task)
    assert json.loads(Path("run/events.jsonl").read_text().splitlines()[0])["event"] == "begin"


def test_folders_of_a_run_are_for_their_owner_alone() -> None:
    before = os.umask(0o022)
    try:
        Ran(task_of(branches=1, length=1), folder="new/home/run")
    finally:
        os.umask(before)
    for folder in ("new", "new/home", "new/home/run"):
        assert Path(folder).stat().st_mode & 0o777 == 0o700, folder
    for name in ("run.json", "ideas.jsonl", "events.jsonl"):
        assert Path("new/home/run", name).stat().st_mode & 0o777 == 0o600, name


def test_an_output_that_is_not_utf_8_ends_no_finished_run_in_a_traceback(
    model: standin.Model, server: Loopback
) -> None:
    def reply(body: Any) -> str:
        return standin.answer(body).replace("says what", "says “—” 😀 \\u00e9 what")

    model.reply = reply
    latin = command.start(direct(server, "--json"), {"PYTHONIOENCODING": "latin-1"})
    latin.process.join(command.SECONDS)
    written = (latin.folder / "out").read_text(encoding="latin-1")
    done = latin.wait()
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    assert "“—” 😀 é" in json.loads(written)["ideas"][0]["method"]
    plain = command.run(direct(server), {"PYTHONIOENCODING": "ascii"})
    assert (plain.code, "Traceback" in plain.err) == (0, False), plain.err
    assert plain.out.isascii()
    codecs.register_error("ideagora", cli._escape_unencodable)
    escaped = json.dumps({"a": "“😀\udc80é"}, ensure_ascii=False).encode("latin-1", "ideagora")
    assert json.loads(escaped.decode("latin-1")) == {"a": "“😀\udc80é"}


def test_three_interrupts_print_no_traceback(model: standin.Model, server: Loopback) -> None:
    model.seconds = lambda body: 0.5
    for pause in (0.0, 0.05, 0.2):
        before = len(model.asked)
        running = command.start(direct(server, "--seed", str(int(pause * 100))))
        model.wait_for(before + 1, unless=running.has_ended)
        for _ in range(3):
            if not running.has_ended():
                running.send(signal.SIGINT)
                time.sleep(pause)
        ended = running.wait()
        assert "Traceback" not in ended.err, ended.err
        assert ended.code in (130, -signal.SIGINT)
        shutil.rmtree("run")
        model.wait_until_quiet()


def test_an_empty_topic_is_bad_usage() -> None:
    for topic in ("", "  ", "…"):
        assert command.run(["generate", topic]).code == 2


def test_a_new_home_is_for_its_owner_alone() -> None:
    calls = {
        "one": ["generate", TOPIC, "--agent", "direct", "--out", "run", "--home", "one"],
        "two": ["library", "add", "paper.md", "--home", "two"],
    }
    Path("paper.md").write_text("# A paper on tools\n\nWe call tools.\n")
    before = os.umask(0o022)
    try:
        for call in calls.values():
            command.run(call, {"IDEAGORA_EMBEDDER": "hash"})
    finally:
        os.umask(before)
    for home in calls:
        assert Path(home).stat().st_mode & 0o777 == 0o700, home


def test_an_import_makes_a_new_home_for_its_owner_alone() -> None:
    Path("ideas.jsonl").write_text('{"title": "A bridge", "method": "Build it."}\n', encoding="utf-8")
    old = os.umask(0o022)
    try:
        done = command.run(["ideas", "import", "ideas.jsonl", "--as", "me", "--topic", "bridges"])
    finally:
        os.umask(old)
    assert done.code == 0, done.err
    home = Path(os.environ["IDEAGORA_HOME"])
    assert (home.stat().st_mode & 0o777, (home / "ideas").stat().st_mode & 0o777) == (0o700, 0o700)
