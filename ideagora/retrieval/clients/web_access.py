"""Creates the clients of web services, with the addresses and keys that the user has set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ideagora.config import Settings
from ideagora.retrieval.clients import arxiv, openalex, semantic_scholar
from ideagora.retrieval.clients.plugin import load_plugin
from ideagora.retrieval.clients.plugin_replay import ReplayablePlugin
from ideagora.retrieval.http.cache import HttpCache
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.clock import SYSTEM_CLOCK, Clock
from ideagora.retrieval.http.open_access import OpenAccessTexts
from ideagora.retrieval.http.origin import origin_of
from ideagora.retrieval.http.pdf_download import PdfDownloader
from ideagora.retrieval.http.rate_limit import SharedRateLimit
from ideagora.retrieval.http.service import Credentials, RateLimitPolicy, Service
from ideagora.retrieval.protocols import RemoteSource


@dataclass(frozen=True)
class WebAccess:
    """How the sources of a command reach the network: by one cache, and under the same settings."""

    settings: Settings
    cache: HttpCache
    """Responses of services."""
    clock: Clock

    @classmethod
    def open(cls, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> WebAccess:
        """Access with the cache in the settings' home folder."""
        path = settings.home / "cache" / "literature.sqlite"
        today = lambda: clock.now().date()  # noqa: E731
        return cls(settings, HttpCache(path, settings.literature_days, today, replay=settings.replay), clock)

    def source(self, name: str) -> RemoteSource:
        """The client of a web service, or the plug-in with this name.

        Raises:
            SettingsError: the service's URL is invalid, or there is no such plug-in.
        """
        if name in CLIENT_FACTORIES:
            return CLIENT_FACTORIES[name](self)
        return ReplayablePlugin(load_plugin(name, self.clock), self.cache, self.clock)

    def client(self, service: Service) -> HttpClient:
        """A client of a service."""
        return HttpClient(service, self.cache, self.clock)

    def shared_rate_limit(self, name: str) -> SharedRateLimit:
        """The rate limit of a service that all processes of this user share."""
        return SharedRateLimit(self.settings.home / "cache" / f"pace-{name}")

    @property
    def arxiv_base(self) -> str:
        """The base URL of arXiv or its replacement."""
        return (self.settings.arxiv_url or arxiv.URL).rstrip("/").removesuffix("/api/query")

    def open_access_texts(self) -> OpenAccessTexts:
        """Access to open-access PDFs; addresses from the settings may be on a private network."""
        settings = self.settings
        urls = (settings.semantic_scholar_url, settings.openalex_url, settings.arxiv_url)
        allowed = {origin for url in urls if url and (origin := origin_of(url))}
        arxiv_origin = origin_of(self.arxiv_base)
        limit = (arxiv.PDF_INTERVAL, self.shared_rate_limit(f"{arxiv.NAME}-pdf"))
        downloads = PdfDownloader(
            allowed,
            clock=self.clock,
            rate_limits={arxiv_origin.host: limit} if arxiv_origin else {},
            only_allowed=settings.forbid_real_calls,
        )
        return OpenAccessTexts(downloads, self.cache, self.arxiv_base, self.clock)


def _semantic_scholar(web: WebAccess) -> RemoteSource:
    url = web.settings.semantic_scholar_url or semantic_scholar.URL
    key = _key(semantic_scholar.KEYS)
    service = Service(
        semantic_scholar.NAME,
        url.rstrip("/").removesuffix("/graph/v1"),
        RateLimitPolicy(semantic_scholar.INTERVAL, shared=web.shared_rate_limit(semantic_scholar.NAME)),
        Credentials(semantic_scholar.KEYS[0], headers={"x-api-key": key} if key else {}),
    )
    return semantic_scholar.SemanticScholar(web.client(service))


def _openalex(web: WebAccess) -> RemoteSource:
    key = _key(openalex.KEYS)
    shared = web.shared_rate_limit(openalex.NAME)
    service = Service(
        openalex.NAME,
        web.settings.openalex_url or openalex.URL,
        RateLimitPolicy(openalex.INTERVAL, max_concurrency=4, shared=shared),
        Credentials(openalex.KEYS[0], params={"api_key": key} if key else {}),
    )
    return openalex.OpenAlex(web.client(service))


def _arxiv(web: WebAccess) -> RemoteSource:
    shared = web.shared_rate_limit(arxiv.NAME)
    limits = RateLimitPolicy(arxiv.INTERVAL, max_concurrency=1, shared=shared)
    return arxiv.Arxiv(web.client(Service(arxiv.NAME, web.arxiv_base, limits)))


CLIENT_FACTORIES: Mapping[str, Callable[[WebAccess], RemoteSource]] = {
    semantic_scholar.NAME: _semantic_scholar,
    openalex.NAME: _openalex,
    arxiv.NAME: _arxiv,
}
"""Creates the client of each web service, by name."""


def _key(variables: Sequence[str]) -> str | None:
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), None)
