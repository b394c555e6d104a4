"""The guard that holds for every other test is itself tested."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.conftest import NetworkForbidden, NetworkGuard

ELSEWHERE = "192.0.2.1"  # RFC 5737: reserved for documentation, belongs to nobody
NAME_ELSEWHERE = "model.example"


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def refused(network: NetworkGuard) -> Iterator[list[str]]:
    """What was refused, forgiven at the end: for tests that are meant to be refused."""
    yield network.refused
    network.refused.clear()


@pytest.mark.parametrize("call", ["connect", "connect_ex"])
def test_a_connection_to_elsewhere_is_refused(call: str, refused: list[str]) -> None:
    with (
        socket.socket() as connection,
        pytest.raises(NetworkForbidden, match=r"192\.0\.2\.1.*loopback"),
    ):
        getattr(connection, call)((ELSEWHERE, 443))
    assert refused == [ELSEWHERE]


def test_a_datagram_to_elsewhere_is_refused(refused: list[str]) -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as connection,
        pytest.raises(NetworkForbidden),
    ):
        connection.sendto(b"?", (ELSEWHERE, 53))


def test_a_name_is_not_even_looked_up(refused: list[str]) -> None:
    with pytest.raises(NetworkForbidden, match=NAME_ELSEWHERE):
        socket.getaddrinfo(NAME_ELSEWHERE, 443)


async def test_asyncio_is_guarded_too(refused: list[str]) -> None:
    with pytest.raises(NetworkForbidden):
        await asyncio.open_connection(ELSEWHERE, 443)
    assert refused


def test_loopback_is_let_through() -> None:
    with HTTPServer(("127.0.0.1", 0), _Hello) as server:
        worker = threading.Thread(target=server.handle_request)
        worker.start()
        with urllib.request.urlopen(f"http://localhost:{server.server_port}/") as reply:
            assert reply.read() == b"hello"
        worker.join()


SWALLOWS = """
import socket

def test_swallows():
    try:
        socket.getaddrinfo("model.example", 443)
    except Exception:
        pass
"""


def test_code_that_swallows_the_refusal_still_fails_its_test(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import _network_guard, network\n")
    (tmp_path / "test_it.py").write_text(SWALLOWS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--disable-plugin-autoload",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "the test tried to reach model.example" in done.stdout
    assert "1 passed, 1 error" in done.stdout


def test_settings_and_keys_of_this_machine_are_out_of_sight() -> None:
    seen = {name for name in os.environ if name.startswith("IDEAGORA_") or name.endswith("_API_KEY")}
    assert seen == {"IDEAGORA_HOME", "IDEAGORA_FORBID_REAL_CALLS"}
