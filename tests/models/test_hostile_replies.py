"""What a model may send to stop its reader: each reply is read or refused with a reason, and soon."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import UnreadableAnswer
from ideagora.models.call import FreeText
from ideagora.models.chat_models import ScriptedChatModel
from ideagora.models.parsing import stored_reply
from ideagora.models.parsing.structured_output import MAX_REPLY, UnreadableReply, parse_answer
from tests.support.clients import GOOD, Label, call, client_harness
from tests.support.each import each_case
from tests.support.loopback import Loopback, Reply

STEPS = f"{{{'/* step */' * 2_000}{GOOD[1:]}"
HUNG = {
    "comments after a brace": STEPS,
    "many empty comments": "{/**/" + "/**/" * 5_000 + "!",
    "an abbreviated list": f"Years: [2017, 2018, …, 2025, ...{'-1-1' * 2_000}!]",
    "tags that never close": "<think>" * 20_000,
    "tags on lines of their own": "<think>\n" * 20_000,
    "empty lines": "\n" * 30_000,
    "openers": "{x" * 10_000,
    "deep lists": "[1," * 20_000,
    "objects": "{}" * 20_000,
    "a huge character reference": "{&quot;label&quot;: &quot;&#" + "1" * 10_000 + ";&quot;}",
    "a number of thousands of digits": '{"label": ' + "1" * 10_000 + "}",
}


@each_case("reply", [STEPS, "<think>" * 20_000 + "</think>\n" + GOOD])
def test_an_answer_behind_what_used_to_hang_is_read(reply: str) -> None:
    assert parse_answer(reply, Label) == Label(label="related", why="both use retrieval")


@each_case("name", sorted(set(HUNG) - {"comments after a brace"}))
def test_what_used_to_hang_is_refused_with_a_reason(name: str) -> None:
    with pytest.raises(UnreadableReply) as refused:
        parse_answer(HUNG[name], Label)
    assert refused.value.reason


@each_case("answer", [Label, FreeText])
def test_ten_megabytes_are_refused_with_their_size(answer: type[Any]) -> None:
    with pytest.raises(
        UnreadableReply, match="it has 10,000,000 characters, more than the 1,000,000 allowed"
    ):
        parse_answer("x" * 10_000_000, answer)


def test_a_long_answer_is_read() -> None:
    why = "word " * 150_000
    read = parse_answer(f'{{"label": "related", "why": "{why}",}}', Label)
    assert len(read.why) == len(why)


async def test_a_refused_long_reply_is_asked_again_and_kept(tmp_path: Path) -> None:
    long = "y" * (MAX_REPLY + 1)
    chat = ScriptedChatModel(replies={"judge": [long, GOOD]})
    async with client_harness(tmp_path, model="scripted", chats={"scripted": chat}) as one:
        assert (await one.client.ask(call())).label == "related"
        assert one.logged("status") == ["unreadable", "ok"]
        assert "more than the 1,000,000 allowed" in one.logged("reason")[0]
    assert len(chat.calls[1].messages[-2][1]) < 10_000


async def test_other_calls_go_on_while_a_long_reply_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, told, go = asyncio.Event(), asyncio.get_running_loop(), threading.Event()

    def slow(*args: Any) -> Label:
        told.call_soon_threadsafe(begun.set)
        assert go.wait(20)
        return Label(label="slow", why="")

    monkeypatch.setattr(stored_reply, "parse_answer", slow)
    chat = ScriptedChatModel(replies={"judge": ["x" * (stored_reply.LONG_REPLY + 1)]})
    async with client_harness(tmp_path, model="scripted", chats={"scripted": chat}) as one:
        asked = asyncio.create_task(one.client.ask(call()))
        await asyncio.wait_for(begun.wait(), 20)  # the loop is free
        go.set()
        assert (await asked).label == "slow"


def test_ctrl_c_is_heard_at_the_first_press_while_a_reply_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never, ended = threading.Event(), []

    def slow(*args: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        never.wait(20)
        ended.append("read to the end")

    async def main() -> None:
        chat = ScriptedChatModel(replies={"judge": ["x" * (stored_reply.LONG_REPLY + 1)]})
        async with client_harness(tmp_path, model="scripted", chats={"scripted": chat}) as one:
            await one.client.ask(call())

    monkeypatch.setattr(stored_reply, "parse_answer", slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, before)
    assert not ended
    never.set()


async def test_reading_that_takes_too_long_is_an_unreadable_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()
    monkeypatch.setattr(stored_reply, "parse_answer", lambda *args: never.wait(20))
    monkeypatch.setattr(stored_reply, "TIMEOUT", 0.05)
    chat = ScriptedChatModel(replies={"judge": ["x" * (stored_reply.LONG_REPLY + 1)] * 3})
    async with client_harness(tmp_path, model="scripted", chats={"scripted": chat}) as one:
        with pytest.raises(UnreadableAnswer, match=r"took over 0\.05 s"):
            await one.client.ask(call())
        never.set()


async def test_a_kept_answer_that_used_to_hang_is_read_again(tmp_path: Path) -> None:
    for name in ("an abbreviated list", "many empty comments", "tags that never close"):
        chat = ScriptedChatModel(replies={"judge": [HUNG[name][:8_000]] * 3})
        for _ in range(2):
            async with client_harness(tmp_path / name, model="scripted", chats={"scripted": chat}) as one:
                with pytest.raises(UnreadableAnswer):
                    await one.client.ask(call())
        assert len(chat.calls) == 3


async def test_half_a_surrogate_pair_ends_no_call(tmp_path: Path) -> None:
    spoken = '{"label": "re\ud800lated", "why": "\ud83d\ude00"}'
    with Loopback(lambda request: Reply(spoken)) as server:
        async with client_harness(tmp_path, server) as one:
            assert await one.client.ask(call()) == Label(label="re\ufffdlated", why="\U0001f600")
    chat = ScriptedChatModel(replies={"judge": [f"no JSON {spoken[1:12]}"] * 3})
    async with client_harness(tmp_path, model="scripted", chats={"scripted": chat}) as one:
        with pytest.raises(UnreadableAnswer) as error:
            await one.client.ask(replace(call(), prompt="Again."))
        "".join(error.value.raw).encode()


def test_a_number_without_end_is_not_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that repairs JSON takes time quadratic in a number's length."""
    import json_repair

    longest = 0

    def measured(text: str, **options: Any) -> Any:
        nonlocal longest
        longest = max(longest, len(text))
        return {}

    monkeypatch.setattr(json_repair, "loads", measured)
    for number in ("9" * 100_000, "1," * 50_000 + "1", "1/" * 50_000 + "1"):
        with suppress(UnreadableReply):
            parse_answer(f"{{'label': 'a', 'n': {number}}}", Label)
    assert longest < 50_000
