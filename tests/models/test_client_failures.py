"""Failures at the door: what passes is tried again, the rest is one line; no key gets out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import (
    MissingKey,
    ModelError,
    ModelUnavailable,
    QuotaExhausted,
    RealCallForbidden,
    RequestRejected,
    UnknownModel,
    UnreadableAnswer,
)
from ideagora.models.transport.retry import MAX_WAIT
from tests.support.clients import GOOD, KEY, call, client_harness
from tests.support.loopback import Fault, Loopback, Reply

# --- retries ---


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429),
        Fault(500),
        Fault(503),
        Fault(529),
        Fault(408),
        Fault(cut=True),
        Fault(garbage=b"<html>"),
        Fault(garbage=b'{"choices": []}'),
    ],
    ids=lambda fault: "cut" if fault.cut else "garbage" if fault.garbage else str(fault.status),
)
async def test_what_passes_is_tried_again_and_each_try_is_billed(tmp_path: Path, fault: Fault) -> None:
    with Loopback([fault, fault, GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            assert (await b.client.ask(call())).label == "related"
        assert server.count == 3
    assert b.tracker.total.calls == 3
    assert b.logged("status", "retry", "billed") == [
        ("failed", 0, True),
        ("failed", 1, True),
        ("ok", 2, True),
    ]
    assert len(b.waits) == 2
    assert 0.5 <= b.waits[0] <= 1.0 <= b.waits[1] <= 2.0


async def test_a_server_that_says_nothing_is_given_up_on(tmp_path: Path) -> None:
    with Loopback([GOOD, Fault(hang=True), GOOD]) as server:
        async with client_harness(tmp_path, server) as warm:  # litellm's first call takes its time
            await warm.client.ask(call("Warm up."))
        async with client_harness(tmp_path, server, timeout=0.2) as b:
            assert (await b.client.ask(call())).label == "related"
    assert b.logged("status") == ["failed", "ok"]


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [("7", 7.0, 7.5), ("3600", MAX_WAIT, MAX_WAIT + 0.5), ("soon", 0.5, 1.0), ("-3", 0.0, 0.5)],
)
async def test_retry_after_is_honoured_and_capped(tmp_path: Path, said: str, low: float, high: float) -> None:
    with Loopback([Fault(429, retry_after=said), GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            await b.client.ask(call())
    assert low <= b.waits[0] <= high


async def test_retry_after_may_be_a_date(tmp_path: Path) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    with Loopback([Fault(503, retry_after=date), GOOD]) as server:
        async with client_harness(tmp_path, server) as b:
            await b.client.ask(call())
    assert 2.5 < b.waits[0] < 41


async def test_failures_that_outlast_the_retries(tmp_path: Path) -> None:
    with Loopback([Fault(500, message="out\nof order")]) as server:
        async with client_harness(tmp_path, server, retries=3) as b:
            with pytest.raises(
                ModelUnavailable, match=r"in 4 attempts.*500: out of order.*--retries"
            ) as caught:
                await b.client.ask(call())
        assert server.count == 4
    assert "\n" not in str(caught.value)
    assert caught.value.usage.calls == b.tracker.total.calls == 4
    assert b.tracker.total.cost_usd == 0.0


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (Fault(400, message="bad field"), RequestRejected, "400: bad field"),
        (Fault(400, message="maximum context length is 10 tokens"), RequestRejected, "longer context"),
        (Fault(401, message=f"Incorrect API key provided: {KEY}"), MissingKey, "Check OPENAI_API_KEY"),
        (Fault(402), RequestRejected, "402"),
        (Fault(403), RequestRejected, "may not use"),
        (Fault(404, message="no such model"), UnknownModel, "--api-base"),
        (Fault(400, message="the model `test` does not exist"), UnknownModel, "--model"),
        (Fault(413), RequestRejected, "413"),
        (Fault(422), RequestRejected, "422"),
        (Fault(429, message="You exceeded your current quota"), QuotaExhausted, "quota"),
    ],
)
async def test_an_error_that_no_retry_fixes_is_one_line_at_once(
    tmp_path: Path, fault: Fault, kind: type[ModelError], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Loopback([fault]) as server:
        async with client_harness(tmp_path, server) as b:
            with pytest.raises(kind) as caught:
                await b.client.ask(call())
        assert server.count == 1
    message = str(caught.value)
    assert text in message
    assert "openai/test" in message
    assert "\n" not in message
    assert KEY not in message
    assert caught.value.__cause__ is None
    assert caught.value.usage.calls == b.tracker.total.calls == 1
    assert b.logged("status") == ["failed"]


async def test_settings_that_a_server_refuses_are_left_out_from_then_on(tmp_path: Path) -> None:
    def handler(body: dict[str, Any]) -> str | Fault:
        if "response_format" in body:
            return Fault(400, message="json_schema is not supported")
        return Fault(422, message="'temperature' must be 1") if "temperature" in body else GOOD

    with Loopback(handler) as server:
        async with client_harness(tmp_path, server, retries=0) as b:
            await b.client.ask(call(temperature=0.3))
            await b.client.ask(call("Second.", temperature=0.3))
        assert server.count == 4
    assert b.logged("status") == ["failed", "failed", "ok", "ok"]
    assert "rejected response_format" in b.logged("reason")[0]
    assert b.tracker.total.calls == 4
    assert b.waits == []


async def test_settings_that_a_model_does_not_take_are_left_out(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server, model="openai/o1", temperature=0.5) as b:
            await b.client.ask(call())
        [request] = server.requests
    assert "temperature" not in request.body
    assert "response_format" in request.body
    assert b.logged("status") == ["ok"]


# --- models and keys ---


async def test_a_missing_key_is_named(tmp_path: Path) -> None:
    async with client_harness(tmp_path, model="anthropic/claude-x", forbid_real_calls=False) as b:
        with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
            await b.client.models.check()
        with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
            await b.client.ask(call())
    assert b.events == []


@pytest.mark.parametrize("model", ["nosuch/model", "gtp-9", ""])
async def test_an_unknown_model_is_named_with_examples(tmp_path: Path, model: str) -> None:
    async with client_harness(tmp_path, model=model, forbid_real_calls=False) as b:
        with pytest.raises(UnknownModel, match=r"provider/model.*openai/gpt-4o-mini") as caught:
            await b.client.ask(call())
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


async def test_a_server_of_one_s_own_needs_no_provider_and_no_key(tmp_path: Path) -> None:
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server, model="meta-llama/Llama-3-8B") as b:
            await b.client.ask(call())
        assert server.requests[0].body["model"] == "meta-llama/Llama-3-8B"
        assert server.requests[0].headers["authorization"] == "Bearer none"


async def test_the_scripted_model_has_to_be_given(tmp_path: Path) -> None:
    async with client_harness(tmp_path, model="scripted") as b:
        with pytest.raises(UnknownModel, match="scripted"):
            await b.client.ask(call())


@pytest.mark.parametrize("base", [None, "https://example.org/v1", "http://127.0.0.1.example.org/v1"])
async def test_real_calls_can_be_forbidden(
    tmp_path: Path, base: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with client_harness(
        tmp_path, api_base=base, model="openai/gpt-4o-mini", forbid_real_calls=True
    ) as b:
        with pytest.raises(RealCallForbidden, match="IDEAGORA_FORBID_REAL_CALLS"):
            await b.client.ask(call())


async def test_no_key_gets_anywhere(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shape = "sk-abc123def456ghi789jkl"
    replies: list[str | Reply | Fault] = [
        Fault(500, message=f"oops {KEY} {shape}"),
        f"no JSON but {KEY}",
        f"no JSON but {KEY}",
        f"no JSON but {KEY}",
        Fault(401, message=f"wrong: {KEY} {shape}"),
    ]
    with Loopback(replies) as server:
        async with client_harness(tmp_path, server) as b:
            with pytest.raises(UnreadableAnswer) as unreadable:
                await b.client.ask(call())
            with pytest.raises(MissingKey) as refused:
                await b.client.ask(call("Other."))
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    said = json.dumps(b.events) + str(unreadable.value) + str(unreadable.value.raw) + str(refused.value)
    printed = capfd.readouterr()
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) >= 2
    for secret in (KEY, shape):
        assert secret not in said + caplog.text + printed.out + printed.err
        assert not any(secret.encode() in content for content in files)
