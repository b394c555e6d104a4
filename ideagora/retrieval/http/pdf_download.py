"""Downloads PDFs from untrusted links.

Each hop is checked before a request is sent: the host is resolved, all its addresses must be public,
and the connection goes to a checked address (so DNS rebinding has no effect). Size, time and redirects
are limited, and the content must start like a PDF.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora import __version__
from ideagora.errors import LibraryError
from ideagora.models.redact import one_line
from ideagora.models.transport.retry import TRANSIENT_STATUS
from ideagora.retrieval.http.clock import SYSTEM_CLOCK, Clock
from ideagora.retrieval.http.origin import Origin, origin_of
from ideagora.retrieval.http.rate_limit import Limiter, SharedRateLimit
from ideagora.retrieval.http.sender import REDIRECTS
from ideagora.retrieval.http.tls import tls_context
from ideagora.retrieval.ingest.file_types import PDF_HEADER_LIMIT, looks_like_html

if TYPE_CHECKING:
    import httpx

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]
_NAT64 = ip_network("64:ff9b::/96")
_INTERNAL = tuple(map(ip_network, ("64:ff9b:1::/48", "::/96", "fec0::/10")))
"""Not global, although ``ipaddress`` says so: local translation (RFC 8215) and two deprecated forms."""


class LinkRefused(LibraryError):
    """No PDF can be downloaded from a link; the message gives the reason, without a full stop.

    ``permanent``: a later attempt would fail as well.
    """

    def __init__(self, reason: str, *, permanent: bool = True) -> None:
        super().__init__(reason)
        self.permanent = permanent


@dataclass(frozen=True)
class DownloadLimits:
    """Limits of a download; times in seconds."""

    max_bytes: int = 50_000_000
    timeout: float = 90.0
    max_redirects: int = 5
    max_concurrency: int = 3
    """Downloads at a time from one host."""
    interval: float = 1.0
    """Between two requests to one host."""
    connect_timeout: float = 15.0
    cooldown: float = 60.0
    """Time without requests to a host that could not be reached."""


async def resolve_host(host: str, port: int) -> list[str]:
    """The IP addresses of a host.

    Raises:
        OSError: it cannot be resolved.
    """
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


def is_public(address: Address) -> bool:
    """Whether an address is on the public internet; also checks embedded IPv4 addresses."""
    if isinstance(address, IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in _NAT64:
            inner.append(IPv4Address(int(address) & 0xFFFF_FFFF))
        if any(address in network for network in _INTERNAL) or any(
            embedded is not None and not is_public(embedded) for embedded in inner
        ):
            return False
    return address.is_global and not address.is_multicast


class PdfDownloader:
    """Downloads PDFs.

    Args:
        allowed_origins: origins from the user's settings that may be on this machine or its network (a
            mirror, a test server). No other private addresses are contacted.
        only_allowed: refuse all other origins.
        rate_limits: interval (seconds) and shared rate limit, by host, if a host has its own.
    """

    def __init__(
        self,
        allowed_origins: Iterable[Origin] = (),
        limits: DownloadLimits | None = None,
        clock: Clock = SYSTEM_CLOCK,
        resolve: Resolve = resolve_host,
        rate_limits: dict[str, tuple[float, SharedRateLimit]] | None = None,
        *,
        only_allowed: bool = False,
    ) -> None:
        self._allowed_origins = frozenset(allowed_origins)
        self._only_allowed = only_allowed
        self._limits = limits or DownloadLimits()
        self._clock = clock
        self._resolve = resolve
        self._rate_limits = rate_limits or {}
        self._limiters: dict[str, Limiter] = {}
        self._unreachable: dict[str, tuple[float, str]] = {}
        self._slots: tuple[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] | None = None

    async def fetch(self, link: str, path: Path) -> None:
        """Download the PDF at a link to a file.

        Raises:
            LinkRefused: there is no PDF, or the link may not be followed.
        """
        import httpx

        async with self._download_slots(link):
            try:
                async with asyncio.timeout(self._limits.timeout):
                    await self._follow(httpx.URL(link), path)
            except TimeoutError:
                raise LinkRefused(f"no response within {self._limits.timeout:g} s", permanent=False) from None
            except httpx.InvalidURL as error:
                raise LinkRefused(one_line(f"invalid URL: {error}", 120)) from None
            except (httpx.TransportError, httpx.StreamError) as error:
                raise LinkRefused(_error_text(error), permanent=False) from None

    async def _follow(self, url: httpx.URL, path: Path) -> None:
        """Follow redirects and save the final response."""
        import httpx

        timeout = httpx.Timeout(self._limits.timeout, connect=self._limits.connect_timeout)
        # No proxy: it would resolve the host again, and may reach private hosts.
        tls = tls_context(trust_env=False)
        async with httpx.AsyncClient(verify=tls, timeout=timeout, trust_env=False) as client:
            for _ in range(self._limits.max_redirects + 1):
                request = await self._pinned_request(client, url)
                response = await self._send(client, request, url.host)
                try:
                    if response.status_code not in REDIRECTS or "location" not in response.headers:
                        await self._save(response, path)
                        return
                    url = url.join(response.headers["location"])
                finally:
                    await response.aclose()
        raise LinkRefused(f"more than {self._limits.max_redirects} redirects")

    async def _send(self, client: httpx.AsyncClient, request: httpx.Request, host: str) -> httpx.Response:
        """The response with an unread body; hosts that could not be reached are skipped for a while."""
        import httpx

        until, reason = self._unreachable.get(host, (0.0, ""))
        if self._clock.monotonic() < until:
            raise LinkRefused(reason, permanent=False)
        await self._limiter(host).acquire()
        try:
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self._unreachable[host] = (self._clock.monotonic() + self._limits.cooldown, _error_text(error))
            raise

    async def _pinned_request(self, client: httpx.AsyncClient, url: httpx.URL) -> httpx.Request:
        """A request to the checked address, with the host name of the link."""
        origin = _origin(url)
        address = await self._address(origin)
        ip = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
        return client.build_request(
            "GET",
            url.copy_with(host=ip, username=None, password=None, fragment=None),
            headers={
                "Host": url.netloc.decode("ascii"),
                "User-Agent": f"ideagora/{__version__}",
                "Accept": "application/pdf",
                "Accept-Encoding": "identity",
            },
            extensions={"sni_hostname": origin.host},
        )

    async def _address(self, origin: Origin) -> Address:
        """A checked address of a host.

        Raises:
            LinkRefused: the host cannot be resolved or may not be contacted.
        """
        host, literal = one_line(origin.host, 60), _parse_address(origin.host)
        private = LinkRefused(f"{host} is in a private network")
        is_allowed = origin in self._allowed_origins
        if literal and not is_allowed and not is_public(literal):
            raise private
        if self._only_allowed and not is_allowed:
            raise LinkRefused("network access is forbidden (IDEAGORA_FORBID_REAL_CALLS)", permanent=False)
        try:
            names = [origin.host] if literal else await self._resolve(origin.host, origin.port)
        except (OSError, UnicodeError) as error:  # UnicodeError: not a valid host name
            cause = getattr(error, "strerror", None) or "unknown host"
            raise LinkRefused(f"{host} cannot be resolved ({cause})", permanent=False) from None
        addresses = [address for address in map(_parse_address, names) if address]
        if not addresses:
            raise LinkRefused(f"{host} has no address", permanent=False)
        if not is_allowed and not all(map(is_public, addresses)):
            raise private
        return addresses[0]

    async def _save(self, response: httpx.Response, path: Path) -> None:
        """Write the body to the file, while it looks like a PDF within the size limit."""
        status = response.status_code
        if status != 200:
            raise LinkRefused(
                f"HTTP {status}", permanent=400 <= status < 500 and status not in TRANSIENT_STATUS
            )
        if response.headers.get("content-encoding", "identity") != "identity":
            raise LinkRefused("it is compressed, which was not requested")
        limit, length = self._limits.max_bytes, response.headers.get("content-length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > limit:
            raise LinkRefused(f"it has {int(length) / 1e6:,.0f} MB; the limit is {limit / 1e6:,.0f} MB")
        size, head = 0, b""
        with path.open("wb") as file:
            async for part in response.aiter_raw(65_536):
                size += len(part)
                if size > limit:
                    raise LinkRefused(f"it has more than {limit / 1e6:,.0f} MB")
                if len(head) < PDF_HEADER_LIMIT:
                    head = _check_pdf_head(head + part)
                file.write(part)
        if b"%PDF-" not in head:
            raise LinkRefused("not a PDF")

    def _limiter(self, host: str) -> Limiter:
        if host not in self._limiters:
            interval, shared = self._rate_limits.get(host, (self._limits.interval, None))
            self._limiters[host] = Limiter(interval, self._clock, shared)
        return self._limiters[host]

    def _download_slots(self, link: str) -> asyncio.Semaphore:
        """The semaphore that limits concurrent downloads from the link's host in the running event loop."""
        loop, origin = asyncio.get_running_loop(), origin_of(link)
        if self._slots is None or self._slots[0] is not loop:
            self._slots = (loop, {})
        host = origin.host if origin else ""
        return self._slots[1].setdefault(host, asyncio.Semaphore(self._limits.max_concurrency))


def _check_pdf_head(head: bytes) -> bytes:
    """The start of a body, if it may still be a PDF.

    Raises:
        LinkRefused: it is not a PDF.
    """
    if looks_like_html(head):
        raise LinkRefused("it is an HTML page, not a PDF")
    if len(head) >= PDF_HEADER_LIMIT and b"%PDF-" not in head[:PDF_HEADER_LIMIT]:
        raise LinkRefused("not a PDF")
    return head


def _error_text(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}", 120)


def _origin(url: httpx.URL) -> Origin:
    origin = origin_of(url)
    if origin is None:
        raise LinkRefused(one_line(f"unsupported scheme {url.scheme!r}", 80))
    return origin


def _parse_address(host: str) -> Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
