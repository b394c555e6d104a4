"""What a run pays, and the hard stop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ideagora.config import Settings
from ideagora.errors import (
    BudgetExhausted,
    SettingsError,
    UnknownModel,
)
from ideagora.models.budget import dollars, expected_cost
from ideagora.models.cache import Cache, Stored, now
from ideagora.models.request import request_of
from ideagora.models.usage import Meter
from ideagora.schema import Usage
from tests.doors import GOOD, PRICED, bench, call, scripted
from tests.loopback import Loopback, Reply

# --- what a run pays ---


async def test_an_answer_stored_before_a_kill_is_billed_when_it_is_met(tmp_path: Path) -> None:
    usage = Usage(calls=1, prompt_tokens=9, completion_tokens=9, cost_usd=0.5, seconds=1.0)
    settings = Settings(home=tmp_path, model="scripted")
    for run_id, prompt in (("run", "mine"), ("other", "theirs")):
        stored = Stored(
            model="scripted", text=GOOD, finish_reason="stop", usage=usage, run_id=run_id, created=now()
        )
        Cache.at_home(tmp_path).put(request_of(call(prompt), settings).key, stored)
    async with bench(tmp_path, chats={"scripted": scripted()}) as b:
        for prompt in ("mine", "mine", "theirs"):
            await b.door.ask(call(prompt))
    assert b.meter.total == usage
    assert b.told("cached", "billed") == [(True, True), (True, False), (True, False)]
    resumed = Meter()
    resumed.restore(b.events)
    async with bench(tmp_path, chats={"scripted": scripted()}, meter=resumed) as b:
        await b.door.ask(call("mine"))
    assert resumed.total == usage


async def test_known_models_have_litellm_s_price_and_unknown_ones_none(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=1_000_000, completion_tokens=0)]) as server:
        async with bench(tmp_path, server, model="openai/gpt-4o-mini") as known:
            await known.door.ask(call())
        async with bench(tmp_path, server) as unknown:
            await unknown.door.ask(call())
    assert known.meter.total.cost_usd == pytest.approx(0.15)
    assert unknown.meter.total.cost_usd is None
    assert unknown.meter.total.prompt_tokens == 1_000_000


async def test_usage_that_is_not_reported_has_no_price(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, usage=False)]) as server:
        async with bench(tmp_path, server, **PRICED) as b:
            await b.door.ask(call())
    assert b.meter.total.cost_usd is None
    assert b.meter.total.calls == 1


# --- budget ---


async def test_the_budget_stops_before_it_is_overspent(tmp_path: Path) -> None:
    # 800 expected completion tokens at $1,000 a million: $0.80 a call at first, then the mean of $0.10.
    with Loopback([Reply(GOOD, prompt_tokens=0, completion_tokens=100)]) as server:
        async with bench(tmp_path, server, budget=1.05, price_prompt=0.0, price_completion=1000.0) as b:
            for number in range(10):
                await b.door.ask(call(f"{number}"))
            with pytest.raises(BudgetExhausted, match=r"\$1\.05 is spent \(\$1\.00.*--budget") as caught:
                await b.door.ask(call("one more"))
        assert server.count == 10
        assert caught.value.exit_code == 3
        async with bench(
            tmp_path, server, budget=2.0, meter=b.meter, price_prompt=0.0, price_completion=1000.0
        ) as more:
            await more.door.ask(call("0"))
            await more.door.ask(call("new"))
        assert server.count == 11


async def test_calls_side_by_side_hardly_overshoot(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=0, completion_tokens=800)]) as server:
        async with bench(
            tmp_path, server, budget=2.0, price_prompt=0.0, price_completion=1000.0, concurrency=16
        ) as b:
            results = await asyncio.gather(
                *(b.door.ask(call(f"{number}")) for number in range(16)), return_exceptions=True
            )
        assert server.count == 2
    assert sum(isinstance(result, BudgetExhausted) for result in results) == 14
    assert b.meter.total.cost_usd == pytest.approx(1.6)


async def test_a_call_waits_for_room_that_others_only_hold(tmp_path: Path) -> None:
    # Each may cost $0.80 and costs $0.10: all four fit into $1.00, though not side by side.
    with Loopback([Reply(GOOD, prompt_tokens=0, completion_tokens=100)]) as server:
        async with bench(tmp_path, server, budget=1.0, price_prompt=0.0, price_completion=1000.0) as b:
            await asyncio.gather(*(b.door.ask(call(f"{number}")) for number in range(3)))
        assert (server.count, server.peak) == (3, 1)
    assert b.meter.total.cost_usd == pytest.approx(0.3)


async def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with bench(tmp_path, server, budget=1.0) as b:
            with pytest.raises(SettingsError, match=r"openai/test.*--price-prompt.*--price-completion"):
                await b.door.check()
            with pytest.raises(SettingsError):
                await b.door.ask(call())
        assert server.count == 0
    assert b.events == []


def test_expected_cost(tmp_path: Path) -> None:
    own = Settings(home=tmp_path, model="openai/x", price_prompt=1.0, price_completion=10.0)
    assert expected_cost({"main": 10}, own) == pytest.approx(10 * (0.003 + 0.008))
    assert expected_cost({"main": 10}, Settings(home=tmp_path, model="openai/x")) is None
    mixed = Settings(home=tmp_path, model="openai/gpt-4o-mini", judge_model="offline")
    assert expected_cost({"judge": 50}, mixed) == 0.0
    assert expected_cost({"main": 1, "judge": 50}, mixed) == pytest.approx(0.00093)
    with pytest.raises(UnknownModel):
        expected_cost({"main": 1}, Settings(home=tmp_path, model="nosuch/model"))


@pytest.mark.parametrize(
    ("amount", "told"), [(2, "$2.00"), (1.987, "$1.99"), (0.5, "$0.50"), (0.0123, "$0.0123"), (0, "$0.00")]
)
def test_dollars(amount: float, told: str) -> None:
    assert dollars(amount) == told
