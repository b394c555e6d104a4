"""HTTP client for literature services, with rate limits, retries and a cache.

One ``HttpClient`` per source, shared by all branches of a run. A request passes, in order: cache →
lock per request → cooldown check → rate limit → request → retry → cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from ideagora import __version__
from ideagora.errors import LibraryError, SettingsError, SourceRejected, SourceUnavailable
from ideagora.models.redact import one_line
from ideagora.models.transport.retry import (
    MAX_WAIT,
    TRANSIENT_STATUS,
    Sleep,
    TransientError,
    parse_retry_after,
    with_retries,
)
from ideagora.retrieval.http.body import ACCEPTED, BodyTooLarge, read_bounded_body
from ideagora.retrieval.http.cache import CachedHttpResponse, HttpCache
from ideagora.retrieval.http.origin import may_follow, origin_of
from ideagora.retrieval.http.rate_limit import SharedRateLimit
from ideagora.retrieval.http.tls import tls_context

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class NotCached(LibraryError):
    """A request without cached response where only the cache may be used (``cache_only``, ``--replay``)."""


def not_cached(name: str) -> NotCached:
    """The error for a request that a replay cannot answer."""
    return NotCached(
        f"{name}: --replay makes no requests, and a response is missing from the cache. "
        "Run the same command once without --replay."
    )


_cache_only: ContextVar[bool] = ContextVar("cache_only", default=False)


@contextmanager
def cache_only() -> Iterator[None]:
    """Use only cached responses within the context; other requests raise ``NotCached``."""
    token = _cache_only.set(True)
    try:
        yield
    finally:
        _cache_only.reset(token)


@dataclass(frozen=True)
class Clock:
    """Source of times and waits; replaced in tests."""

    monotonic: Callable[[], float] = time.monotonic
    """Seconds of a monotonic clock."""
    sleep: Sleep = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


SYSTEM_CLOCK = Clock()


@dataclass(frozen=True)
class RateLimitPolicy:
    """Limits for the requests to a service; times in seconds, sizes in bytes."""

    interval: float
    """Between the starts of two requests."""
    max_concurrency: int = 2
    retries: int = 4
    timeout: float = 30.0
    total_timeout: float = 180.0
    """For one exchange, including a slow body."""
    max_bytes: int = 16 * 2**20
    cooldown: float = 60.0
    """Time without requests to a source after all retries failed."""


class ParsedResponse(NamedTuple, Generic[T]):
    """The parsed value of a response, and the day (YYYY-MM-DD) of the response."""

    value: T
    day: str


@dataclass(frozen=True)
class HttpRequest:
    """One request; ``json`` makes it a POST."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    json: Any = None

    def key(self, source: str, base: str) -> str:
        """The cache key; does not depend on API keys."""
        parts = [source, base, self.path, sorted(self.params.items()), self.json]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Limiter:
    """Spaces requests at least ``interval`` seconds apart in order of arrival, across processes if shared."""

    def __init__(self, interval: float, clock: Clock, shared: SharedRateLimit | None = None) -> None:
        self._interval = interval
        self._clock = clock
        self._shared = shared
        self._next = float("-inf")

    async def acquire(self) -> None:
        """Wait for the next slot. The slot is reserved before the first await."""
        now = self._clock.monotonic()
        start = max(now, self._next)
        self._next = start + self._interval
        if start > now:
            await self._clock.sleep(start - now)
        wait = await asyncio.to_thread(self._shared.reserve, self._interval) if self._shared else 0.0
        if wait > 0:
            self._next = max(self._next, self._clock.monotonic() + wait + self._interval)
            await self._clock.sleep(wait)

    async def pause(self, seconds: float) -> None:
        """Delay all requests for some seconds, as the service demands."""
        self._next = max(self._next, self._clock.monotonic() + seconds)
        if self._shared:
            await asyncio.to_thread(self._shared.pause, seconds)


class _LoopState:
    """Connections and locks of one event loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient, max_concurrency: int
    ) -> None:
        self.loop = loop
        self.client = client
        self.slots = asyncio.Semaphore(max_concurrency)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        """The lock of a request."""
        return self._locks.setdefault(key, asyncio.Lock())


class HttpClient:
    """Client of one literature service.

    Args:
        name: name of the source, for messages.
        base: base URL of all paths.
        key_name: environment variable with the service's key, for messages.
        headers: sent with every request; may contain a key, so they appear in no message or cache.
        params: query parameters sent with every request; treated like ``headers``.
        shared: rate limit shared with other processes.
    """

    def __init__(
        self,
        name: str,
        base: str,
        policy: RateLimitPolicy,
        cache: HttpCache | None = None,
        clock: Clock = SYSTEM_CLOCK,
        *,
        key_name: str | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        shared: SharedRateLimit | None = None,
    ) -> None:
        self.name = name
        self.base = _check_base(name, base)
        self._policy = policy
        self._cache = cache
        self._clock = clock
        self._key_name = key_name
        fixed = {"User-Agent": f"ideagora/{__version__}", "Accept-Encoding": ACCEPTED}
        self._headers = {**fixed, **(headers or {})}
        self._params = dict(params or {})
        self._has_key = bool(headers or params or "@" in self.base)
        self._limiter = Limiter(policy.interval, clock, shared)
        self._loop: _LoopState | None = None
        self._down: tuple[float, str] | None = None

    async def fetch(self, request: HttpRequest, parse: Callable[[bytes], T]) -> ParsedResponse[T] | None:
        """The parsed response, from the cache or the service; ``None`` for status 404.

        Args:
            parse: parses the body; raises ``ValueError`` if it is truncated or invalid.

        Raises:
            SourceUnavailable: all retries failed, or the service rejected the request.
            NotCached: see ``cache_only``.
        """
        key = request.key(self.name, self.base)
        loop = self._loop_state()
        async with loop.lock(key):
            cached = await asyncio.to_thread(self._cache.get, key) if self._cache else None
            if cached:
                with suppress(ValueError):  # stored by a version that accepted other bodies
                    return None if cached.status == 404 else ParsedResponse(parse(cached.body), cached.day)
            if _cache_only.get() or (self._cache and self._cache.replay):
                raise not_cached(self.name)
            response, value = await self._request(request, parse, loop)
            if self._cache:
                await asyncio.to_thread(self._cache.put, key, response)
        return None if value is None else ParsedResponse(value, response.day)

    async def prefetch(
        self,
        requests: Sequence[HttpRequest],
        combine: Callable[[Sequence[HttpRequest]], HttpRequest],
        split: Callable[[bytes], Sequence[bytes | None]],
    ) -> None:
        """Send several requests as one and cache a response to each, which ``fetch`` waits for and uses.

        Requests that are cached or under way are left out. Without a cache, nothing is sent.

        Args:
            combine: the one request.
            split: the bodies of the single responses in order, ``None`` for unknown; raises ``ValueError``
                if the combined body is truncated or invalid.
        If the service does not respond, nothing is cached, and ``fetch`` asks again: a service may be unable
        to answer many requests at once.

        Raises:
            SourceUnavailable: it rejected the request.
        """
        if self._cache is None or self._cache.replay or self._is_down():
            return
        loop = self._loop_state()
        locks = {key: lock for key in self._keys(requests) if not (lock := loop.lock(key)).locked()}
        async with AsyncExitStack() as stack:
            for lock in locks.values():  # all are free, so this does not wait
                await stack.enter_async_context(lock)
            cached = [await asyncio.to_thread(self._cache.get, key) for key in locks]
            missing = [key for key, response in zip(locks, cached, strict=True) if response is None]
            if not missing:
                return
            chosen = self._keys(requests)
            try:
                response, bodies = await self._attempt(
                    combine([chosen[key] for key in missing]), split, loop, retries=1
                )
            except TransientError:
                return
            for key, body in zip(missing, bodies or (), strict=False):
                single = CachedHttpResponse(200 if body else 404, body or b"", response.day)
                await asyncio.to_thread(self._cache.put, key, single)

    def _keys(self, requests: Sequence[HttpRequest]) -> dict[str, HttpRequest]:
        """The requests by their keys in the cache."""
        return {request.key(self.name, self.base): request for request in requests}

    async def disconnect(self) -> None:
        """Close the connections; the next request opens new ones."""
        loop, self._loop = self._loop, None
        if loop is not None and loop.loop is asyncio.get_running_loop():
            await loop.client.aclose()

    async def _request(
        self, request: HttpRequest, parse: Callable[[bytes], T], loop: _LoopState
    ) -> tuple[CachedHttpResponse, T | None]:
        if self._is_down():
            assert self._down
            raise SourceUnavailable(self._down[1])
        try:
            result = await self._attempt(request, parse, loop, self._policy.retries)
        except TransientError as error:
            reason = f"{self.name} did not respond ({error}). Try again later, or remove it from --source."
            self._down = (self._clock.monotonic() + self._policy.cooldown, reason)
            raise SourceUnavailable(reason) from None
        self._down = None
        return result

    def _is_down(self) -> bool:
        return self._down is not None and self._clock.monotonic() < self._down[0]

    async def _attempt(
        self, request: HttpRequest, parse: Callable[[bytes], T], loop: _LoopState, retries: int
    ) -> tuple[CachedHttpResponse, T | None]:
        """The response and its parsed value; raises ``TransientError`` if the retries do not suffice."""

        async def attempt() -> tuple[CachedHttpResponse, T | None]:
            async with loop.slots:
                await self._limiter.acquire()
                status, body = await self._send_within_timeout(request, loop.client)
            day = self._clock.now().date().isoformat()
            return CachedHttpResponse(status, body, day), None if status == 404 else _parse(parse, body)

        return await with_retries(attempt, retries, self._clock.sleep)

    async def _send_within_timeout(
        self, request: HttpRequest, client: httpx.AsyncClient
    ) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self._policy.total_timeout):
                return await self._send(request, client)
        except TimeoutError:
            raise TransientError(f"no complete response within {self._policy.total_timeout:g} s") from None

    async def _send(self, request: HttpRequest, client: httpx.AsyncClient) -> tuple[int, bytes]:
        """Status (2xx or 404) and body, after redirects.

        Raises:
            TransientError: a retry may help.
            SourceRejected: a retry would not help.
        """
        import httpx

        try:
            url = httpx.URL(self.base + request.path, params={**request.params, **self._params})
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
                body = await read_bounded_body(response, self._policy.max_bytes)
            except BodyTooLarge:
                raise self._rejection(f"sent more than {self._policy.max_bytes // 2**20} MiB") from None
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
        step = f"Check {self._key_name}." if status in (401, 403) and self._key_name else ""
        raise self._rejection(f"rejected the request ({detail})", step)

    def _redirect_target(self, url: httpx.URL, location: str) -> httpx.URL:
        """The target of a redirect, if it may be followed (see ``may_follow``)."""
        import httpx

        source = origin_of(url)
        try:
            target = url.join(location)
        except httpx.InvalidURL:
            raise self._rejection("redirected to an invalid URL") from None
        if source and may_follow(source, origin_of(target), has_key=self._has_key):
            return target
        shown = target.copy_with(query=None, username=None, password=None)
        raise self._rejection(f"redirected to another origin ({one_line(str(shown), 80)})")

    def _rejection(self, problem: str, step: str = "") -> SourceRejected:
        step = step or "Check its URL, or remove it from --source."
        return SourceRejected(f"{self.name} {problem}. {step}")

    def _loop_state(self) -> _LoopState:
        import httpx

        running = asyncio.get_running_loop()
        if self._loop is None or self._loop.loop is not running:
            client = httpx.AsyncClient(
                verify=tls_context(), timeout=self._policy.timeout, follow_redirects=False
            )
            self._loop = _LoopState(running, client, self._policy.max_concurrency)
        return self._loop


def _parse(parse: Callable[[bytes], T], body: bytes) -> T:
    try:
        return parse(body)
    except ValueError as error:
        raise TransientError(one_line(f"invalid response: {error}", 160)) from None


def _check_base(name: str, base: str) -> str:
    """The normalized base URL.

    Raises:
        SettingsError: it is not a URL, or has a query. The message contains neither login nor query.
    """
    import httpx

    bare = base.strip().rstrip("/")
    if origin_of(bare) and not httpx.URL(bare).query and not httpx.URL(bare).fragment:
        return str(httpx.URL(bare))
    variable = f"IDEAGORA_{name.upper().replace('-', '_')}_URL"
    if origin_of(bare):
        raise SettingsError(
            f"{variable} has a query or a fragment (? or #), so no path can be appended. Set it to "
            "https://host/path; a key belongs in the environment variable of the service's key."
        )
    raise SettingsError(f"{variable} is {one_line(base)!r}: not a URL. Set it to one like https://host/path.")
