"""What the servers of the tests share: HTTP on loopback, served in threads until the test ends."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Generic, TypeVar

Owner = TypeVar("Owner")


class Server(ThreadingHTTPServer, Generic[Owner]):
    """A server whose connections find what to answer in ``owner``."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    owner: Owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class Connection(BaseHTTPRequestHandler):
    """A connection that stays open between requests and logs nothing."""

    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@dataclass
class BackgroundServer:
    """A server in a thread; a subclass starts it on entering its context."""

    host: ClassVar[str] = "127.0.0.1"
    """The loopback address that it listens on."""
    _lock: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)
    _closing: threading.Event = field(init=False, repr=False, default_factory=threading.Event)

    def _serve(self, connection: type[Connection], port: int = 0) -> int:
        """Start the server and return its port; 0 takes any that is free."""
        self._server: Server[Any] = Server((self.host, port), connection)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return int(self._server.server_address[1])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_until_closed(self) -> None:
        """Block, as a server that hangs does."""
        self._closing.wait()
