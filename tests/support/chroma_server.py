"""A real Chroma server on a loopback port, in a process of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from chromadb.api import ClientAPI

from ideagora.retrieval.store.chroma_connection import connect, disconnect

PROGRAM = Path(sys.executable).with_name("chroma")
_SECONDS = 60.0
_AGAIN = 0.02


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """The URL of a server that keeps its data in a folder; it ends with the block."""
    port = free_port()
    program = str(PROGRAM) if PROGRAM.exists() else shutil.which("chroma")
    assert program, "chromadb installs a program chroma, which is not found"
    command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, **quiet) as server:  # type: ignore[call-overload]
        url = f"http://127.0.0.1:{port}"
        try:
            _await(url, server)
            yield url
        finally:
            server.kill()


@contextmanager
def bare(url: str) -> Iterator[ClientAPI]:
    """A client of a server."""
    client = connect(url)
    try:
        yield client
    finally:
        disconnect(client)


def empty(url: str) -> None:
    """Remove everything from a server."""
    with bare(url) as client:
        for collection in client.list_collections():
            client.delete_collection(collection.name)


def _await(url: str, server: subprocess.Popen[bytes]) -> None:
    """Ask until it answers; each refused connection returns at once."""
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            httpx.get(f"{url}/api/v2/heartbeat").raise_for_status()
            return
        except httpx.TransportError:
            assert server.poll() is None, "chroma run has ended"
            assert time.monotonic() < deadline, "chroma run does not answer"
            time.sleep(_AGAIN)
