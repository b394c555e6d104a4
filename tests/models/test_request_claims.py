"""Two runs with the same questions in one home pay once, and neither can hold the other up."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from platform import node

from ideagora.models.cache.claims import RequestClaims
from ideagora.models.request import build_request
from tests.support.clients import GOOD, call, client_harness
from tests.support.loopback import Fault, Loopback


async def test_two_clients_of_one_home_ask_the_same_questions_once(tmp_path: Path) -> None:
    with Loopback([GOOD], latency=0.2) as server:
        async with client_harness(tmp_path, server) as one, client_harness(tmp_path, server) as other:
            asking = [b.client.ask(call(str(number))) for number in range(6) for b in (one, other)]
            answers = await asyncio.gather(*asking)
        assert {answer.label for answer in answers} == {"related"}
        assert server.count == 6
    assert one.tracker.total.calls + other.tracker.total.calls == 6


async def test_when_one_fails_the_other_asks(tmp_path: Path) -> None:
    with Loopback([Fault(400), GOOD], latency=0.2) as server:
        async with client_harness(tmp_path, server) as one, client_harness(tmp_path, server) as other:
            results = await asyncio.gather(
                one.client.ask(call()), other.client.ask(call()), return_exceptions=True
            )
        assert server.count == 2
    assert sum(isinstance(result, Exception) for result in results) == 1


async def test_nobody_waits_longer_than_a_call_may_take(tmp_path: Path) -> None:
    """The other process is there and has the claim, and says nothing."""
    with Loopback([GOOD]) as server:
        async with client_harness(tmp_path, server) as warm:
            await warm.client.ask(call("warm up"))
            hanging = RequestClaims(tmp_path / "cache" / "claims.sqlite")
            async with client_harness(tmp_path, server, timeout=0.4) as b:
                assert hanging.take(build_request(call(), b.client.settings).key, 60)
                assert (await b.client.ask(call())).label == "related"
            hanging.close()
        assert server.count == 2


def test_a_claim_ends_with_its_process_its_time_or_its_release(tmp_path: Path) -> None:
    one, other = RequestClaims(tmp_path / "claims.sqlite"), RequestClaims(tmp_path / "claims.sqlite")
    assert one.take("k", 60)
    assert one.take("k", 60)
    assert not other.take("k", 60)
    other.release("k")
    assert not other.take("k", 60)
    one.release("k")
    assert other.take("k", -1)
    assert one.take("k", 60), "out of time"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with closing(sqlite3.connect(tmp_path / "claims.sqlite")) as db, db:
        db.execute("UPDATE claims SET process = ?", (gone.pid,))
    assert other.take("k", 60), "its process is gone"
    with closing(sqlite3.connect(tmp_path / "claims.sqlite")) as db, db:
        db.execute("UPDATE claims SET host = ?", (f"not {node()}",))
    assert not one.take("k", 60), "whether a process of another host is there cannot be told"
    one.close()
    other.close()


def test_a_file_that_cannot_be_used_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "claims.sqlite").write_bytes(os.urandom(5_000))
    claims = RequestClaims(tmp_path / "claims.sqlite")
    assert claims.take("k", 60)
    claims.release("k")
    claims.close()
