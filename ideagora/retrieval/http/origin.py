"""Origins of URLs and redirect rules: a key is sent to one origin only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import httpx

PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Scheme, host and port of a URL."""

    scheme: str
    host: str
    port: int


def origin_of(url: str | httpx.URL) -> Origin | None:
    """The origin of a URL; ``None`` if it is not an http(s) URL."""
    import httpx

    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return None
    if parsed.scheme not in PORTS or not parsed.host:
        return None
    return Origin(parsed.scheme, parsed.host.lower(), parsed.port or PORTS[parsed.scheme])


def may_follow(source: Origin, target: Origin | None, *, has_key: bool) -> bool:
    """Whether a redirect may be followed: on the same host, never from https to http.

    A request with a key may only be redirected within the same origin.
    """
    if target is None or target.host != source.host:
        return False
    is_upgrade = (source.scheme, target.scheme) == ("http", "https")
    return target == source or (is_upgrade and not has_key)
