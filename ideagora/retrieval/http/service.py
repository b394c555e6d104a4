"""What is known of a literature service: its address, its limits and the key; and a request to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ideagora.errors import SettingsError
from ideagora.models.redact import one_line
from ideagora.retrieval.http.origin import origin_of
from ideagora.retrieval.http.rate_limit import SharedRateLimit


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
    shared: SharedRateLimit | None = None
    """Limit that other processes keep to as well."""


@dataclass(frozen=True)
class Credentials:
    """What every request to a service contains to identify the user; it appears in no message or cache."""

    variable: str | None = None
    """Environment variable with the service's key, for messages; named even if it is not set."""
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    """Query parameters."""


@dataclass(frozen=True)
class Service:
    """A literature service."""

    name: str
    """Name of the source, for messages."""
    base: str
    """Base URL of all paths; may contain a login."""
    limits: RateLimitPolicy
    credentials: Credentials = Credentials()

    def normalize(self) -> Service:
        """The service with a normalized base URL.

        Raises:
            SettingsError: the base is not a URL, or has a query.
        """
        return replace(self, base=_check_base(self.name, self.base))

    @property
    def has_key(self) -> bool:
        """Whether requests contain a key or a login."""
        return bool(self.credentials.headers or self.credentials.params or "@" in self.base)


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
