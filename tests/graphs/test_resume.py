"""Promise 2: a stop at any moment loses no answered call and changes no result.

The command line runs in processes of its own against a loopback server and is stopped in every way
that there is: killed, interrupted, out of budget, let down by its provider.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support import command, standin
from tests.support.loopback import Answer, Body, Fault, Loopback

TOPIC = "tool use by language models"
RUN = Path("run")
"""Where runs go, in the test's own folder."""
WHOLE = ("--branches", "4", "--length", "6", "--refinements", "2")
SMALL = ("--branches", "2", "--length", "3")
PRICES = ("--price-prompt", "100", "--price-completion", "100")
LIMITED = (*PRICES, "--completion-limit", "800")


pytestmark = pytest.mark.usefixtures("home")


def arguments(server: Loopback, *more: str, out: Path = RUN) -> list[str]:
    """The command with few branches; ``WHOLE`` after it makes it larger than the default."""
    base = ["--model", "openai/standin", "--api-base", server.base, "--retries", "0"]
    return ["generate", TOPIC, "--json", "--out", str(out), *base, *SMALL, *more]


def done(server: Loopback, *more: str, out: Path = RUN, home: Path | None = None) -> command.Done:
    """Run the command to its end, which has to be a good one."""
    ended = command.run(arguments(server, *more, out=out), {"IDEAGORA_HOME": str(home)} if home else None)
    assert ended.code == 0, ended.err
    return ended


def record(run: Path = RUN) -> dict[str, Any]:
    contents: dict[str, Any] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return contents


def files(run: Path = RUN) -> tuple[str, str]:
    """Ideas and report as they are, but for the line on how many answers the cache gave."""
    ideas, report = ((run / name).read_bytes().decode() for name in ("ideas.jsonl", "report.md"))
    assert "from the cache.\n" in report
    return ideas, re.sub(r"(?m)^.* came from the cache\.$", "", report)


def timeless(run: Path) -> tuple[str, str]:
    """The same without when and how long, which is what another home may differ in."""
    ideas, report = files(run)
    normalized = re.sub(r'"(created|seconds)":("[^"]*"|[\d.]+)', r'"\1":0', ideas)
    assert '"created":0' in normalized
    return normalized, report


def stored_replies(home: Path, scratch: Path) -> set[str]:
    """The replies in the cache, read from a copy so that the cache stays as the kill left it."""
    place = home / "cache"
    if not (place / "answers.sqlite").exists():
        return set()
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(place, scratch)
    with sqlite3.connect(scratch / "answers.sqlite") as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master")]
        rows = db.execute("SELECT answer FROM answers").fetchall() if "answers" in tables else []
    db.close()
    return {json.loads(row)["text"] for (row,) in rows}


def test_kill_at_any_moment(model: standin.Model, server: Loopback, home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "home")
    done(server, *WHOLE, out=Path("whole"), home=tmp_path / "home")
    model.asked.clear()
    model.seconds = lambda body: 0.02 + len(json.dumps(body)) % 5 / 100  # or answers come in bursts

    chance = random.Random(20)
    seen_by_kill: list[tuple[int, set[str]]] = []
    while len(seen_by_kill) < 10 or (_moments(seen_by_kill) < 5 and len(seen_by_kill) < 25):
        enough = len(model.asked) + chance.randrange(1, 9)
        running = command.start(arguments(server, *WHOLE))
        model.wait_for(enough, unless=running.has_ended)
        running.process.join(chance.uniform(0, 0.05))
        if running.has_ended():  # on a fast machine there may be nothing left to kill
            assert running.wait().code == 0
            break
        running.send(signal.SIGKILL)
        assert running.wait().code == -signal.SIGKILL
        model.wait_until_quiet()
        stored = stored_replies(home, tmp_path / "copy")
        seen_by_kill.append((len(model.asked), stored))
        # Stored before used: what went into a later prompt is in the cache.
        replies = {asked.word: asked.reply for asked in model.asked}
        used = set().union(*(asked.words for asked in model.asked))
        assert {replies[word] for word in used & replies.keys()} <= stored
    assert len(seen_by_kill) >= 7
    assert _moments(seen_by_kill) >= 5, "the kills came at the same moments"

    done(server, *WHOLE)
    for number, stored in seen_by_kill:
        assert not [asked.wanted for asked in model.asked[number:] if asked.reply in stored]
    assert timeless(RUN) == timeless(Path("whole"))
    # What was out when a kill came is on the bill too: the provider was asked.
    assert record()["usage"]["total"]["calls"] >= len(model.bodies) > len(set(model.bodies))
    assert record()["usage"]["estimated_calls"] >= len(model.bodies) - len(set(model.bodies))

    before, asked = files(), len(model.asked)
    done(server, *WHOLE, "--fresh")
    assert (files(), len(model.asked)) == (before, asked)


def _moments(kills: list[tuple[int, set[str]]]) -> int:
    """How many kills found another number of answers stored."""
    return len({len(stored) for _, stored in kills})


def test_kill_of_a_new_interpreter(model: standin.Model, server: Loopback, home: Path) -> None:
    model.seconds = lambda body: 0.03
    running = command.fresh_interpreter(arguments(server))
    model.wait_for(8, unless=lambda: running.poll() is not None)
    running.kill()
    assert running.wait() == -signal.SIGKILL
    running.communicate()
    done(server)
    assert record()["usage"]["total"]["calls"] >= len(model.bodies)
    assert record()["status"] == "done"


def test_a_run_killed_before_the_first_record_continues(server: Loopback, home: Path) -> None:
    """The folder is there before ``run.json`` is: filling the store may take half a minute."""
    shutil.rmtree(home / "store")
    (home / "store").write_text("in the way", encoding="utf-8")
    assert command.run(arguments(server)).code == 1
    assert RUN.is_dir()
    assert not (RUN / "run.json").exists()
    (home / "store").unlink()
    shutil.copytree(command.filled_home() / "store", home / "store")
    done(server)


def test_a_finished_run_asks_nothing_again(model: standin.Model, server: Loopback) -> None:
    first = done(server)
    before, asked = files(), len(model.asked)
    assert done(server).out == first.out
    assert (files(), len(model.asked)) == (before, asked)
    done(server, "--fresh")
    assert (files(), len(model.asked)) == (before, asked)


def test_an_interrupt_is_130_and_goes_on(model: standin.Model, server: Loopback) -> None:
    model.seconds = lambda body: 0.1
    running = command.start(arguments(server))
    model.wait_for(5, unless=running.has_ended)
    running.send(signal.SIGINT)
    ended = running.wait()
    assert (ended.code, ended.out) == (130, "")
    assert "Run the same command again to resume" in ended.err
    assert "Traceback" not in ended.err
    assert record()["status"] == "interrupted"
    assert not (RUN / "ideas.jsonl").exists()
    model.wait_until_quiet()
    model.seconds = lambda body: 0.0
    done(server)
    assert record()["status"] == "done"


def test_a_spent_budget_is_3_and_more_goes_on(model: standin.Model, server: Loopback) -> None:
    stopped = command.run(arguments(server, "--budget", "1.5", *LIMITED))
    assert (stopped.code, stopped.out) == (3, "")
    assert re.search(r"budget of \$1\.50 is spent \(\$[\d.]+ so far.*higher --budget", stopped.err)
    spent = record()["usage"]["total"]["cost_usd"]
    assert record()["status"] == "budget"
    assert 0 < spent <= 1.5
    asked = set(model.bodies)
    assert command.run(arguments(server, "--budget", "1.5", *LIMITED)).code == 3
    done(server, "--budget", "100", *LIMITED)
    assert asked <= set(model.bodies)
    assert len(model.bodies) == len(set(model.bodies)) == record()["usage"]["total"]["calls"]
    assert record()["usage"]["total"]["cost_usd"] > spent


def test_replay_answers_from_the_cache_alone(model: standin.Model, server: Loopback, tmp_path: Path) -> None:
    done(server)
    whole, asked = timeless(RUN), len(model.asked)
    done(server, "--replay", out=Path("again"))
    assert timeless(Path("again"))[0] == whole[0]
    assert files(Path("again"))[0] == files(RUN)[0]
    assert len(model.asked) == asked

    shutil.copytree(command.filled_home(), tmp_path / "home")
    missed = command.run(arguments(server, "--replay", "--home", str(tmp_path / "home"), out=Path("new")))
    assert (missed.code, missed.out) == (1, "")
    assert re.search(r"error: --replay: the cache .*no answer .*query_planner.*without --replay", missed.err)
    assert len(model.asked) == asked


def test_a_miss_inside_a_branch_fails_the_replay(model: standin.Model, server: Loopback, home: Path) -> None:
    """Leaving the branch out would be another result under the same command."""
    done(server)
    replies = [asked.reply for asked in model.asked if asked.wanted == "Forecast"]
    with sqlite3.connect(home / "cache" / "answers.sqlite") as db:
        gone = db.execute("DELETE FROM answers WHERE json_extract(answer, '$.text') = ?", (replies[0],))
        assert gone.rowcount == 1
    db.close()
    missed = command.run(arguments(server, "--replay", out=Path("new")))
    assert missed.code == 1
    assert "no answer of openai/standin for the role forecaster" in missed.err
    assert not (Path("new") / "ideas.jsonl").exists()


def test_a_second_process_is_told_which_process_uses_the_folder(
    model: standin.Model, server: Loopback
) -> None:
    model.seconds = lambda body: 0.1
    first = command.start(arguments(server))
    model.wait_for(3, unless=first.has_ended)
    second = command.run(arguments(server))
    assert (second.code, second.out) == (1, "")
    named = f"run is in use by another process (process {first.process.pid}: ideagora generate '{TOPIC}'"
    assert named in second.err
    first.send(signal.SIGKILL)
    first.wait()


def failing_at_one_forecast(fault: Answer) -> standin.Model:
    """A model that fails one branch: always at the forecast that it is asked for first."""
    victims: list[Body] = []

    def reply(body: Body) -> Answer:
        if body["response_format"]["json_schema"]["name"] != "Forecast":
            return standin.answer(body)
        victims[1:] = []
        victims.append(body)
        return fault if body == victims[0] else standin.answer(body)

    return standin.Model(reply)


def test_one_failing_branch_leaves_the_others() -> None:
    with Loopback(failing_at_one_forecast(Fault(400, "the first forecast fails"))) as server:
        done(server)
    (failure,) = record()["failures"]
    assert failure["branch"] in (1, 2)
    assert "the first forecast fails" in failure["error"]
    ideas = [json.loads(line) for line in (RUN / "ideas.jsonl").read_text().splitlines()]
    assert sorted(idea["branch"] for idea in ideas) == sorted({1, 2} - {failure["branch"]})
    report = (RUN / "report.md").read_text(encoding="utf-8")
    assert "the first forecast fails" in report
    assert failure["query"] in report


def test_all_branches_failing_is_an_error_that_passes(
    model: standin.Model, server: Loopback, home: Path, tmp_path: Path
) -> None:
    model.reply = lambda body: (
        Fault(400, "no trends today")
        if body["response_format"]["json_schema"]["name"] == "Trend"
        else standin.answer(body)
    )
    failed = command.run(arguments(server))
    assert (failed.code, failed.out) == (1, "")
    for number in (1, 2):
        assert re.search(rf"branch {number} \([^)]+\): openai/standin: .*no trends today", failed.err)
    assert record()["status"] == "failed"
    assert not (RUN / "ideas.jsonl").exists()
    model.wait_until_quiet()
    model.reply = standin.answer
    stored, number = stored_replies(home, tmp_path / "copy"), len(model.asked)
    done(server)
    assert record()["status"] == "done"
    assert stored
    assert not [asked.wanted for asked in model.asked[number:] if asked.reply in stored]


def test_a_server_that_is_away_and_comes_back(model: standin.Model, server: Loopback) -> None:
    model.reply = lambda body: Fault(503, "out for lunch")
    failed = command.run(arguments(server))
    assert (failed.code, json.loads(failed.out)["ideas"]) == (4, [])
    assert "out for lunch" in failed.err
    assert "Run the same command again" in failed.err
    model.reply = standin.answer
    done(server)
    # What failed was asked too, and is on the bill.
    assert record()["usage"]["total"]["calls"] == len(model.asked)


@pytest.mark.parametrize("said", ["I am sorry, I cannot help with that.", "}{ <think>", ""])
def test_a_model_that_talks_nonsense(model: standin.Model, server: Loopback, said: str) -> None:
    model.reply = lambda body: said
    failed = command.run(arguments(server))
    assert (failed.code, failed.out) == (1, "")
    assert "query_planner: none of 3 replies of openai/standin could be read" in failed.err
    assert "Traceback" not in failed.err
    (raw,) = (RUN / "raw").iterdir()
    assert str(raw) in failed.err
    assert said in raw.read_text(encoding="utf-8")
    assert not (RUN / "ideas.jsonl").exists()
    assert record()["usage"]["total"]["calls"] == len(model.asked) == 3


def test_the_order_in_which_branches_end_changes_nothing(
    model: standin.Model, server: Loopback, home: Path
) -> None:
    done(server, *WHOLE, out=Path("straight"))
    chance = random.Random(1)
    model.seconds = lambda body: chance.uniform(0, 0.05)
    straight = [asked.prompt for asked in model.asked]
    model.asked.clear()
    shutil.rmtree(home / "cache")
    done(server, *WHOLE, out=Path("shuffled"))
    assert [asked.prompt for asked in model.asked] != straight
    assert timeless(Path("shuffled")) == timeless(Path("straight"))
