"""Promise 8: a failure that may pass never becomes a final result.

Servers are down for a while and come back; the same command first gives what there is, and later goes on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ideagora.commands.generate import Request, run
from ideagora.config import SettingOverrides
from ideagora.errors import (
    BudgetExhausted,
    IdeagoraError,
    ModelUnavailable,
    QuotaExhausted,
    SourceRejected,
    SourceUnavailable,
    StoreUnavailable,
    UnreadableAnswer,
)
from ideagora.graphs.runtime.outages import Outages
from ideagora.models.transport.retry import to_model_error
from ideagora.schema.events import LiteratureEvent
from tests.retrieval.test_network_library import a_field
from tests.support import command, standin
from tests.support.arena_world import TOPICS, field
from tests.support.literature_server import Fault as NoPage
from tests.support.literature_server import LiteratureServer, hurry
from tests.support.loopback import Answer, Body, Fault, Loopback

TOPIC = "tool use by language models"
RUN = Path("run")
DOWN = (Fault(503, "out for lunch"), Fault(429, "slow down"), Fault(cut=True), Fault(hang=True))
"""What passes by itself."""


pytestmark = pytest.mark.usefixtures("home")


def base(server: Loopback) -> list[str]:
    return ["--model", "openai/standin", "--api-base", server.base, "--retries", "0", "--timeout", "2"]


def generated(server: Loopback, *more: str, out: Path = RUN) -> command.Done:
    small = ["--branches", "3", "--length", "2", "--refinements", "0"]
    return command.run(["generate", TOPIC, "--json", "--out", str(out), *base(server), *small, *more])


def record(run: Path = RUN) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return found


def timeless(run: Path = RUN) -> str:
    text = (run / "ideas.jsonl").read_text(encoding="utf-8")
    return re.sub(r'"(created|seconds)":("[^"]*"|[\d.]+)', r'"\1":0', text)


def wanted(body: Body) -> str:
    return str(body["response_format"]["json_schema"]["name"])


def failing(role: str, fault: Answer, spared: int = 0) -> Callable[[Body], Answer]:
    """Answers, but for one role's requests; the first few distinct ones of them are spared."""
    met: list[str] = []

    def reply(body: Body) -> Answer:
        if wanted(body) != role:
            return standin.answer(body)
        text = json.dumps(body)
        if text not in met:
            met.append(text)
        return standin.answer(body) if met.index(text) < spared else fault

    return reply


def test_branches_whose_provider_was_down_are_made_by_the_same_command(
    model: standin.Model, server: Loopback, home: Path, tmp_path: Path
) -> None:
    for number, fault in enumerate(DOWN):
        shutil.rmtree(home / "cache", ignore_errors=True)
        shutil.rmtree(RUN, ignore_errors=True)
        model.asked.clear()
        model.reply = failing("Forecast", fault, spared=1)
        partly = generated(server)
        assert partly.code == 4, partly.err
        told = json.loads(partly.out)
        assert (len(told["ideas"]), told["status"]) == (1, "incomplete")
        assert "Run the same command again to fetch only what is missing" in partly.err
        assert (record()["status"], len(record()["failures"])) == ("incomplete", 2)
        assert told["outages"] == record()["outages"] != []
        report = (RUN / "report.md").read_text(encoding="utf-8")
        assert "This run is incomplete" in report
        if number:
            continue
        good = {asked.body for asked in model.asked if isinstance(asked.reply, str)}
        model.reply, before = standin.answer, len(model.asked)
        whole = generated(server)
        assert whole.code == 0, whole.err
        assert (record()["status"], record()["failures"], record()["outages"]) == ("done", [], [])
        assert not good & {asked.body for asked in model.asked[before:]}, "what was answered is asked again"
        assert len(json.loads(whole.out)["ideas"]) == 3
        assert "status" not in json.loads(whole.out)
        undisturbed = generated(
            server,
            "--home",
            str(shutil.copytree(home / "store", tmp_path / "h" / "store").parent),
            out=Path("other"),
        )
        assert undisturbed.code == 0, undisturbed.err
        assert timeless() == timeless(Path("other")), "an outage changes the result"


def test_a_branch_that_failed_for_good_stays_final(model: standin.Model, server: Loopback) -> None:
    model.reply = failing("Forecast", Fault(400, "not this one"), spared=1)
    assert generated(server).code == 0
    assert (record()["status"], len(record()["failures"])) == ("done", 2)
    asked = len(model.asked)
    assert generated(server).code == 0
    assert len(model.asked) == asked


def test_nobody_answers_and_then_somebody_does(home: Path) -> None:
    with Loopback(standin.Model()) as server:
        port, address = server.port, base(server)
    nobody = command.run(["generate", TOPIC, "--json", "--out", "run", "--agent", "direct", *address])
    assert (nobody.code, json.loads(nobody.out)["ideas"]) == (4, []), nobody.err
    assert "Run the same command again" in nobody.err
    assert "Traceback" not in nobody.err
    with Loopback(standin.Model(), port=port):
        done = command.run(["generate", TOPIC, "--json", "--out", "run", "--agent", "direct", *address])
    assert done.code == 0, done.err


def test_what_comes_after_the_branches_may_be_missing_for_a_while(
    model: standin.Model, server: Loopback
) -> None:
    for role in ("IdeaPreference", "Plan"):
        shutil.rmtree(RUN, ignore_errors=True)
        shutil.rmtree(Path(os.environ["IDEAGORA_HOME"]) / "cache", ignore_errors=True)
        model.reply = failing(role, Fault(503, "tired"))
        partly = generated(server)
        assert partly.code == 4, partly.err
        ideas = json.loads(partly.out)["ideas"]
        assert (len(ideas), {idea["experiment"] for idea in ideas}) == (3, {None})
        model.reply = standin.answer
        assert json.loads(generated(server).out)["ideas"][0]["experiment"]


def test_of_several_topics_each_is_finished_when_its_provider_is_back(
    model: standin.Model, server: Loopback
) -> None:
    Path("topics.txt").write_text("\n".join(TOPICS[:2]))

    def reply(body: Body) -> Answer:
        prompt = str(body["messages"][-1]["content"])
        return Fault(503, "away") if TOPICS[1] in prompt else standin.answer(body)

    model.reply = reply
    call = [
        "generate",
        "--topics",
        "topics.txt",
        "--json",
        "--out",
        "all",
        "--agent",
        "direct",
        *base(server),
    ]
    partly = command.run(call)
    assert partly.code == 4, partly.err
    assert [len(one.get("outages", [])) for one in json.loads(partly.out)["runs"]] == [0, 1]
    assert f"incomplete: “{TOPICS[1]}”:" in partly.err
    model.reply, before = standin.answer, len(model.asked)
    whole = command.run(call)
    assert (whole.code, len(json.loads(whole.out)["ideas"])) == (0, 2), whole.err
    assert len(model.asked) - before == 2


def test_topics_do_not_wait_one_by_one_for_a_provider_that_is_down(
    model: standin.Model, server: Loopback
) -> None:
    Path("topics.txt").write_text("\n".join(f"{topic} {n}" for n in range(2) for topic in TOPICS[:2]))
    model.reply = lambda body: Fault(503, "away", retry_after="0")
    patient = [*base(server), "--retries", "2", "--agent", "direct", "--topics", "topics.txt", "--out", "all"]
    partly = command.run(["generate", *patient])
    assert partly.code == 4, partly.err
    assert len(model.asked) == 3 + 3, "retries for the first topic, one try for each of the others"
    assert partly.err.count("away") == partly.err.count("Run the same command again") == 2, partly.err
    assert "and 1 more" not in partly.err.splitlines()[-2]
    whole = command.run(["arena", "direct", "rag", *patient[:6], "--topics", "topics.txt", "--out", "arena"])
    assert whole.code == 4
    assert "before the first verdict" in whole.out
    assert "nothing to judge" not in whole.out
    assert whole.err.count("away") <= 3, whole.err


def test_an_answer_brings_back_the_retries(model: standin.Model, server: Loopback) -> None:
    Path("topics.txt").write_text("\n".join(TOPICS[:3]))
    down = [Fault(503, "away", retry_after="0")] * 3
    script: list[Answer | None] = [*down, None, None, *down[:1], None, None]
    model.reply = lambda body: (script.pop(0) if script else None) or standin.answer(body)
    patient = [*base(server), "--retries", "2", "--agent", "direct", "--topics", "topics.txt", "--json"]
    told = json.loads(command.run(["generate", *patient]).out)
    assert ["status" in one for one in told["runs"]] == [True, False, False]


def test_a_source_of_literature_that_was_down_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hurry(monkeypatch, datetime(2026, 3, 1, tzinfo=UTC))
    model = standin.Model()
    with Loopback(model) as loopback, LiteratureServer(a_field()) as server:
        for name in ("semantic-scholar", "openalex"):
            monkeypatch.setenv(f"IDEAGORA_{name.upper().replace('-', '_')}_URL", server.url(name))
        settings: SettingOverrides = {
            "source": "semantic-scholar,openalex", "embedder": "hash", "home": tmp_path,
            "model": "openai/standin", "api_base": loopback.base, "retries": 0,
        }  # fmt: skip
        options = {"branches": 1, "length": 2, "allow_thin": True, "refinements": 0}
        request = Request("language model agents", settings=settings, options=options, out=RUN, quiet=True)
        server.faults.append(NoPage(503, service="openalex", forever=True))
        assert run(request) == 4
        shown = capsys.readouterr()
        assert "openalex did not respond" in shown.err, "it is told on the screen"
        assert record()["status"] == "incomplete"
        server.faults.clear()
        assert run(request) == 0
        assert record()["status"] == "done"
        assert not any("Source down" in note for note in record()["notes"])
        server.faults.append(NoPage(403, service="openalex", forever=True))
        shutil.rmtree(RUN)
        shutil.rmtree(tmp_path / "cache")
        assert run(request) == 0, "a refusal does not pass by itself"
        assert any("Source refused: openalex" in note for note in record()["notes"])
        server.faults.clear()
        model.reply = failing("AbstractReadings", Fault(503, "tired"))
        shutil.rmtree(RUN)
        shutil.rmtree(tmp_path / "cache")
        assert run(request) == 4, "papers that nobody read for a while"
        model.reply = standin.answer
        assert run(request) == 0
        sources = json.loads((RUN / "ideas.jsonl").read_text(encoding="utf-8").splitlines()[0])
        assert all(link["reading"] for link in sources["chain"]["links"])


def judged(server: Loopback, *things: str) -> command.Done:
    return command.run(
        ["arena", *things, "--json", "--out", "arena", "--no-page", "--no-style", *base(server)]
    )


def test_as_many_calls_are_out_at_the_same_time_as_asked_for(server: Loopback, model: standin.Model) -> None:
    things = field({f"agent{n}": n for n in range(9)}, TOPICS[:1])
    most, seconds = 70, 20
    until = time.monotonic() + seconds

    def reply(body: Body) -> Answer:
        while server.peak < most and time.monotonic() < until:
            time.sleep(0.01)
        return standin.answer(body)

    model.reply = reply
    patient = ["--timeout", "60", "--concurrency", str(most)]
    done = command.run(["arena", *things, "--out", "a", "--no-page", "--no-style", *base(server), *patient])
    assert (done.code, server.peak) == (0, most), done.err


def test_judgements_whose_provider_was_down_are_asked_again_and_no_others(
    model: standin.Model, server: Loopback
) -> None:
    things = field({"alpha": 1, "beta": 2, "gamma": 3})
    model.reply = failing("IdeaPreference", Fault(503, "out for lunch"), spared=7)
    partly = judged(server, *things)
    assert partly.code == 4, partly.err
    board = json.loads(partly.out)["leaderboard"]
    assert board["status"] == "incomplete"
    assert board["outages"]
    assert "out for lunch" in partly.err
    assert 0 < board["coverage"]["scored"] < board["coverage"]["expected"] == 18
    assert record(Path("arena"))["status"] == "incomplete"
    good = {asked.body for asked in model.asked if isinstance(asked.reply, str)}
    assert len(model.asked) - len(good) <= 8, "a judge that is down is asked over and over"
    model.reply, before = standin.answer, len(model.asked)
    whole = judged(server, *things)
    assert whole.code == 0, whole.err
    assert json.loads(whole.out)["leaderboard"]["coverage"]["scored"] == 18
    assert not good & {asked.body for asked in model.asked[before:]}


def test_an_agent_whose_provider_was_down_joins_the_arena_later(
    model: standin.Model, server: Loopback
) -> None:
    things = ["direct", *field({"alpha": 1, "beta": 2}, TOPICS[:1]), "--topic", TOPICS[0]]
    model.reply = failing("DirectIdea", Fault(503, "away"))
    partly = judged(server, *things)
    assert partly.code == 4, partly.err
    board = json.loads(partly.out)["leaderboard"]
    assert board["coverage"]["scored"] == 2, "the others are judged"
    assert any("direct has no entry" in note for note in board["notes"])
    model.reply = standin.answer
    good = {asked.body for asked in model.asked if isinstance(asked.reply, str)}
    before = len(model.asked)
    whole = judged(server, *things)
    assert whole.code == 0, whole.err
    assert json.loads(whole.out)["leaderboard"]["coverage"]["scored"] == 6
    assert not good & {asked.body for asked in model.asked[before:]}


def test_each_error_says_whether_it_may_pass() -> None:
    lasting: list[type[IdeagoraError]] = [SourceRejected, UnreadableAnswer, BudgetExhausted]
    assert all(
        kind.retryable for kind in (ModelUnavailable, QuotaExhausted, SourceUnavailable, StoreUnavailable)
    )
    assert not any(kind.retryable for kind in lasting)

    class Quota(Exception):
        status_code = 429
        code = "insufficient_quota"

    assert isinstance(to_model_error(Quota("You exceeded your current quota"), "m"), QuotaExhausted)


def test_an_outage_is_over_when_its_request_is_answered_or_the_graph_begins_anew() -> None:
    def call(status: str) -> Any:
        return {"event": "call", "key": "k", "status": status}

    down: Any = {"event": "outage", "key": "k", "reason": "503"}
    source: LiteratureEvent = {"event": "literature", "kind": "down", "about": "openalex", "detail": "504"}
    assert Outages([down, source, down]).reasons == ("503", "504")
    assert Outages([down, call("failed")]).reasons == ("503",)
    assert Outages([down, call("ok")]).reasons == ()
    assert Outages([down, source, {"event": "begin"}]).reasons == ()
    assert Outages([{**source, "kind": "refused"}]).reasons == ()
