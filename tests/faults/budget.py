"""A provider's own bill against the budget: calls at once, topics, an arena, kills, cut bodies."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ideagora.errors import BudgetExhausted
from tests.faults.outcome import Outcome, bad_end, first_line
from tests.faults.worlds import environment, new_home
from tests.support import command, standin
from tests.support.billing import Bill
from tests.support.loopback import Answer, Body, Loopback

PROMPT, COMPLETION = 1.0, 100.0
"""US dollars per million tokens."""
LIMIT = 1_000
"""Tokens of an answer at most."""
TOPICS = tuple(f"{side} for tool use by language models" for side in standin.SIDES)
AT_ONCE = (1, 8, 64)
KILLS = 3
SECONDS = 0.05
"""That an answer takes."""


class Provider:
    """A ``Bill`` that knows what its dearest call may have cost."""

    def __init__(self) -> None:
        self.bill = Bill(standin.answer, PROMPT, COMPLETION)
        self.ceiling = 0.0
        self.asked = 0

    def __call__(self, body: Body) -> Answer:
        self.asked += 1
        time.sleep(SECONDS)
        size = len(json.dumps(body).encode())
        self.ceiling = max(self.ceiling, (size * PROMPT + body["max_tokens"] * COMPLETION) / 1e6)
        return self.bill(body)


@dataclass(frozen=True)
class Case:
    """A command that its budget stops."""

    name: str
    budget: float
    arguments: tuple[str, ...]
    kills: int = 0


def cases() -> Iterator[Case]:
    """All cases, in a fixed order."""
    chains = ("generate", TOPICS[0], "--out", "run", "--concurrency")
    topics = ("generate", "--topics", "topics.txt", "--agent", "rag", "--out", "run")
    arena = ("arena", "direct", "rag", "--topics", "topics.txt", "--out", "run", "--concurrency", "64")
    for at_once in AT_ONCE:
        yield Case(f"budget: {at_once} at once", 2.0, (*chains, str(at_once)))
    yield Case("budget: topics", 0.5, topics)
    yield Case("budget: arena", 2.0, arena)
    yield Case(f"budget: {KILLS} kills", 2.0, (*chains, "8"), KILLS)
    yield Case(f"budget: topics, {KILLS} kills", 0.8, topics, KILLS)
    yield Case(f"budget: arena, {KILLS} kills", 2.0, arena, KILLS)


def bills(place: Path) -> Iterator[Outcome]:
    """Each command, killed or not, then twice more with the same budget."""
    for number, case in enumerate(cases()):
        yield carry_out(case, place / str(number))


def carry_out(case: Case, place: Path) -> Outcome:
    """Run one case in a folder of its own."""
    new_home(place)
    (place / "topics.txt").write_text("\n".join(TOPICS), encoding="utf-8")
    provider, here = Provider(), Path.cwd()
    os.chdir(place)
    try:
        with Loopback(provider) as server:
            call = [*case.arguments, *_settings(case.budget, server.base)]
            for _ in range(case.kills):
                _kill(call, provider, place)
            ended = [command.run(call, environment(place)) for _ in range(2)]
    except AssertionError as error:
        return Outcome(case.name, "HANGS", 0, str(error)[:160])
    finally:
        os.chdir(here)
    figures = f"bill ${provider.bill.usd:.2f} of ${case.budget:.2f}, dearest call ${provider.ceiling:.2f}"
    return Outcome(case.name, _verdict(case, provider, ended), 0, f"{figures}; {first_line(ended[-1].err)}")


def _verdict(case: Case, provider: Provider, ended: Sequence[command.Done]) -> str:
    bad = next(filter(None, map(bad_end, ended)), None)
    if bad is None and provider.bill.usd > case.budget + provider.ceiling:
        bad = "OVER BUDGET"
    if bad is None and ended[-1].code != BudgetExhausted.exit_code:
        bad = f"NOT STOPPED: {ended[-1].code}"
    return bad or "kept"


def _settings(budget: float, base: str) -> list[str]:
    return [
        "--price-prompt", str(PROMPT), "--price-completion", str(COMPLETION), "--budget", str(budget),
        "--completion-limit", str(LIMIT), "--timeout", "0.6", "--retries", "2", "--json",
        "--model", "openai/standin", "--api-base", base,
    ]  # fmt: skip


def _kill(call: list[str], provider: Provider, place: Path) -> None:
    running, before = command.start(call, environment(place)), provider.asked
    while provider.asked < before + 4 and not running.has_ended():
        time.sleep(0.02)
    if not running.has_ended():
        running.send(signal.SIGKILL)
    running.wait()
