"""What a run pays, and the hard stop."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ideagora.config import Settings
from ideagora.errors import (
    BudgetExhausted,
    ModelUnavailable,
    SettingsError,
    UnknownModel,
)
from ideagora.models.budget import create_budget, dollars, expected_cost
from ideagora.models.usage import UsageTracker
from tests.support.billing import Bill
from tests.support.clients import GOOD, PRICED, call, client_harness, scripted
from tests.support.each import each_case
from tests.support.loopback import Fault, Loopback, Reply, completion

# --- what a run pays ---


async def test_an_answer_stored_before_a_kill_is_billed_when_it_is_met(tmp_path: Path) -> None:
    """Killed between storing the answer and writing the event: the request is in the events, its end not."""
    async with client_harness(tmp_path, chats={"scripted": scripted(GOOD)}) as b:
        await b.client.ask(call("mine"))
    before_the_kill = [event for event in b.events if event["event"] == "request"]
    for name, events, billed in (("resumed", before_the_kill, 1), ("another folder", [], 0)):
        tracker = UsageTracker()
        tracker.restore(events)
        async with client_harness(
            tmp_path, chats={"scripted": scripted()}, tracker=tracker, run_id=name
        ) as later:
            for _ in range(2):
                await later.client.ask(call("mine"))
        assert (tracker.total.calls, tracker.total.cost_usd) == (billed, 0.0), name
        assert tracker.total.estimated_usd == 0, name
        assert later.logged("cached") == [True, True]


async def test_what_another_folder_paid_is_on_no_second_bill(tmp_path: Path) -> None:
    """The same work in another folder (or an arena): the answers are there, and they cost nothing."""
    with Loopback([Reply(GOOD, prompt_tokens=100, completion_tokens=50)]) as server:
        async with client_harness(tmp_path, server, **PRICED) as first:
            await first.client.ask(call())
        async with client_harness(tmp_path, server, **PRICED, budget=1e-6) as second:
            await second.client.ask(call())
    assert first.tracker.spent == pytest.approx(0.0002)
    assert second.tracker.spent == 0


async def test_known_models_have_litellm_s_price_and_unknown_ones_none(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=1_000, completion_tokens=1_000)]) as server:
        async with client_harness(tmp_path, server, model="openai/gpt-4o-mini") as known:
            await known.client.ask(call())
        async with client_harness(tmp_path, server) as unknown:
            await unknown.client.ask(call())
    assert known.tracker.total.cost_usd == pytest.approx(0.00075)
    assert unknown.tracker.total.cost_usd is None
    assert unknown.tracker.total.prompt_tokens == 1_000


USAGES = {
    "nothing": None,
    "null": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
    "negative": {"prompt_tokens": -5, "completion_tokens": 10, "total_tokens": 5},
    "negative answer": {"prompt_tokens": 50, "completion_tokens": -10, "total_tokens": 40},
    "free answer": {"prompt_tokens": 50, "completion_tokens": 0, "total_tokens": 50},
    "out of all measure": {"prompt_tokens": 10**12, "completion_tokens": 10, "total_tokens": 10**12},
}


async def test_a_usage_that_cannot_be_is_estimated_upwards_and_says_so(tmp_path: Path) -> None:
    for name, usage in USAGES.items():
        body = {**completion({"model": "test"}, Reply(GOOD, usage=False)), "usage": usage}
        with Loopback([Fault(garbage=json.dumps(body).encode())]) as server:
            async with client_harness(tmp_path / name, server, **PRICED, completion_limit=1_000) as b:
                await b.client.ask(call())
        total = b.tracker.total
        assert total.cost_usd == total.estimated_usd, name
        assert 0.002 < total.estimated_usd < 0.003, name
        assert b.tracker.summary()["estimated_calls"] == 1, name


async def test_a_call_of_unknown_cost_leaves_the_known_sum_known_also_after_a_restart(tmp_path: Path) -> None:
    replies = [Reply(GOOD, prompt_tokens=100, completion_tokens=50), Reply(GOOD, usage=False)]
    with Loopback(replies) as server:
        async with client_harness(tmp_path, server, **PRICED, completion_limit=1_000) as b:
            await b.client.ask(call("1"))
            await b.client.ask(call("2"))
        ceiling = b.tracker.total.estimated_usd
        assert ceiling > 0.002
        assert b.tracker.total.cost_usd == pytest.approx(0.0002 + ceiling)
        resumed = UsageTracker()
        resumed.restore(b.events)
        assert resumed.summary() == b.tracker.summary()
        limit = 0.0002 + ceiling + 0.001
        async with client_harness(
            tmp_path, server, **PRICED, completion_limit=1_000, tracker=resumed, budget=limit
        ) as more:
            with pytest.raises(BudgetExhausted):
                await more.client.ask(call("3"))
        assert server.count == 2


async def test_calls_made_when_no_price_was_known_count_at_the_price_known_now(
    tmp_path: Path,
) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=100, completion_tokens=50_000)]) as server:
        async with client_harness(tmp_path, server) as unknown:
            await unknown.client.ask(call("1"))
        async with client_harness(tmp_path, server, **PRICED, tracker=unknown.tracker, budget=0.11) as b:
            with pytest.raises(BudgetExhausted, match=r"\$0\.1001 so far"):
                await b.client.ask(call("2"))


# --- budget ---

COSTLY: dict[str, Any] = {"price_prompt": 0.0, "price_completion": 1000.0, "completion_limit": 800}
"""$0.80 for a call at most."""


async def test_a_spent_budget_says_how_much_of_it_is_estimated(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, usage=False)]) as server:
        async with client_harness(tmp_path, server, budget=1.0, **COSTLY) as b:
            await b.client.ask(call("0"))
            message = (
                r"\$0\.80 so far, of which \$0\.80 is an upper bound; the next call may cost up to \$0\.80"
            )
            with pytest.raises(BudgetExhausted, match=message):
                await b.client.ask(call("1"))


async def test_the_budget_stops_before_it_is_overspent(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=1, completion_tokens=100)]) as server:
        async with client_harness(tmp_path, server, budget=1.75, **COSTLY) as b:
            for number in range(10):
                await b.client.ask(call(f"{number}"))
            with pytest.raises(
                BudgetExhausted, match=r"\$1\.75 is spent \(\$1\.00 so far.*up to \$0\.80.*--budget"
            ) as caught:
                await b.client.ask(call("one more"))
        assert server.count == 10
        assert caught.value.exit_code == 3
        async with client_harness(tmp_path, server, budget=3.0, tracker=b.tracker, **COSTLY) as more:
            await more.client.ask(call("0"))
            await more.client.ask(call("new"))
        assert server.count == 11


async def test_a_call_waits_for_budget_that_others_have_reserved(tmp_path: Path) -> None:
    # Each may cost $0.80 and costs $0.10: all three fit into $1.00, though not side by side.
    with Loopback([Reply(GOOD, prompt_tokens=1, completion_tokens=100)]) as server:
        async with client_harness(tmp_path, server, budget=1.0, **COSTLY) as b:
            await asyncio.gather(*(b.client.ask(call(f"{number}")) for number in range(3)))
        assert (server.count, server.peak) == (3, 1)
    assert b.tracker.total.cost_usd == pytest.approx(0.3)


async def test_a_spent_budget_cuts_off_no_answer_that_is_on_its_way(tmp_path: Path) -> None:
    """The first refusal ends the run, and with it all that is out: so it waits until nothing is."""
    with Loopback([Reply(GOOD, prompt_tokens=1, completion_tokens=800)], latency=0.1) as server:
        async with client_harness(tmp_path, server, budget=2.0, **COSTLY, concurrency=16) as b:
            asking = [asyncio.create_task(b.client.ask(call(f"{number}"))) for number in range(16)]
            await asyncio.wait(asking, return_when=asyncio.FIRST_EXCEPTION)
            for task in asking:
                task.cancel()
            results = await asyncio.gather(*asking, return_exceptions=True)
        assert any(isinstance(result, BudgetExhausted) for result in results)
        assert server.count == 2
    assert b.logged("status") == ["ok", "ok"]
    assert b.tracker.total.estimated_usd == 0


async def test_every_request_carries_a_completion_limit(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str, int]] = [
        ({}, "max_tokens", 8_192),
        ({"completion_limit": 999}, "max_tokens", 999),
        ({"model": "openai/o3-mini"}, "max_completion_tokens", 4 * 8_192),
        ({"model": "openai/gpt-4"}, "max_tokens", 4_096),
    ]
    with Loopback([GOOD]) as server:
        for number, (settings, name, limit) in enumerate(cases):
            async with client_harness(tmp_path, server, **settings) as b:
                await b.client.ask(call(str(number)))
            assert server.requests[-1].body[name] == limit, settings


async def test_a_server_s_own_limit_and_its_name_are_learnt(tmp_path: Path) -> None:
    def handler(body: dict[str, Any]) -> str | Fault:
        if "max_tokens" in body:
            return Fault(
                400, message="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            )
        if body["max_completion_tokens"] > 4_000:
            return Fault(400, message="max_completion_tokens is too large: this model supports at most 4000.")
        return GOOD

    with Loopback(handler) as server:
        async with client_harness(tmp_path, server, **PRICED, budget=1.0, retries=0) as b:
            await b.client.ask(call("1"))
            await b.client.ask(call("2"))
        assert [request.body.get("max_completion_tokens") for request in server.requests] == [
            None, 8_192, 4_096, 2_048, 2_048,
        ]  # fmt: skip
    assert b.tracker.total.estimated_usd == 0


async def test_without_a_completion_limit_there_is_no_budget(tmp_path: Path) -> None:
    def handler(body: dict[str, Any]) -> str | Fault:
        name = next((name for name in body if name.startswith("max_")), None)
        return GOOD if name is None else Fault(400, message=f"{name}: Extra inputs are not permitted")

    with Loopback(handler) as server:
        async with client_harness(tmp_path, server, **PRICED, budget=1.0) as b:
            with pytest.raises(SettingsError, match=r"--budget needs a limit.*max_tokens"):
                await b.client.ask(call())
        async with client_harness(tmp_path, server, **PRICED) as b:
            await b.client.ask(call())


async def test_the_provider_s_bill_stays_within_the_budget(tmp_path: Path) -> None:
    """At 1, 8 and 64 calls at once; some answers are cut off, time out, come as garbage or without usage."""
    limit = 0.05
    for at_once in (1, 8, 64):
        provider = Bill(lambda body: GOOD, PRICED["price_prompt"], PRICED["price_completion"])
        with Loopback(provider, latency=0.002) as server:
            async with client_harness(
                tmp_path / str(at_once), server, **PRICED, budget=limit, completion_limit=1_000,
                concurrency=at_once, timeout=1.0,
            ) as b:  # fmt: skip
                results = await asyncio.gather(
                    *(b.client.ask(call(f"{number}")) for number in range(70)), return_exceptions=True
                )
        assert any(isinstance(result, BudgetExhausted) for result in results), at_once
        assert 0.5 * limit < provider.usd <= b.tracker.spent <= limit, at_once
        assert 0 < b.tracker.total.estimated_usd < b.tracker.spent


async def test_a_call_that_is_interrupted_is_booked_at_its_reservation(tmp_path: Path) -> None:
    asked = threading.Event()

    def handler(body: dict[str, Any]) -> Fault:
        asked.set()
        return Fault(hang=True)

    with Loopback(handler) as server:
        async with client_harness(tmp_path, server, **PRICED, completion_limit=1_000) as b:
            asking = asyncio.create_task(b.client.ask(call()))
            await asyncio.to_thread(asked.wait, 30)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
    assert b.logged("status", "reason") == [("failed", "interrupted")]
    assert b.tracker.total.estimated_usd == b.tracker.total.cost_usd
    assert b.tracker.spent > 0.002


async def test_a_refused_connection_and_an_error_answer_cost_nothing(tmp_path: Path) -> None:
    with Loopback([Fault(503)]) as server:
        async with client_harness(tmp_path, server, **PRICED, retries=1) as b:
            with pytest.raises(ModelUnavailable):
                await b.client.ask(call())
    async with client_harness(tmp_path, api_base=server.base, **PRICED, retries=1) as gone:
        with pytest.raises(ModelUnavailable):
            await gone.client.ask(call())
    assert (b.tracker.total.cost_usd, gone.tracker.total.cost_usd) == (0, 0)
    assert (b.tracker.total.calls, gone.tracker.total.calls) == (2, 1), "given up before: tried once"


async def test_one_budget_holds_for_several_runs(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=1, completion_tokens=800)]) as server:
        earlier = UsageTracker()
        async with client_harness(tmp_path, server, tracker=earlier, **COSTLY) as b:
            await b.client.ask(call("1"))
            await b.client.ask(call("2"))
        settings = b.client.settings.model_copy(update={"budget": 2.0})
        budget = create_budget(settings, {"earlier": earlier})
        budget.include("this", UsageTracker())
        with pytest.raises(BudgetExhausted, match=r"\$1\.60 so far"):
            async with budget.reserve(0.8):
                raise AssertionError("there was room")


async def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server, budget=1.0) as b:
            with pytest.raises(SettingsError, match=r"openai/test.*--price-prompt.*--price-completion"):
                await b.client.models.check()
            with pytest.raises(SettingsError):
                await b.client.ask(call())
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


@each_case(
    "amount, text", [(2, "$2.00"), (1.987, "$1.99"), (0.5, "$0.50"), (0.0123, "$0.0123"), (0, "$0.00")]
)
def test_dollars(amount: float, text: str) -> None:
    assert dollars(amount) == text


def test_a_settled_run_keeps_its_cost_and_is_replaced_when_it_goes_on() -> None:
    def tracker(cost: float) -> UsageTracker:
        made = UsageTracker()
        made.record({
            "event": "request", "request": "1", "role": "x", "label": None, "model": "m", "key": "k",
            "ceiling_usd": cost,
        })  # fmt: skip
        made.restore([])  # it was interrupted
        return made

    budget = create_budget(Settings(budget=10.0), {})
    for name, cost in (("a", 1.0), ("b", 2.0)):
        budget.include(name, tracker(cost))
        budget.settle(name)
    assert budget.spent == 3.0
    budget.include("a", tracker(1.5))
    assert budget.spent == 3.5
    budget.settle("a")
    budget.settle("unknown")
    assert budget.spent == 3.5
