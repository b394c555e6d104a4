"""``LLMClient`` with the real litellm against a loopback server, and with the scripted model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from ideagora.config import Settings
from ideagora.errors import (
    ReplayMiss,
    RequestRejected,
    UnreadableAnswer,
)
from ideagora.models.cache.retry_failed import keys_to_retry, retry_counts
from ideagora.models.call import Inputs
from ideagora.models.chat_models import OfflineChatModel, ScriptedChatModel
from ideagora.models.parsing import stored_reply
from ideagora.models.parsing.structured_output import parse_answer
from ideagora.models.request import build_request
from ideagora.models.transport.retry import TransientError
from ideagora.models.usage import usage_label
from ideagora.schema import Usage
from tests.support.clients import GOOD, PRICED, ClientHarness, Label, Pair, call, client_harness, scripted
from tests.support.loopback import Fault, Loopback, Reply

# --- the main path ---


async def test_a_call_is_answered_stored_and_billed(tmp_path: Path) -> None:
    with Loopback([Reply(GOOD, prompt_tokens=100, completion_tokens=10)]) as server:
        async with client_harness(tmp_path, server, **PRICED) as b:
            with usage_label("branch 1"):
                answer = await b.client.ask(call())
        assert answer == Label(label="related", why="both use retrieval")
        body = server.requests[0].body
    assert body["model"] == "test"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["label", "why"]
    assert "temperature" not in body
    assert b.tracker.total.model_copy(update={"seconds": 0.0}) == Usage(
        calls=1, prompt_tokens=100, completion_tokens=10, cost_usd=0.00012
    )
    assert b.logged("event", "role", "label", "model", "cached", "attempt", "status", "billed") == [
        ("call", "judge", "branch 1", "openai/test", False, 1, "ok", True)
    ]


async def test_an_answered_call_is_not_asked_again_and_not_billed_to_others(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server) as first:
            answer = await first.client.ask(call())
            assert await first.client.ask(call()) == answer
        async with client_harness(tmp_path, server, run_id="another") as second:
            assert await second.client.ask(call()) == answer
        assert server.count == 1
    assert first.logged("cached", "billed") == [(False, True), (True, False)]
    assert (first.tracker.total.calls, first.tracker.cached) == (1, 1)
    assert second.tracker.total == Usage()
    assert second.logged("cached", "billed") == [(True, False)]


async def test_what_changes_the_answer_changes_the_request(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            for one in (call(), call("Other."), call(sample=1), call(temperature=0.5), call(system="")):
                await b.client.ask(one)
                await b.client.ask(one)
        async with client_harness(
            tmp_path, server, timeout=7.0, retries=0, concurrency=1, run_id="r2"
        ) as same:
            await same.client.ask(call())
        async with client_harness(tmp_path, server, model="openai/other") as other:
            await other.client.ask(call())
        assert server.count == 6
        assert [request.body.get("temperature") for request in server.requests] == [None] * 3 + [0.5] + [
            None
        ] * 2


def test_a_request_holds_no_key_and_no_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    base = "http://me:" + "pass@host/v1/"
    one = build_request(call(), Settings(model="openai/x", api_base=base, home=tmp_path))
    assert one.api_base == "http://host/v1"
    assert (
        build_request(call(), Settings(model="openai/x", api_base="http://host/v1", home=tmp_path)).key
        == one.key
    )


# --- replay ---


async def test_replay_answers_from_the_cache_alone(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            answer = await b.client.ask(call())
        base = server.base
    async with client_harness(tmp_path, api_base=base, replay=True, run_id="again") as again:
        await again.client.models.check()
        assert await again.client.ask(call()) == answer
        with pytest.raises(ReplayMiss, match=r"judge.*without --replay"):
            await again.client.ask(call("New."))
    assert again.tracker.total == Usage()


# --- unreadable answers ---


async def test_an_unreadable_answer_is_asked_again_with_what_was_wrong(tmp_path: Path) -> None:
    with Loopback(['{"label": "related"}', "I'm sorry, but I can't do that.", GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            assert (await b.client.ask(call())).why == "both use retrieval"
        second, third = server.requests[1].body["messages"], server.requests[2].body["messages"]
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == '{"label": "related"}'
    assert "'why' is missing" in second[3]["content"]
    assert len(third) == 6
    assert "refusal" in third[5]["content"]
    assert b.logged("attempt", "status") == [(1, "unreadable"), (2, "unreadable"), (3, "ok")]
    assert b.tracker.total.calls == 3


async def test_three_unreadable_answers_are_an_error_that_keeps_them(tmp_path: Path) -> None:
    replies: list[str | Reply | Fault] = [
        "no JSON",
        Reply('{"label": "a", "why": "b"}', finish_reason="length"),
        Reply(None, refusal="I refuse."),
    ]
    with Loopback(replies) as server:
        async with client_harness(tmp_path, server) as b:
            with pytest.raises(UnreadableAnswer) as caught:
                await b.client.ask(call(role="pairwise judge/../x"))
        assert server.count == 3
    assert caught.value.raw == ["no JSON", '{"label": "a", "why": "b"}', "I refuse."]
    assert caught.value.usage.calls == 3
    [kept] = (tmp_path / "raw").iterdir()
    assert str(kept) in str(caught.value)
    assert kept.name.startswith("pairwise-judge-x-")
    text = kept.read_text(encoding="utf-8")
    assert all(part in text for part in ("no JSON", '{"label": "a", "why": "b"}', "I refuse.", "token limit"))


async def test_an_empty_reply_is_not_sent_back_empty(tmp_path: Path) -> None:
    with Loopback(["", GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            await b.client.ask(call())
        assert all(message["content"] for message in server.requests[1].body["messages"])


async def test_a_complaint_of_the_role_counts_as_unreadable(tmp_path: Path) -> None:
    def check(inputs: Inputs, answer: Label) -> str | None:
        return None if answer.label == inputs.model_dump()["first"] else f"there is no {answer.label!r}."

    chat = scripted({"label": "nine", "why": "x"}, {"label": "one", "why": "x"})
    async with client_harness(tmp_path, chats={"scripted": chat}) as b:
        assert (await b.client.ask(call(check=check))).label == "one"
    assert "there is no 'nine'" in chat.calls[1].messages[-1][1]
    assert b.logged("status", "reason") == [("unreadable", "there is no 'nine'"), ("ok", None)]


async def test_unreadable_answers_come_from_the_cache_too(tmp_path: Path) -> None:
    chat = scripted("nothing", "nothing", "nothing")
    async with client_harness(tmp_path, chats={"scripted": chat}) as b:
        for _ in range(2):
            with pytest.raises(UnreadableAnswer):
                await b.client.ask(call())
    assert len(chat.calls) == 3
    assert b.logged("cached") == [False] * 3 + [True] * 3


# --- side by side ---


async def test_no_more_calls_are_out_than_allowed(tmp_path: Path) -> None:
    full = threading.Barrier(3)

    def handler(body: dict[str, Any]) -> str:
        full.wait(timeout=10)  # three are in at the same time, or this breaks
        return GOOD

    with Loopback(handler) as server:
        async with client_harness(tmp_path, server, concurrency=3) as b:
            await asyncio.gather(*(b.client.ask(call(f"{number}")) for number in range(9)))
        assert (server.count, server.peak) == (9, 3)


async def test_the_same_request_at_the_same_time_is_asked_once(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            answers = await asyncio.gather(*(b.client.ask(call()) for _ in range(5)))
        assert server.count == 1
    assert len(set(answers)) == 1
    assert sorted(b.logged("cached", "billed")) == [(False, True)] + [(True, False)] * 4
    assert b.tracker.total.calls == 1


async def test_each_caller_parses_a_reply_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(text: str, *arguments: Any) -> Any:
        parsed.append(text)
        return parse_answer(text, *arguments)

    def count() -> int:
        number = len(parsed)
        parsed.clear()
        return number

    monkeypatch.setattr(stored_reply, "parse_answer", parse)
    with Loopback(["no", "no", GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            await b.client.ask(call())
            assert (count(), server.count) == (3, 3), "one parse for each reply"
            await b.client.ask(call())
            assert (count(), server.count) == (3, 3), "from the cache"
            await asyncio.gather(*(b.client.ask(call("Other.")) for _ in range(4)))
            assert (count(), server.count) == (4, 4), "shared by four calls, each with its own check"


@asynccontextmanager
async def blocked_call(
    home: Path,
) -> AsyncIterator[tuple[ClientHarness, Callable[[], None], ScriptedChatModel, asyncio.Event]]:
    """A scripted model that blocks until it is released."""
    asked, release = asyncio.Event(), asyncio.Event()

    class Blocked(ScriptedChatModel):
        async def _agenerate(self, *arguments: Any, **named: Any) -> Any:
            asked.set()
            await release.wait()
            return await super()._agenerate(*arguments, **named)

    chat = Blocked(replies=lambda _: GOOD)
    async with client_harness(home, chats={"scripted": chat}) as b:
        yield b, release.set, chat, asked


async def test_the_first_caller_may_be_cancelled(tmp_path: Path) -> None:
    async with blocked_call(tmp_path) as (b, release, chat, asked):
        first = asyncio.create_task(b.client.ask(call()))
        await asked.wait()
        second = asyncio.create_task(b.client.ask(call()))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        release()
        assert (await second).label == "related"
        assert len(chat.calls) == 1
    assert b.tracker.total.calls == 1


async def test_an_interruption_goes_through_at_once_and_is_billed(tmp_path: Path) -> None:
    async with blocked_call(tmp_path) as (b, release, chat, asked):
        task = asyncio.create_task(b.client.ask(call()))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert chat.calls == []
        assert b.logged("status", "reason") == [("failed", "interrupted")]
        release()
        assert (await b.client.ask(call())).label == "related"
    assert b.tracker.total.calls == 2


async def test_an_error_reaches_all_who_wait(tmp_path: Path) -> None:
    with Loopback([Fault(400)]) as server:
        async with client_harness(tmp_path, server) as b:
            results = await asyncio.gather(*(b.client.ask(call()) for _ in range(3)), return_exceptions=True)
        assert server.count == 1
    assert [type(result) for result in results] == [RequestRejected] * 3
    assert b.tracker.total.calls == 1


async def test_closing_a_client_keeps_the_connections_of_another(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path / "a", server) as staying:
            await staying.client.ask(call("One."))
            async with client_harness(tmp_path / "b", server) as leaving:
                await leaving.client.ask(call("One."))
            await staying.client.ask(call("Two."))
        async with client_harness(tmp_path / "c", server) as later:
            await later.client.ask(call("One."))
    assert staying.logged("status") == ["ok", "ok"]
    assert later.logged("status") == ["ok"]


# --- other chat models ---


async def test_the_offline_model_answers_from_the_inputs_for_nothing(tmp_path: Path) -> None:
    chats: dict[str, BaseChatModel] = {"offline": OfflineChatModel(engine=lambda: None)}
    async with client_harness(tmp_path, chats=chats, model="offline", budget=0.01) as b:
        await b.client.models.check()
        b.client.models.warm_up()
        assert await b.client.ask(call()) == Label(label="one", why="two")
        assert (await b.client.ask(call(inputs=Pair(first="three")))).label == "three"
    assert b.tracker.total.cost_usd == 0.0
    assert b.tracker.total.prompt_tokens == 0
    assert b.logged("cached") == [False, False]


async def test_an_offline_answer_that_does_not_fit_is_not_asked_for_again(tmp_path: Path) -> None:
    chats: dict[str, BaseChatModel] = {"offline": OfflineChatModel(engine=lambda: None)}
    async with client_harness(tmp_path, chats=chats, model="offline") as b:
        with pytest.raises(UnreadableAnswer, match="'why' is missing"):
            await b.client.ask(call(handler=lambda engine, inputs: {"label": "x"}))
    assert b.tracker.total.calls == 1


async def test_a_bug_in_an_offline_handler_is_not_a_model_error(tmp_path: Path) -> None:
    chats: dict[str, BaseChatModel] = {"offline": OfflineChatModel(engine=lambda: None)}
    async with client_harness(tmp_path, chats=chats, model="offline") as b:
        with pytest.raises(ZeroDivisionError):
            await b.client.ask(call(handler=lambda engine, inputs: {"label": 1 // 0}))


async def test_the_scripted_model_can_fail(tmp_path: Path) -> None:
    chat = scripted(
        TransientError("busy"), TimeoutError("too slow"), Label(label="a", why="b"), RequestRejected("no")
    )
    async with client_harness(tmp_path, chats={"scripted": chat}) as b:
        assert (await b.client.ask(call(temperature=0.7))).label == "a"
        with pytest.raises(RequestRejected, match="no"):
            await b.client.ask(call("Next."))
        with pytest.raises(LookupError, match="judge"):
            await b.client.ask(call("One too many."))
    assert [one.temperature for one in chat.calls[:3]] == [0.7] * 3
    assert b.logged("status") == ["failed", "failed", "ok", "failed"]


async def test_any_langchain_chat_model_will_do(tmp_path: Path) -> None:
    chats: dict[str, BaseChatModel] = {"mine": FakeListChatModel(responses=[GOOD])}
    async with client_harness(tmp_path, chats=chats, model="mine") as b:
        assert (await b.client.ask(call())).label == "related"
    assert b.tracker.total.cost_usd is None


async def test_a_failed_run_asks_another_sample_and_touches_no_stored_answer(tmp_path: Path) -> None:
    """Only what was unreadable to the end is asked anew; other runs and a replay keep what they had."""
    replies = ["no", "no", GOOD, "no", "no", "no", GOOD]
    with Loopback(replies) as server:
        async with client_harness(tmp_path, server) as failed:
            await failed.client.ask(call("repaired"))
            with pytest.raises(UnreadableAnswer):
                await failed.client.ask(call("unread"))
        keys = keys_to_retry(failed.events)
        assert len(keys) == 1
        events = [*failed.events, {"event": "asked anew", "keys": keys}]
        assert keys_to_retry(events) == []
        for replay, asked in ((False, 7), (True, 7)):
            async with client_harness(
                tmp_path, server, replay=replay, retry_counts=retry_counts(events)
            ) as again:
                for prompt in ("repaired", "unread"):
                    assert (await again.client.ask(call(prompt))).label == "related"
            assert server.count == asked
        async with client_harness(tmp_path, server, replay=True) as other:
            await other.client.ask(call("repaired"))
            with pytest.raises(UnreadableAnswer):
                await other.client.ask(call("unread"))
        assert server.count == 7
