"""A loopback server that speaks the protocol of the Hugging Face hub, for one data set.

    with HubServer({"a.json": b"{}"}) as hub:
        look_up(data, endpoint=hub.url)

Large files (``lfs``) are redirected to a second address, as the hub does. ``faults`` are served first, one
per request for a file, in order. ``requests`` lists the requests with their headers.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "1234567890abcdef1234567890abcdef12345678"
REPOSITORY = "owner/bench"


@dataclass(frozen=True)
class Fault:
    """How one request for a file fails."""

    status: int | None = None
    cut_after: int | None = None
    """Bytes after which the connection is closed."""
    ignores_range: bool = False
    """Send the whole file, although a part was requested."""


@dataclass
class HubServer:
    """The server, running inside a ``with`` block."""

    files: Mapping[str, bytes]
    lfs: frozenset[str] = frozenset()
    faults: list[Fault] = field(default_factory=list)
    served: Mapping[str, bytes] = field(default_factory=dict)
    """Contents that differ from what is listed."""
    license: str | None = "apache-2.0"
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, path and headers."""

    def __enter__(self) -> HubServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The address, for ``endpoint``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def ranges(self) -> list[str | None]:
        """The ``Range`` of each request that was answered with content."""
        return [headers.get("range") for _, path, headers in self.requests if self._is_content(path)]

    def _is_content(self, path: str) -> bool:
        name = unquote(path).partition(f"/{COMMIT}/")[2]
        return path.startswith("/cdn/") or ("/resolve/" in path and name not in self.lfs)

    def info(self) -> dict[str, Any]:
        """What the hub says about the data set."""
        return {
            "id": REPOSITORY,
            "sha": COMMIT,
            "cardData": {"license": self.license} if self.license else None,
            "siblings": [self._sibling(name, content) for name, content in self.files.items()],
        }

    def _sibling(self, name: str, content: bytes) -> dict[str, Any]:
        blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        sibling: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": blob}
        if name in self.lfs:
            digest = hashlib.sha256(content).hexdigest()
            sibling["lfs"] = {"size": len(content), "sha256": digest, "pointerSize": 130}
        return sibling


def _handler(hub: HubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            headers = {name.lower(): value for name, value in self.headers.items()}
            hub.requests.append((self.command, path, headers))
            name = unquote(path).partition(f"/{COMMIT}/")[2]
            if path.startswith(f"/api/datasets/{REPOSITORY}/revision/"):
                self._send(200, json.dumps(hub.info()).encode())
            elif not path.startswith((f"/datasets/{REPOSITORY}/resolve/", "/cdn/")) or name not in hub.files:
                self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
            elif "/resolve/" in path and name in hub.lfs:
                self._send(302, b"", {"Location": f"{hub.url}/cdn/{COMMIT}/{name}"})
            else:
                self._send_content(hub.served.get(name, hub.files[name]), headers.get("range"))

        def _send_content(self, content: bytes, range_: str | None) -> None:
            fault = hub.faults.pop(0) if hub.faults else Fault()
            if fault.status is not None:
                self._send(fault.status, b"{}")
                return
            start = int(range_.removeprefix("bytes=").partition("-")[0]) if range_ else 0
            start = 0 if fault.ignores_range else start
            part = content[start:]
            more = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
            self._send(206 if start else 200, part, more, fault.cut_after)

        def _send(
            self,
            status: int,
            content: bytes,
            headers: Mapping[str, str] | None = None,
            cut_after: int | None = None,
        ) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            with suppress(ConnectionError):  # the client went away
                self.wfile.write(content[:cut_after])
            self.close_connection = cut_after is not None

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


def cuts(*after: int) -> list[Fault]:
    """Faults that close the connection after some bytes each."""
    return [Fault(cut_after=number) for number in after]


def statuses(*numbers: int) -> list[Fault]:
    """Faults that answer with a status each."""
    return [Fault(status=number) for number in numbers]
