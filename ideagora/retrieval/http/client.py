"""How we ask a service on the network: at its pace, with patience that ends, and never twice.

One ``HttpClient`` per source, shared by all branches of a run. In order, a question passes: cache →
one at a time per question → is the source resting? → rate limit → the request → retry → cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from ideagora import __version__
from ideagora.errors import LibraryError, SettingsError, SourceRejected, SourceUnavailable
from ideagora.models.redact import one_line
from ideagora.models.retry import (
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

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class NotCached(LibraryError):
    """Only kept answers were wanted (``cache_only``, or ``--replay``), and there is none to this question."""


def not_cached(name: str) -> NotCached:
    """The error of a source that may not be asked."""
    return NotCached(
        f"{name}: --replay asks nobody, and there is no kept answer to one of the questions to it. "
        "Run the same command once without --replay."
    )


_kept_only: ContextVar[bool] = ContextVar("kept_only", default=False)


@contextmanager
def cache_only() -> Iterator[None]:
    """Within this, no question goes to the network: what is not in the cache raises ``NotCached``."""
    token = _kept_only.set(True)
    try:
        yield
    finally:
        _kept_only.reset(token)


@dataclass(frozen=True)
class Clock:
    """Where seconds and days come from; tests bring their own."""

    clock: Callable[[], float] = time.monotonic
    """Seconds, never going back."""
    sleep: Sleep = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


SYSTEM_CLOCK = Clock()


@dataclass(frozen=True)
class RateLimitPolicy:
    """What a service asks of those who use it; times in seconds, sizes in bytes."""

    interval: float
    """Between the starts of two requests."""
    at_once: int = 2
    """Requests that are out at the same time."""
    retries: int = 4
    timeout: float = 30.0
    longest: float = 180.0
    """For one exchange, however slowly its body drips."""
    largest: int = 16 * 2**20
    rest: float = 60.0
    """How long a source that did not answer in spite of the retries is left alone."""


class ParsedResponse(NamedTuple, Generic[T]):
    """What was read from an answer, and the day (YYYY-MM-DD) on which the service gave it."""

    value: T
    day: str


@dataclass(frozen=True)
class HttpRequest:
    """One request; ``json`` makes it a POST."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    json: Any = None

    def key(self, source: str, base: str) -> str:
        """The same for the same question; no key of a service is in it."""
        parts = [source, base, self.path, sorted(self.params.items()), self.json]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Limiter:
    """Starts at least ``interval`` seconds apart, first come, first served; also among processes."""

    def __init__(self, interval: float, time: Clock, pace: SharedRateLimit | None = None) -> None:
        self._interval = interval
        self._time = time
        self._pace = pace
        self._next = float("-inf")

    async def turn(self) -> None:
        """Wait for the next free moment. No await stands between looking and taking it."""
        now = self._time.clock()
        start = max(now, self._next)
        self._next = start + self._interval
        if start > now:
            await self._time.sleep(start - now)
        wait = await asyncio.to_thread(self._pace.reserve, self._interval) if self._pace else 0.0
        if wait > 0:
            self._next = max(self._next, self._time.clock() + wait + self._interval)
            await self._time.sleep(wait)

    async def pause(self, seconds: float) -> None:
        """Nobody starts for so long: the service said so to one of us and means all."""
        self._next = max(self._next, self._time.clock() + seconds)
        if self._pace:
            await asyncio.to_thread(self._pace.pause, seconds)


class _Loop:
    """What belongs to one event loop: connections and the locks around them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient, at_once: int) -> None:
        self.loop = loop
        self.client = client
        self.free = asyncio.Semaphore(at_once)
        self.asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


class HttpClient:
    """The way to one source.

    Args:
        name: of the source, for messages.
        base: URL that all paths start from.
        key_name: the environment variable that holds the service's key, for messages.
        headers: sent with every request; may hold a key, so they are in no message and no cache.
        params: the same for the query.
        pace: what other processes ask of the same service.
    """

    def __init__(
        self,
        name: str,
        base: str,
        policy: RateLimitPolicy,
        cache: HttpCache | None = None,
        time: Clock = SYSTEM_CLOCK,
        *,
        key_name: str | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        pace: SharedRateLimit | None = None,
    ) -> None:
        self.name = name
        self.base = _checked_base(name, base)
        self._manners = policy
        self._cache = cache
        self._time = time
        self._key_name = key_name
        fixed = {"User-Agent": f"ideagora/{__version__}", "Accept-Encoding": ACCEPTED}
        self._headers = {**fixed, **(headers or {})}
        self._params = dict(params or {})
        self._has_key = bool(headers or params or "@" in self.base)
        self._limiter = Limiter(policy.interval, time, pace)
        self._loop: _Loop | None = None
        self._down: tuple[float, str] | None = None

    async def fetch(self, question: HttpRequest, read: Callable[[bytes], T]) -> ParsedResponse[T] | None:
        """The answer, from the cache or from the service; ``None`` where it says that there is no such thing.

        Args:
            read: makes the value from the body; raises ``ValueError`` for one that is cut off or broken.

        Raises:
            SourceUnavailable: it did not answer in spite of the retries, or refused.
            NotKept: see ``cache_only``.
        """
        key = question.key(self.name, self.base)
        loop = self._of_this_loop()
        lock = loop.asking.setdefault(key, asyncio.Lock())
        async with lock:
            kept = await asyncio.to_thread(self._cache.get, key) if self._cache else None
            if kept:
                with suppress(ValueError):  # an older version of the program may have read more
                    return None if kept.status == 404 else ParsedResponse(read(kept.body), kept.day)
            if _kept_only.get() or (self._cache and self._cache.replay):
                raise not_cached(self.name)
            kept, value = await self._asked(question, read, loop)
            if self._cache:
                await asyncio.to_thread(self._cache.put, key, kept)
        return None if value is None else ParsedResponse(value, kept.day)

    async def disconnect(self) -> None:
        """Close the connections; the next question opens new ones."""
        loop, self._loop = self._loop, None
        if loop is not None and loop.loop is asyncio.get_running_loop():
            await loop.client.aclose()

    async def _asked(
        self, question: HttpRequest, read: Callable[[bytes], T], loop: _Loop
    ) -> tuple[CachedHttpResponse, T | None]:
        if self._down and self._time.clock() < self._down[0]:
            raise SourceUnavailable(self._down[1])

        async def attempt() -> tuple[CachedHttpResponse, T | None]:
            async with loop.free:
                await self._limiter.turn()
                status, body = await self._sent_in_time(question, loop.client)
            day = self._time.now().date().isoformat()
            return CachedHttpResponse(status, body, day), None if status == 404 else _readable(read, body)

        try:
            answer = await with_retries(attempt, self._manners.retries, self._time.sleep)
        except TransientError as error:
            told = f"{self.name} did not answer ({error}). Try again later, or leave it out of --source."
            self._down = (self._time.clock() + self._manners.rest, told)
            raise SourceUnavailable(told) from None
        self._down = None
        return answer

    async def _sent_in_time(self, question: HttpRequest, client: httpx.AsyncClient) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self._manners.longest):
                return await self._sent(question, client)
        except TimeoutError:
            raise TransientError(f"no whole answer within {self._manners.longest:g} s") from None

    async def _sent(self, question: HttpRequest, client: httpx.AsyncClient) -> tuple[int, bytes]:
        """Status (2xx or 404) and body, after redirects.

        Raises:
            Transient: try again.
            SourceRejected: trying again would not help.
        """
        import httpx

        try:
            url = httpx.URL(self.base + question.path, params={**question.params, **self._params})
            for _ in range(_MOST_REDIRECTS + 1):
                status, headers, body = await self._exchange(client, url, question.json)
                if status not in REDIRECTS or "location" not in headers:
                    return await self._checked(status, headers, body), body
                url = self._followed(url, headers["location"])
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise TransientError(one_line(f"{type(error).__name__}: {error}")) from None
        raise self._refusal(f"sends us round in redirects (more than {_MOST_REDIRECTS})")

    async def _exchange(
        self, client: httpx.AsyncClient, url: httpx.URL, content: Any
    ) -> tuple[int, Mapping[str, str], bytes]:
        """One request, and its body up to the bound."""
        method = "GET" if content is None else "POST"
        async with client.stream(method, url, headers=self._headers, json=content) as response:
            try:
                body = await read_bounded_body(response, self._manners.largest)
            except BodyTooLarge:
                raise self._refusal(f"sent more than {self._manners.largest // 2**20} MiB") from None
        return response.status_code, response.headers, body

    async def _checked(self, status: int, headers: Mapping[str, str], body: bytes) -> int:
        if 200 <= status < 300 or status == 404:
            return status
        detail = one_line(f"HTTP {status}: {body[:300].decode('utf-8', 'replace')}", 200)
        if status in TRANSIENT_STATUS or status >= 500:
            wait = parse_retry_after(headers)
            if wait is not None:
                await self._limiter.pause(min(wait, MAX_WAIT))
            raise TransientError(detail, wait)
        step = f"Check {self._key_name}." if status in (401, 403) and self._key_name else ""
        raise self._refusal(f"refused the question ({detail})", step)

    def _followed(self, url: httpx.URL, location: str) -> httpx.URL:
        """Where a redirect leads, if it may be followed (``may_follow``)."""
        import httpx

        source = origin_of(url)
        try:
            target = url.join(location)
        except httpx.InvalidURL:
            raise self._refusal("redirects to an address that is none") from None
        if source and may_follow(source, origin_of(target), has_key=self._has_key):
            return target
        shown = target.copy_with(query=None, username=None, password=None)
        raise self._refusal(f"redirects to another place ({one_line(str(shown), 80)})")

    def _refusal(self, what: str, step: str = "") -> SourceRejected:
        return SourceRejected(f"{self.name} {what}. {step or 'Leave it out of --source, or check its URL.'}")

    def _of_this_loop(self) -> _Loop:
        import httpx

        running = asyncio.get_running_loop()
        if self._loop is None or self._loop.loop is not running:
            client = httpx.AsyncClient(timeout=self._manners.timeout, follow_redirects=False)
            self._loop = _Loop(running, client, self._manners.at_once)
        return self._loop


def _readable(read: Callable[[bytes], T], body: bytes) -> T:
    try:
        return read(body)
    except ValueError as error:
        raise TransientError(one_line(f"the answer cannot be read: {error}", 160)) from None


def _checked_base(name: str, base: str) -> str:
    """The base, ready for paths to follow.

    Raises:
        SettingsError: it is no address, or has a query. Neither login nor query is repeated.
    """
    import httpx

    bare = base.strip().rstrip("/")
    if origin_of(bare) and not httpx.URL(bare).query and not httpx.URL(bare).fragment:
        return str(httpx.URL(bare))
    variable = f"IDEAGORA_{name.upper().replace('-', '_')}_URL"
    if origin_of(bare):
        raise SettingsError(
            f"{variable} has a query or a fragment (? or #), to which no path can be added. Give "
            "https://host/path without it; a key goes into the environment variable of the service's key."
        )
    raise SettingsError(f"{variable} is {one_line(base)!r}: not a URL. Write one like https://host/path.")
