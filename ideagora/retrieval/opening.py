"""From the settings to the sources that they name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from ideagora.config import Settings
from ideagora.errors import SettingsError
from ideagora.models.embeddings import Embedder
from ideagora.retrieval import arxiv, openalex, semantic_scholar
from ideagora.retrieval.grown import Grown
from ideagora.retrieval.http import HttpDoor, Manners, Time
from ideagora.retrieval.http_cache import HttpCache
from ideagora.retrieval.joined import Joined
from ideagora.retrieval.journal import Journal
from ideagora.retrieval.remote import Remote
from ideagora.retrieval.starter_source import StarterSource
from ideagora.retrieval.store import Store
from ideagora.retrieval.walks import Walks

STARTER = "starter"
Maker = Callable[[Settings, HttpCache, Time], Remote]


def source_names(settings: Settings) -> tuple[str, ...]:
    """The sources that a setting names, each once.

    Raises:
        SettingsError: one of them does not exist; lists the known ones.
    """
    names = tuple(dict.fromkeys(name.strip() for name in settings.source.split(",") if name.strip()))
    known = (STARTER, *MAKERS)
    for name in names or ("",):
        if name not in known:
            raise SettingsError(
                f"unknown source {name!r}. Set --source or IDEAGORA_SOURCE to one or several of: "
                f"{', '.join(known)} (with commas between them)."
            )
    return names


def grown_source(
    names: Sequence[str], settings: Settings, store: Store, embedder: Embedder, journal: Journal, time: Time
) -> tuple[Grown, Callable[[], None]]:
    """The sources of these names joined, with the store behind them; and what closes it all."""
    days = settings.literature_days
    cache = HttpCache(settings.home / "cache" / "literature.sqlite", days, lambda: time.now().date())
    remotes = [
        StarterSource(embedder) if name == STARTER else MAKERS[name](settings, cache, time) for name in names
    ]
    walks = Walks(store.folder)

    def close() -> None:
        walks.close()
        cache.close()
        store.close()

    return Grown(Joined(remotes, journal), store, walks, embedder, journal, time, days), close


def _semantic_scholar(settings: Settings, cache: HttpCache, time: Time) -> Remote:
    key = _key(semantic_scholar.KEYS)
    base = (settings.semantic_scholar_url or semantic_scholar.URL).rstrip("/").removesuffix("/graph/v1")
    door = HttpDoor(
        semantic_scholar.NAME,
        base,
        Manners(semantic_scholar.INTERVAL),
        cache,
        time,
        key_name=semantic_scholar.KEYS[0],
        headers={"x-api-key": key} if key else None,
    )
    return semantic_scholar.SemanticScholar(door)


def _openalex(settings: Settings, cache: HttpCache, time: Time) -> Remote:
    key = _key(openalex.KEYS)
    door = HttpDoor(
        openalex.NAME,
        settings.openalex_url or openalex.URL,
        Manners(openalex.INTERVAL, at_once=4),
        cache,
        time,
        key_name=openalex.KEYS[0],
        params={"api_key": key} if key else None,
    )
    return openalex.OpenAlex(door)


def _arxiv(settings: Settings, cache: HttpCache, time: Time) -> Remote:
    base = (settings.arxiv_url or arxiv.URL).rstrip("/").removesuffix("/api/query")
    return arxiv.Arxiv(HttpDoor(arxiv.NAME, base, Manners(arxiv.INTERVAL, at_once=1), cache, time))


MAKERS: Mapping[str, Maker] = {
    semantic_scholar.NAME: _semantic_scholar,
    openalex.NAME: _openalex,
    arxiv.NAME: _arxiv,
}
"""Sources on the network by name."""


def _key(variables: Sequence[str]) -> str | None:
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), None)
