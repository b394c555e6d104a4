"""Where an address leads. A key belongs to one origin and never goes to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import httpx

PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Scheme, host and port of an address."""

    scheme: str
    host: str
    port: int


def origin_of(url: str | httpx.URL) -> Origin | None:
    """Where an address leads; ``None`` for one that is no http(s) address."""
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

    With a key in the request only within the very same origin.
    """
    if target is None or target.host != source.host:
        return False
    is_upgrade = (source.scheme, target.scheme) == ("http", "https")
    return target == source or (is_upgrade and not has_key)
