"""A provider's answer that never ends, or unpacks into far more than it was, is cut off."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ideagora.errors import ModelUnavailable
from ideagora.models.transport import response_limit
from tests.support.clients import GOOD, PRICED, call, client_harness
from tests.support.loopback import Fault, Loopback, Reply, completion

WHOLE = json.dumps(completion({"model": "test"}, Reply(GOOD, prompt_tokens=9, completion_tokens=9))).encode()


async def test_endless_bodies_are_given_up_and_booked_at_their_ceiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_limit, "MAX_BYTES", 2**20)
    packed = gzip.compress(WHOLE + b" " * 2**23)
    faults = {
        "endless": Fault(garbage=b" " * 2**16, endless=True),
        "packed": Fault(garbage=packed, encoding="gzip"),
    }
    for name, fault in faults.items():
        with Loopback([fault]) as server:
            async with client_harness(
                tmp_path / name, server, **PRICED, completion_limit=1_000, retries=1, timeout=20
            ) as b:
                with pytest.raises(ModelUnavailable, match="the response has over 1 MB"):
                    await b.client.ask(call())
        assert b.tracker.total.estimated_usd > 0.002, name
        assert server.count == 2, name


async def test_a_packed_answer_is_read(tmp_path: Path) -> None:
    with Loopback([Fault(garbage=gzip.compress(WHOLE), encoding="gzip")]) as server:
        async with client_harness(tmp_path, server, **PRICED) as b:
            assert (await b.client.ask(call())).label == "related"
    assert b.tracker.total.completion_tokens == 9


async def test_what_fails_on_the_way_says_why_and_is_no_error_of_the_server(tmp_path: Path) -> None:
    faults = {
        "cannot be read .Unterminated": Fault(garbage=b'{"choices": [{"message'),
        "cannot be read .Expecting value": Fault(garbage=b"<html>moved</html>"),
        "cannot be read .(Invalid response object|Pydantic)": Fault(garbage=b'{"choices": [1]}'),
        "interrupted .Server disconnected": Fault(cut=True),
        "last error: 500: simulated failure": Fault(500),
    }
    for said, fault in faults.items():
        with Loopback([fault]) as server:
            async with client_harness(tmp_path, server, retries=0) as b:
                with pytest.raises(ModelUnavailable, match=said) as caught:
                    await b.client.ask(call())
        assert "Traceback" not in str(caught.value)
    async with client_harness(tmp_path, api_base="http://127.0.0.1:9/v1", retries=0) as gone:
        with pytest.raises(
            ModelUnavailable, match=r"the connection failed.*Connect call failed.*127\.0\.0\.1"
        ):
            await gone.client.ask(call())
