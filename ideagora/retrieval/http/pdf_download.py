"""Fetching a PDF from a link that a stranger wrote.

The link may lead anywhere, so each hop is looked at before anything is sent: its name is resolved, all
its addresses have to be public ones, and the connection goes to the very address that was looked at
(a name that resolves otherwise a moment later gains nothing). What comes is bounded in size, time and
redirects, and has to begin as a PDF does.
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
from ideagora.models.retry import TRANSIENT_STATUS
from ideagora.retrieval.http.client import REDIRECTS, SYSTEM_CLOCK, Clock, Limiter
from ideagora.retrieval.http.origin import Origin, origin_of
from ideagora.retrieval.http.rate_limit import SharedRateLimit
from ideagora.retrieval.ingest.file_types import PDF_HEADER_LIMIT, looks_like_html

if TYPE_CHECKING:
    import httpx

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]
_NAT64 = ip_network("64:ff9b::/96")
_INTERNAL = tuple(map(ip_network, ("64:ff9b:1::/48", "::/96", "fec0::/10")))
"""Not global, though ``ipaddress`` holds them so: local translation (RFC 8215), and two retired forms."""


class LinkRefused(LibraryError):
    """There is no PDF to be had from a link; the message says why, without a full stop.

    ``permanent``: asking again tomorrow would give the same.
    """

    def __init__(self, why: str, *, permanent: bool = True) -> None:
        super().__init__(why)
        self.permanent = permanent


@dataclass(frozen=True)
class DownloadLimits:
    """What a download may take."""

    bytes: int = 50_000_000
    seconds: float = 90.0
    redirects: int = 5
    at_once: int = 3
    interval: float = 1.0
    """Seconds between two requests to one host."""
    connect: float = 15.0
    """Seconds until there is a connection."""
    rest: float = 60.0
    """Seconds for which a host that could not be reached is left alone."""


async def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a name.

    Raises:
        OSError: it has none.
    """
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet, also where it wraps another one."""
    if isinstance(address, IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in _NAT64:
            inner.append(IPv4Address(int(address) & 0xFFFF_FFFF))
        if any(address in network for network in _INTERNAL) or any(
            one is not None and not is_public(one) for one in inner
        ):
            return False
    return address.is_global and not address.is_multicast


class PdfDownloader:
    """The way to PDFs.

    Args:
        permitted: origins that may be on this machine or in its network, since the user named them in
            the settings (a mirror, a test server). Nothing else opens such addresses.
        only_permitted: go nowhere else.
        paces: intervals (seconds) and files shared with other processes, by host, where a host has its own.
    """

    def __init__(
        self,
        permitted: Iterable[Origin] = (),
        bounds: DownloadLimits | None = None,
        time: Clock = SYSTEM_CLOCK,
        resolve: Resolve = resolve_host,
        paces: dict[str, tuple[float, SharedRateLimit]] | None = None,
        *,
        only_allowed: bool = False,
    ) -> None:
        self._permitted = frozenset(permitted)
        self._only_permitted = only_allowed
        self._bounds = bounds or DownloadLimits()
        self._time = time
        self._resolve = resolve
        self._paces = paces or {}
        self._limiters: dict[str, Limiter] = {}
        self._resting: dict[str, tuple[float, str]] = {}
        self._free: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    async def fetch(self, link: str, into: Path) -> None:
        """Write the PDF behind a link to a file.

        Raises:
            Refused: there is none, or it is not fetched from there.
        """
        import httpx

        async with self._turn():
            try:
                async with asyncio.timeout(self._bounds.seconds):
                    await self._followed(httpx.URL(link), into)
            except TimeoutError:
                raise LinkRefused(
                    f"it did not come within {self._bounds.seconds:g} s", permanent=False
                ) from None
            except httpx.InvalidURL as error:
                raise LinkRefused(one_line(f"the link is none: {error}", 120)) from None
            except (httpx.TransportError, httpx.StreamError) as error:
                raise LinkRefused(_told(error), permanent=False) from None

    async def _followed(self, url: httpx.URL, into: Path) -> None:
        """Go from redirect to redirect until something else comes."""
        import httpx

        timeout = httpx.Timeout(self._bounds.seconds, connect=self._bounds.connect)
        # No proxy: it would look the name up once more, and reach what only it can reach.
        async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
            for _ in range(self._bounds.redirects + 1):
                request = await self._pinned(client, url)
                response = await self._sent(client, request, url.host)
                try:
                    if response.status_code not in REDIRECTS or "location" not in response.headers:
                        await self._written(response, into)
                        return
                    url = url.join(response.headers["location"])
                finally:
                    await response.aclose()
        raise LinkRefused(f"it sends us round in redirects (more than {self._bounds.redirects})")

    async def _sent(self, client: httpx.AsyncClient, request: httpx.Request, host: str) -> httpx.Response:
        """The response, its body not yet read. Who could not be reached is left alone for a while."""
        import httpx

        until, why = self._resting.get(host, (0.0, ""))
        if self._time.clock() < until:
            raise LinkRefused(why, permanent=False)
        await self._limiter(host).turn()
        try:
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self._resting[host] = (self._time.clock() + self._bounds.rest, _told(error))
            raise

    async def _pinned(self, client: httpx.AsyncClient, url: httpx.URL) -> httpx.Request:
        """A request that goes to the address that was looked at, under the name that the link has."""
        origin = _origin(url)
        address = await self._address(origin)
        shown = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
        return client.build_request(
            "GET",
            url.copy_with(host=shown, username=None, password=None, fragment=None),
            headers={
                "Host": url.netloc.decode("ascii"),
                "User-Agent": f"ideagora/{__version__}",
                "Accept": "application/pdf",
                "Accept-Encoding": "identity",
            },
            extensions={"sni_hostname": origin.host},
        )

    async def _address(self, origin: Origin) -> Address:
        """The address of a host, when it may be asked at all."""
        host, known = one_line(origin.host, 60), _literal(origin.host)
        private = LinkRefused(f"{host} leads into a private network, not to the internet")
        is_permitted = origin in self._permitted
        if known and not is_permitted and not is_public(known):
            raise private
        if self._only_permitted and not is_permitted:
            raise LinkRefused("nothing may leave this machine (IDEAGORA_FORBID_REAL_CALLS)", permanent=False)
        try:
            names = [origin.host] if known else await self._resolve(origin.host, origin.port)
        except (OSError, UnicodeError) as error:  # the latter of a name that no DNS can hold
            told = f"{host} cannot be found ({getattr(error, 'strerror', None) or 'no such name'})"
            raise LinkRefused(told, permanent=False) from None
        addresses = [address for address in map(_literal, names) if address]
        if not addresses:
            raise LinkRefused(f"{host} has no address", permanent=False)
        if not is_permitted and not all(map(is_public, addresses)):
            raise private
        return addresses[0]

    async def _written(self, response: httpx.Response, into: Path) -> None:
        """The body into the file, as long as it looks like a PDF of a size that we take."""
        status = response.status_code
        if status != 200:
            raise LinkRefused(
                f"HTTP {status}", permanent=400 <= status < 500 and status not in TRANSIENT_STATUS
            )
        if response.headers.get("content-encoding", "identity") != "identity":
            raise LinkRefused("it comes packed, and we asked for it plain")
        most, told = self._bounds.bytes, response.headers.get("content-length", "")
        if told.isdecimal() and len(told) < 20 and int(told) > most:
            raise LinkRefused(f"it has {int(told) / 1e6:,.0f} MB, more than {most / 1e6:,.0f} are not read")
        size, head = 0, b""
        with into.open("wb") as file:
            async for part in response.aiter_raw(65_536):
                size += len(part)
                if size > most:
                    raise LinkRefused(f"it has more than {most / 1e6:,.0f} MB")
                if len(head) < PDF_HEADER_LIMIT:
                    head = _demand_pdf(head + part)
                file.write(part)
        if b"%PDF-" not in head:
            raise LinkRefused("it is no PDF")

    def _limiter(self, host: str) -> Limiter:
        if host not in self._limiters:
            interval, pace = self._paces.get(host, (self._bounds.interval, None))
            self._limiters[host] = Limiter(interval, self._time, pace)
        return self._limiters[host]

    def _turn(self) -> asyncio.Semaphore:
        """One of the downloads at a time; of the event loop that runs."""
        loop = asyncio.get_running_loop()
        if self._free is None or self._free[0] is not loop:
            self._free = (loop, asyncio.Semaphore(self._bounds.at_once))
        return self._free[1]


def _demand_pdf(head: bytes) -> bytes:
    """The beginning of a body that may still be a PDF."""
    if looks_like_html(head):
        raise LinkRefused("it is a web page (HTML), not a PDF")
    if len(head) >= PDF_HEADER_LIMIT and b"%PDF-" not in head[:PDF_HEADER_LIMIT]:
        raise LinkRefused("it is no PDF")
    return head


def _told(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}", 120)


def _origin(url: httpx.URL) -> Origin:
    origin = origin_of(url)
    if origin is None:
        raise LinkRefused(one_line(f"{url.scheme or 'a link without scheme'} is no way to a PDF", 80))
    return origin


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
