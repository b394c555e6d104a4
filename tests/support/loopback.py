"""A loopback server that speaks the OpenAI chat protocol, with faults on demand.

For tests and benchmarks of everything that reaches a provider: nothing leaves the machine, and what
was asked can be looked at afterwards.

    with Loopback(lambda body: '{"label": "related"}') as server:
        settings = Settings(model="openai/test", api_base=server.base)
        ...
    assert server.count == 1

A handler gets the request's body and returns the reply's text, a ``Reply`` (text with its own usage
and finish reason) or a ``Fault``. A sequence of those is served one by one; its last entry repeats.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.http_server import BackgroundServer, Connection, Server

CHARACTERS_PER_TOKEN = 4
Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer. ``None`` tokens: counted at four characters each; ``usage=False``: not reported."""

    text: str | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = "stop"
    usage: bool = True
    refusal: str | None = None
    logprobs: list[dict[str, Any]] | None = None
    """The tokens of the text, each as OpenAI reports it: token, logprob, bytes, top_logprobs."""


@dataclass(frozen=True)
class Fault:
    """One failure: an HTTP status, a cut connection, a hanging server, or an invalid response."""

    status: int = 500
    message: str = "simulated failure of the loopback server"
    code: str | None = None
    retry_after: str | None = None
    """Sent as the ``Retry-After`` header: seconds or an HTTP date."""
    cut: bool = False
    """Close the connection without a response."""
    hang: bool = False
    """Do not respond until the server is closed or the client gives up."""
    garbage: bytes | None = None
    """Sent with status 200 in place of a completion."""
    encoding: str | None = None
    """The ``Content-Encoding`` of the garbage (``gzip``)."""
    endless: bool = False
    """Repeat the garbage until the client disconnects."""


Answer = str | Reply | Fault
Handler = Callable[[Body], Answer]


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    """By name in small letters."""
    body: Body

    @property
    def prompt(self) -> str:
        """All messages' text, in order."""
        return "\n".join(str(message.get("content")) for message in self.body.get("messages", []))


@dataclass
class Loopback(BackgroundServer):
    """The server; a context manager. ``latency`` is in seconds and comes before every answer."""

    handler: Handler | Sequence[Answer]
    latency: float = 0.0
    port: int = 0
    """0: any that is free; it is known once the server runs."""
    requests: list[Request] = field(default_factory=list)
    peak: int = 0
    """Most requests that were being served at the same time."""
    _inside: int = 0

    def __enter__(self) -> Loopback:
        self.port = self._serve(_Connection, self.port)
        return self

    @property
    def base(self) -> str:
        """The base URL for an OpenAI client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def count(self) -> int:
        """How many requests arrived."""
        return len(self.requests)

    def answer(self, request: Request) -> Answer:
        """Record the request and let the handler answer it."""
        with self._lock:
            self.requests.append(request)
            index = len(self.requests) - 1
            self._inside += 1
            self.peak = max(self.peak, self._inside)
        try:
            if self.latency:
                self._closing.wait(self.latency)
            if callable(self.handler):
                return self.handler(request.body)
            return self.handler[min(index, len(self.handler) - 1)]
        finally:
            with self._lock:
                self._inside -= 1


class _Connection(Connection):
    server: Server[Loopback]

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.owner.answer(Request(self.path, headers, body))
        if isinstance(answer, Fault):
            self._fail(answer)
        else:
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            self._send(200, json.dumps(completion(body, reply)).encode())

    def _fail(self, fault: Fault) -> None:
        if fault.hang:
            self.server.owner.wait_until_closed()
        if fault.cut or fault.hang:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault.garbage is not None:
            self._send_garbage(fault, fault.garbage)
        else:
            error = {"message": fault.message, "type": "loopback", "code": fault.code}
            self._send(fault.status, json.dumps({"error": error}).encode(), fault.retry_after)

    def _send_garbage(self, fault: Fault, garbage: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if fault.encoding is not None:
            self.send_header("Content-Encoding", fault.encoding)
        if not fault.endless:
            self.send_header("Content-Length", str(len(garbage)))
        self.end_headers()
        self.close_connection = fault.endless
        self.wfile.write(garbage)
        while fault.endless:
            self.wfile.write(garbage)

    def _send(self, status: int, content: bytes, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)


def completion(body: Body, reply: Reply) -> dict[str, Any]:
    """A reply in the form of the OpenAI chat completions protocol."""
    message = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    answer: dict[str, Any] = {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "unknown"),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
    }
    if reply.logprobs is not None:
        answer["choices"][0]["logprobs"] = {"content": reply.logprobs}
    if reply.usage:
        answer["usage"] = _usage(body, reply)
    return answer


def _usage(body: Body, reply: Reply) -> dict[str, int]:
    asked = sum(len(str(message.get("content"))) for message in body.get("messages", []))
    prompt = asked // CHARACTERS_PER_TOKEN if reply.prompt_tokens is None else reply.prompt_tokens
    length = len(reply.text or "") // CHARACTERS_PER_TOKEN
    completed = length if reply.completion_tokens is None else reply.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completed, "total_tokens": prompt + completed}
