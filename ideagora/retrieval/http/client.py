"""HTTP client for literature services, with rate limits, retries and a cache.

One ``HttpClient`` per source, shared by all branches of a run. A request passes, in order: cache →
lock per request → cooldown check → rate limit → request → retry → cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from ideagora.errors import SourceUnavailable
from ideagora.models.redact import one_line
from ideagora.models.transport.retry import TransientError, with_retries
from ideagora.retrieval.http.cache import CachedHttpResponse, HttpCache, is_cache_only, not_cached
from ideagora.retrieval.http.clock import SYSTEM_CLOCK, Clock
from ideagora.retrieval.http.sender import RequestSender
from ideagora.retrieval.http.service import HttpRequest, Service

T = TypeVar("T")


class ParsedResponse(NamedTuple, Generic[T]):
    """The parsed value of a response, and the day (YYYY-MM-DD) of the response."""

    value: T
    day: str


class HttpClient:
    """Client of one literature service.

    Raises:
        SettingsError: the service's base URL is invalid.
    """

    def __init__(self, service: Service, cache: HttpCache | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        service = service.normalize()
        self.name = service.name
        self.base = service.base
        self._limits = service.limits
        self._cache = cache
        self._clock = clock
        self._sender = RequestSender(service, clock)
        self._locks: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Lock] = (
            WeakValueDictionary()
        )
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
        async with self._lock(key):
            cached = await asyncio.to_thread(self._cache.get, key) if self._cache else None
            if cached:
                with suppress(ValueError):  # stored by a version that accepted other bodies
                    return None if cached.status == 404 else ParsedResponse(parse(cached.body), cached.day)
            if is_cache_only() or (self._cache and self._cache.replay):
                raise not_cached(self.name)
            response, value = await self._request(request, parse)
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
        by_key = {request.key(self.name, self.base): request for request in requests}
        locks = {key: lock for key in by_key if not (lock := self._lock(key)).locked()}
        async with AsyncExitStack() as stack:
            for lock in locks.values():  # all are free, so this does not wait
                await stack.enter_async_context(lock)
            cached = [await asyncio.to_thread(self._cache.get, key) for key in locks]
            missing = [key for key, response in zip(locks, cached, strict=True) if response is None]
            if not missing:
                return
            try:
                response, bodies = await self._attempt(
                    combine([by_key[key] for key in missing]), split, retries=1
                )
            except TransientError:
                return
            for key, body in zip(missing, bodies or (), strict=False):
                single = CachedHttpResponse(200 if body else 404, body or b"", response.day)
                await asyncio.to_thread(self._cache.put, key, single)

    async def disconnect(self) -> None:
        """Close the connections; the next request opens new ones."""
        await self._sender.disconnect()

    async def _request(
        self, request: HttpRequest, parse: Callable[[bytes], T]
    ) -> tuple[CachedHttpResponse, T | None]:
        if self._is_down():
            assert self._down
            raise SourceUnavailable(self._down[1])
        try:
            result = await self._attempt(request, parse, self._limits.retries)
        except TransientError as error:
            reason = f"{self.name} did not respond ({error}). Try again later, or remove it from --source."
            self._down = (self._clock.monotonic() + self._limits.cooldown, reason)
            raise SourceUnavailable(reason) from None
        self._down = None
        return result

    def _is_down(self) -> bool:
        return self._down is not None and self._clock.monotonic() < self._down[0]

    async def _attempt(
        self, request: HttpRequest, parse: Callable[[bytes], T], retries: int
    ) -> tuple[CachedHttpResponse, T | None]:
        """The response and its parsed value; raises ``TransientError`` if the retries do not suffice."""

        async def attempt() -> tuple[CachedHttpResponse, T | None]:
            status, body = await self._sender.send(request)
            day = self._clock.now().date().isoformat()
            return CachedHttpResponse(status, body, day), None if status == 404 else _parse(parse, body)

        return await with_retries(attempt, retries, self._clock.sleep)

    def _lock(self, key: str) -> asyncio.Lock:
        """The lock of a request in the running event loop."""
        return self._locks.setdefault((asyncio.get_running_loop(), key), asyncio.Lock())


def _parse(parse: Callable[[bytes], T], body: bytes) -> T:
    try:
        return parse(body)
    except ValueError as error:
        raise TransientError(one_line(f"invalid response: {error}", 160)) from None
