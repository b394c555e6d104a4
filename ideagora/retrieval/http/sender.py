"""Sends single requests to a literature service, within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ideagora import __version__
from ideagora.errors import SourceRejected
from ideagora.models.redact import one_line
from ideagora.models.transport.retry import MAX_WAIT, TRANSIENT_STATUS, TransientError, parse_retry_after
from ideagora.retrieval.http.body import ACCEPTED, BodyTooLarge, read_bounded_body
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.http.origin import may_follow, origin_of
from ideagora.retrieval.http.rate_limit import Limiter
from ideagora.retrieval.http.service import HttpRequest, Service
from ideagora.retrieval.http.tls import tls_context

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _Connections(NamedTuple):
    """Connections of one event loop."""

    loop: asyncio.AbstractEventLoop
    client: httpx.AsyncClient
    slots: asyncio.Semaphore


class RequestSender:
    """Sends requests to one service: waits for its rate limit, follows redirects and checks the response."""

    def __init__(self, service: Service, clock: Clock) -> None:
        self._service = service
        self._limits = service.limits
        self._limiter = Limiter(service.limits.interval, clock, service.limits.shared)
        fixed = {"User-Agent": f"ideagora/{__version__}", "Accept-Encoding": ACCEPTED}
        self._headers = {**fixed, **service.credentials.headers}
        self._open_connections: _Connections | None = None

    async def send(self, request: HttpRequest) -> tuple[int, bytes]:
        """Status (2xx or 404) and body of the response, after redirects.

        Raises:
            TransientError: a retry may help.
            SourceRejected: a retry would not help.
        """
        connections = self._connections()
        async with connections.slots:
            await self._limiter.acquire()
            try:
                async with asyncio.timeout(self._limits.total_timeout):
                    return await self._follow(request, connections.client)
            except TimeoutError:
                seconds = f"{self._limits.total_timeout:g} s"
                raise TransientError(f"no complete response within {seconds}") from None

    async def disconnect(self) -> None:
        """Close the connections; the next request opens new ones."""
        connections, self._open_connections = self._open_connections, None
        if connections is not None and connections.loop is asyncio.get_running_loop():
            await connections.client.aclose()

    async def _follow(self, request: HttpRequest, client: httpx.AsyncClient) -> tuple[int, bytes]:
        """Send a request and follow redirects."""
        import httpx

        params = {**request.params, **self._service.credentials.params}
        try:
            url = httpx.URL(self._service.base + request.path, params=params)
            for _ in range(_MAX_REDIRECTS + 1):
                status, headers, body = await self._exchange(client, url, request.json)
                if status not in REDIRECTS or "location" not in headers:
                    return await self._check_status(status, headers, body), body
                url = self._redirect_target(url, headers["location"])
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise TransientError(one_line(f"{type(error).__name__}: {error}")) from None
        raise self._rejection(f"redirected more than {_MAX_REDIRECTS} times")

    async def _exchange(
        self, client: httpx.AsyncClient, url: httpx.URL, content: Any
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request; returns status, headers and the body up to the limit."""
        method = "GET" if content is None else "POST"
        async with client.stream(method, url, headers=self._headers, json=content) as response:
            try:
                body = await read_bounded_body(response, self._limits.max_bytes)
            except BodyTooLarge:
                raise self._rejection(f"sent more than {self._limits.max_bytes // 2**20} MiB") from None
        return response.status_code, response.headers, body

    async def _check_status(self, status: int, headers: Mapping[str, str], body: bytes) -> int:
        if 200 <= status < 300 or status == 404:
            return status
        detail = one_line(f"HTTP {status}: {body[:300].decode('utf-8', 'replace')}", 200)
        if status in TRANSIENT_STATUS or status >= 500:
            wait = parse_retry_after(headers)
            if wait is not None:
                await self._limiter.pause(min(wait, MAX_WAIT))
            raise TransientError(detail, wait)
        variable = self._service.credentials.variable
        step = f"Check {variable}." if status in (401, 403) and variable else ""
        raise self._rejection(f"rejected the request ({detail})", step)

    def _redirect_target(self, url: httpx.URL, location: str) -> httpx.URL:
        """The target of a redirect, if it may be followed (see ``may_follow``)."""
        import httpx

        source = origin_of(url)
        try:
            target = url.join(location)
        except httpx.InvalidURL:
            raise self._rejection("redirected to an invalid URL") from None
        if source and may_follow(source, origin_of(target), has_key=self._service.has_key):
            return target
        shown = target.copy_with(query=None, username=None, password=None)
        raise self._rejection(f"redirected to another origin ({one_line(str(shown), 80)})")

    def _rejection(self, problem: str, step: str = "") -> SourceRejected:
        step = step or "Check its URL, or remove it from --source."
        return SourceRejected(f"{self._service.name} {problem}. {step}")

    def _connections(self) -> _Connections:
        """The connections of the running event loop."""
        import httpx

        running = asyncio.get_running_loop()
        if self._open_connections is None or self._open_connections.loop is not running:
            client = httpx.AsyncClient(
                verify=tls_context(), timeout=self._limits.timeout, follow_redirects=False
            )
            slots = asyncio.Semaphore(self._limits.max_concurrency)
            self._open_connections = _Connections(running, client, slots)
        return self._open_connections
