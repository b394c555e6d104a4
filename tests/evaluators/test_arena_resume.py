"""An arena in processes of its own: killed, out of budget, offline, and with agents that fail."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support import command, standin
from tests.support.arena_world import TOPICS, field
from tests.support.loopback import Answer, Body, Fault, Loopback

RUN = Path("arena")
PRICES = ("--price-prompt", "100", "--price-completion", "100")
LIMIT = ("--completion-limit", "800")
SHORT = "direct"


pytestmark = pytest.mark.usefixtures("home")


def arguments(server: Loopback, *contestants: str, out: Path = RUN) -> list[str]:
    base = [
        "--model",
        "openai/standin",
        "--api-base",
        server.base,
        "--retries",
        "0",
        "--no-style",
        "--no-page",
    ]
    return ["arena", *contestants, "--json", "--out", str(out), *base]


def judged(server: Loopback, *contestants: str, out: Path = RUN, home: Path | None = None) -> dict[str, Any]:
    """Run the command to its end, which has to be a good one; the leaderboard."""
    ended = command.run(
        arguments(server, *contestants, out=out), {"IDEAGORA_HOME": str(home)} if home else None
    )
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)["leaderboard"]
    return found


def timeless(run: Path = RUN) -> list[str]:
    """Verdicts and leaderboard without what a clock or another home changes."""
    texts = [(run / name).read_text(encoding="utf-8") for name in ("verdicts.jsonl", "leaderboard.json")]
    return [re.sub(r'"seconds": ?[\d.]+', '"seconds":0', text) for text in texts]


def record(run: Path = RUN) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return found


def test_kill_at_any_moment_loses_no_answer(
    model: standin.Model, server: Loopback, home: Path, tmp_path: Path
) -> None:
    contestants = field({"alpha": 1, "beta": 2, "gamma": 3})
    shutil.copytree(home, tmp_path / "home")
    judged(server, *contestants, out=Path("whole"), home=tmp_path / "home")
    model.asked.clear()
    model.seconds = lambda body: 0.03
    for enough in (1, 7, 14):
        running = command.start(arguments(server, *contestants))
        model.wait_for(enough, unless=running.has_ended)
        running.send(signal.SIGKILL)
        assert running.wait().code == -signal.SIGKILL
        model.wait_until_quiet()
    judged(server, *contestants)
    assert timeless() == timeless(Path("whole"))
    assert record()["usage"]["total"]["calls"] >= len(model.bodies) >= len(set(model.bodies)) == 18
    # what was out when a kill came may be asked again, and nothing else
    assert len(model.bodies) - 18 <= 3 * 8


def test_a_spent_budget_is_3_with_a_leaderboard_so_far_and_more_goes_on(
    model: standin.Model, server: Loopback
) -> None:
    contestants = field({"alpha": 1, "beta": 2, "gamma": 3})
    stopped = command.run(
        arguments(server, *contestants, "--budget", "1.2", *PRICES, "--concurrency", "1", *LIMIT)
    )
    assert (stopped.code, stopped.out) == (3, "")
    assert "budget of $1.20 is spent" in stopped.err
    assert re.search(r"The leaderboard so far: .*arena/leaderboard\.json", stopped.err)
    board = json.loads((RUN / "leaderboard.json").read_text())
    assert board["status"] == "budget"
    assert 0 < board["coverage"]["scored"] < board["coverage"]["expected"] == 18
    assert "The budget ended the arena after" in board["notes"][0]
    asked = len(model.asked)
    whole = judged(server, *contestants, "--budget", "100", *PRICES)
    assert (whole["status"], whole["coverage"]["scored"]) == ("complete", 18)
    assert len(model.bodies) == len(set(model.bodies)) == 18 > asked


def test_the_budget_is_one_for_ideas_and_verdicts(server: Loopback, home: Path) -> None:
    call = [SHORT, *field({"alpha": 1}), "--topic", TOPICS[0], *PRICES, "--concurrency", "1", *LIMIT]
    stopped = command.run(arguments(server, *call, "--budget", "0.4"))
    assert stopped.code == 3, stopped.err
    (run,) = (RUN / "runs").glob("*/*/run.json")
    assert record(run.parent)["status"] == "budget"
    assert judged(server, *call, "--budget", "100")["status"] == "complete"
    spent = record(run.parent)["usage"]["total"]["cost_usd"]
    assert spent > 0.05
    shutil.rmtree(home / "cache")  # what the judges said, too
    tight = command.run(arguments(server, *call, "--fresh", "--budget", f"{spent + 0.05:.3f}"))
    assert tight.code == 3, "what the agents have spent is not there for the judges"


def test_agents_make_their_ideas_first_and_one_that_fails_costs_its_own_entry(
    model: standin.Model, server: Loopback
) -> None:
    def reply(body: Body) -> Answer:
        prompt = str(body["messages"][-1]["content"])
        wanted = body["response_format"]["json_schema"]["name"]
        return (
            Fault(400, "no forecasts on judging")
            if wanted == "Forecast" and "judging" in prompt
            else standin.answer(body)
        )

    model.reply = reply
    topics = [part for topic in TOPICS[:2] for part in ("--topic", topic)]
    board = judged(server, "chain-of-ideas", SHORT, *topics)
    assert {row["agent"] for row in board["ranking"]} == {"chain-of-ideas", SHORT}
    told = {one["agent"]: one for one in board["contestants"]}
    assert told["chain-of-ideas"]["ideas"] == 1
    (gone,) = told["chain-of-ideas"]["missing"]
    assert gone["topic"] == TOPICS[1]
    assert "no forecasts on judging" in gone["reason"]
    assert told[SHORT]["usage"]["calls"] > 0
    assert len(list((RUN / "runs").glob("*/*/report.md"))) == 0
    asked = len(model.asked)
    judged(server, "chain-of-ideas", SHORT, *topics)
    assert len(model.asked) == asked, "a finished arena asks nothing"
    model.reply = standin.answer
    mended = judged(server, "chain-of-ideas", SHORT, *topics, "--fresh")
    assert {one["ideas"] for one in mended["contestants"]} == {2}


def test_a_server_that_is_away_ends_it_and_it_goes_on(model: standin.Model, server: Loopback) -> None:
    contestants = field({"alpha": 1, "beta": 2, "gamma": 3})
    model.reply = lambda body: Fault(503, "out for lunch") if len(model.asked) >= 7 else standin.answer(body)
    failed = command.run(arguments(server, *contestants, "--concurrency", "1"))
    assert failed.code == 4
    assert "out for lunch" in failed.err
    assert record()["status"] == "incomplete"
    good = {asked.body for asked in model.asked[:7]}
    model.reply, number = standin.answer, len(model.asked)
    assert judged(server, *contestants)["coverage"]["scored"] == 18
    assert not good & {asked.body for asked in model.asked[number:]}


def test_offline_it_needs_no_key_and_says_what_it_is() -> None:
    done = command.run(["arena", SHORT, *field({"alpha": 1}), "--topic", TOPICS[0], "--out", "arena"])
    assert done.code == 0, done.err
    page = (RUN / "report.html").read_text(encoding="utf-8")
    assert TOPICS[0] in page
    assert list((RUN / "plots").glob("*.svg"))
    assert len(list((RUN / "runs").glob("*/*/report.html"))) == 1
    assert "Smoke test, not a ranking. The offline model compares" in " ".join(done.out.split())
    assert "Made by the offline model" in done.out
    assert "Expected" not in done.err
    assert re.search(r"leaderboard\.json", done.out)


def test_it_says_what_it_will_cost_before_it_starts(server: Loopback) -> None:
    contestants = field({"alpha": 1, "beta": 2})
    known = command.run([*arguments(server, *contestants), *PRICES, "--protocol", "paper"])
    assert re.search(r"Expected: at most about 6 calls \(6 to openai/standin\), about \$\d", known.err), (
        known.err
    )
    again = command.run([*arguments(server, *contestants), *PRICES, "--protocol", "paper"])
    assert "Expected" not in again.err
    unknown = command.run(arguments(server, *contestants, out=Path("unknown")))
    assert "price unknown" in unknown.err


def test_an_unknown_judge_is_refused_before_anything_is_asked(server: Loopback, model: standin.Model) -> None:
    contestants = field({"alpha": 1, "beta": 2})
    real = {"IDEAGORA_FORBID_REAL_CALLS": None}
    done = command.run(["arena", *contestants, "--judge", "openai/gpt-4o", "--no-style"], real)
    assert (done.code, done.out) == (1, "")
    assert "openai/gpt-4o needs an API key. Set OPENAI_API_KEY" in done.err


def test_hostile_names_and_texts_are_text() -> None:
    hostile = "[red]x[/red] \x1b[31m<script>alert(1)</script>"
    contestants = field({"alpha": 1})
    lines = [json.loads(line) for line in Path("alpha.jsonl").read_text().splitlines()]
    Path("bad.jsonl").write_text(
        "".join(
            json.dumps({**one, "agent": hostile, "id": f"b{n}"}) + "\n"
            for n, one in enumerate(lines)
            for one in [{**one, "method": one["method"] + hostile}]
        )
    )
    done = command.run(["arena", *contestants, "ideas:bad.jsonl", "--no-style"])
    assert done.code == 0, done.err
    assert "\x1b" not in done.out + done.err
    assert "[red]x[/red]" in " ".join(done.out.split())


def test_help_teaches() -> None:
    done = command.run(["arena", "--help"])
    assert done.code == 0
    assert "Examples:" in done.out
    assert "blind judges" in done.out
