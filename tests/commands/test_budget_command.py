"""One budget holds for a whole command, by the provider's own bill: several topics, kills, an arena."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support import command, standin
from tests.support.loopback import CHARACTERS_PER_TOKEN, Loopback

PRICE = 100.0
"""US dollars per million tokens."""
TOPICS = ("tool use by language models", "judging text with language models", "search in reasoning")
AGENT = ("--agent", "rag")


pytestmark = pytest.mark.usefixtures("home")


def billed(model: standin.Model) -> float:
    """What the provider charges for all answers that it made, in US dollars."""
    characters = 0
    for asked in model.asked:
        characters += sum(len(message["content"]) for message in json.loads(asked.body)["messages"])
        characters += len(str(asked.reply))
    return characters / CHARACTERS_PER_TOKEN * PRICE / 1e6


def arguments(server: Loopback, verb: str, *more: str) -> list[str]:
    base = ["--model", "openai/standin", "--api-base", server.base, "--retries", "0", "--out", verb, "--json"]
    prices = ["--price-prompt", str(PRICE), "--price-completion", str(PRICE), "--completion-limit", "800"]
    return [verb, *base, *prices, *more]


def test_topics_share_one_budget_also_when_the_command_is_killed_and_repeated() -> None:
    Path("topics.txt").write_text("\n".join(TOPICS), encoding="utf-8")
    model = standin.Model(seconds=lambda body: 0.1)
    with Loopback(model) as server:
        call = arguments(server, "generate", "--topics", "topics.txt", *AGENT, "--budget", "1.6")
        running = command.start(call)
        model.wait_for(1, unless=running.has_ended)
        running.send(signal.SIGKILL)
        running.wait()
        for _ in range(3):
            ended = command.run(call)
            assert ended.code == 3, ended.err
            assert "budget of $1.60 is spent" in ended.err
            model.wait_until_quiet()
            assert 0.2 < billed(model) <= 1.6
        asked = len(model.asked)
        assert command.run([*call, "--budget", "50"]).code == 0
        assert len(model.asked) > asked
    spent = [json.loads(path.read_text())["usage"]["total"] for path in Path("generate").glob("*/run.json")]
    assert len(spent) == 3
    assert billed(model) <= sum(total["cost_usd"] for total in spent)


def test_what_is_cached_costs_nothing_in_another_folder() -> None:
    model = standin.Model()
    with Loopback(model) as server:
        assert command.run([*arguments(server, "generate", *AGENT), TOPICS[0]]).code == 0
        asked = len(model.asked)
        again = [*arguments(server, "generate", *AGENT, "--budget", "0.0001"), TOPICS[0], "--out", "other"]
        ended = command.run(again)
        assert ended.code == 0, ended.err
        assert len(model.asked) == asked
    first, other = (json.loads(Path(name, "run.json").read_text())["usage"] for name in ("generate", "other"))
    assert first["total"]["cost_usd"] > 0 == other["total"]["cost_usd"]
    assert first["answers"] == other["answers"]
    assert "This run made 0 model calls, for \\$0.00." in Path("other/report.md").read_text(encoding="utf-8")
