"""A real Chroma server on a loopback port, in a subprocess."""

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
_START_SECONDS = 60.0
_RETRY_SECONDS = 0.02


def free_port() -> int:
    """A free TCP port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """Run a server with its data in a folder; yields its URL."""
    port = free_port()
    program = str(PROGRAM) if PROGRAM.exists() else shutil.which("chroma")
    assert program, "the program chroma, which chromadb installs, was not found"
    command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, **quiet) as server:  # type: ignore[call-overload]
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_until_ready(url, server)
            yield url
        finally:
            server.kill()


@contextmanager
def connect_client(url: str) -> Iterator[ClientAPI]:
    """A Chroma client of a server, without a store."""
    client = connect(url)
    try:
        yield client
    finally:
        disconnect(client)


def clear_server(url: str) -> None:
    """Delete all collections of a server."""
    with connect_client(url) as client:
        for collection in client.list_collections():
            client.delete_collection(collection.name)


def _wait_until_ready(url: str, server: subprocess.Popen[bytes]) -> None:
    """Poll the server's heartbeat."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(f"{url}/api/v2/heartbeat").raise_for_status()
            return
        except httpx.TransportError:
            assert server.poll() is None, "chroma run has ended"
            assert time.monotonic() < deadline, "chroma run does not answer"
            time.sleep(_RETRY_SECONDS)
