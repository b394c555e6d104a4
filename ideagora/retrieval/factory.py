"""Opens the library and the sources that the settings name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from ideagora.config import Settings
from ideagora.errors import LibraryError, SettingsError
from ideagora.models.embeddings.embedder import Embedder, load_embedder
from ideagora.retrieval.clients import arxiv, openalex, semantic_scholar
from ideagora.retrieval.clients.federated import FederatedSource
from ideagora.retrieval.clients.plugin import installed_sources, is_import_path, load_plugin
from ideagora.retrieval.clients.plugin_replay import ReplayablePlugin
from ideagora.retrieval.clients.write_through import WriteThroughSource
from ideagora.retrieval.corpus.collection import Collection, CollectionSource, CollectionWithNetwork
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.http.cache import HttpCache
from ideagora.retrieval.http.client import SYSTEM_CLOCK, Clock, HttpClient, RateLimitPolicy
from ideagora.retrieval.http.open_access import OpenAccessTexts
from ideagora.retrieval.http.origin import origin_of
from ideagora.retrieval.http.pdf_download import PdfDownloader
from ideagora.retrieval.http.rate_limit import SharedRateLimit
from ideagora.retrieval.library import Library
from ideagora.retrieval.protocols import RemoteSource
from ideagora.retrieval.run_notes import RunNotes
from ideagora.retrieval.store.citation_lists import CitationLists
from ideagora.retrieval.store.fulltext import FullTextStore
from ideagora.retrieval.store.store import Store
from ideagora.retrieval.texts.reader import FullTexts

STARTER, LOCAL = "starter", "local"
OFFLINE_SOURCES = (STARTER, LOCAL)
"""Sources that need no network."""
_STARTER_MARK = "starter corpus"
_UNLIMITED_DAYS = 36_500
ClientFactory = Callable[[Settings, HttpCache, Clock], RemoteSource]


def source_names(settings: Settings) -> tuple[str, ...]:
    """The sources in the settings, without duplicates.

    Raises:
        SettingsError: a source does not exist; the message lists the known ones.
    """
    names = tuple(dict.fromkeys(name.strip() for name in settings.source.split(",") if name.strip()))
    for name in names or ("",):
        if (
            name not in (*OFFLINE_SOURCES, *CLIENT_FACTORIES)
            and not is_import_path(name)
            and name not in installed_sources()
        ):
            known = ", ".join((*OFFLINE_SOURCES, *CLIENT_FACTORIES, *installed_sources()))
            raise SettingsError(
                f"unknown source {name!r}. Set --source or IDEAGORA_SOURCE to one or more of "
                f"{known} (comma-separated), or to your own source as module:object or path.py:object."
            )
    return names


def collection_of(names: Sequence[str], store: Store, embedder: Embedder) -> Collection:
    """The starter corpus and the user's own papers, as far as they are among the names."""
    own = FullTextStore(store.folder).own_papers() if LOCAL in names else ()
    papers = starter_corpus().papers if STARTER in names else ()
    return Collection(store, embedder, own, {paper.id: paper for paper in papers})


def write_through_source(
    names: Sequence[str],
    settings: Settings,
    store: Store,
    embedder: Embedder,
    run_notes: RunNotes,
    clock: Clock,
    cache: HttpCache,
) -> tuple[WriteThroughSource, Callable[[], None]]:
    """The named sources, federated and backed by the store, and a function that closes everything."""

    def open_source(name: str) -> RemoteSource:
        if name in OFFLINE_SOURCES:
            return CollectionWithNetwork(name, collection_of((name,), store, embedder))
        return (
            CLIENT_FACTORIES[name](settings, cache, clock)
            if name in CLIENT_FACTORIES
            else ReplayablePlugin(load_plugin(name, clock), cache, clock)
        )

    remotes = [open_source(name) for name in names]
    citation_lists = CitationLists(store.folder)

    def close() -> None:
        citation_lists.close()
        cache.close()
        store.close()

    federated = FederatedSource(remotes, run_notes)
    days = _UNLIMITED_DAYS if settings.replay else settings.literature_days
    return WriteThroughSource(federated, store, citation_lists, embedder, run_notes, clock, days), close


def open_http_cache(settings: Settings, clock: Clock) -> HttpCache:
    """The cache of responses from services."""
    path = settings.home / "cache" / "literature.sqlite"
    today = lambda: clock.now().date()  # noqa: E731
    return HttpCache(path, settings.literature_days, today, replay=settings.replay)


def open_access_texts(settings: Settings, cache: HttpCache, clock: Clock) -> OpenAccessTexts:
    """Access to open-access PDFs; addresses from the settings may be on a private network."""
    arxiv_url = arxiv_base(settings)
    urls = (settings.semantic_scholar_url, settings.openalex_url, settings.arxiv_url)
    allowed = {origin for url in urls if url and (origin := origin_of(url))}
    arxiv_origin = origin_of(arxiv_url)
    rate_limits = (
        {arxiv_origin.host: (arxiv.PDF_INTERVAL, _shared_rate_limit(settings, f"{arxiv.NAME}-pdf"))}
        if arxiv_origin
        else {}
    )
    downloads = PdfDownloader(
        allowed, clock=clock, rate_limits=rate_limits, only_allowed=settings.forbid_real_calls
    )
    return OpenAccessTexts(downloads, cache, arxiv_url, clock)


def arxiv_base(settings: Settings) -> str:
    """The base URL of arXiv or its replacement."""
    return (settings.arxiv_url or arxiv.URL).rstrip("/").removesuffix("/api/query")


def _semantic_scholar(settings: Settings, cache: HttpCache, clock: Clock) -> RemoteSource:
    key = _key(semantic_scholar.KEYS)
    base = (settings.semantic_scholar_url or semantic_scholar.URL).rstrip("/").removesuffix("/graph/v1")
    client = HttpClient(
        semantic_scholar.NAME,
        base,
        RateLimitPolicy(semantic_scholar.INTERVAL),
        cache,
        clock,
        key_name=semantic_scholar.KEYS[0],
        headers={"x-api-key": key} if key else None,
        shared=_shared_rate_limit(settings, semantic_scholar.NAME),
    )
    return semantic_scholar.SemanticScholar(client)


def _openalex(settings: Settings, cache: HttpCache, clock: Clock) -> RemoteSource:
    key = _key(openalex.KEYS)
    client = HttpClient(
        openalex.NAME,
        settings.openalex_url or openalex.URL,
        RateLimitPolicy(openalex.INTERVAL, max_concurrency=4),
        cache,
        clock,
        key_name=openalex.KEYS[0],
        params={"api_key": key} if key else None,
        shared=_shared_rate_limit(settings, openalex.NAME),
    )
    return openalex.OpenAlex(client)


def _arxiv(settings: Settings, cache: HttpCache, clock: Clock) -> RemoteSource:
    policy = RateLimitPolicy(arxiv.INTERVAL, max_concurrency=1)
    shared = _shared_rate_limit(settings, arxiv.NAME)
    return arxiv.Arxiv(HttpClient(arxiv.NAME, arxiv_base(settings), policy, cache, clock, shared=shared))


CLIENT_FACTORIES: Mapping[str, ClientFactory] = {
    semantic_scholar.NAME: _semantic_scholar,
    openalex.NAME: _openalex,
    arxiv.NAME: _arxiv,
}
"""Creates the client of each web service, by name."""


def _shared_rate_limit(settings: Settings, name: str) -> SharedRateLimit:
    return SharedRateLimit(settings.home / "cache" / f"pace-{name}")


def _key(variables: Sequence[str]) -> str | None:
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), None)


def open_library(
    settings: Settings,
    on_wait: Callable[[str], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Library:
    """Open the library of the sources in the settings. Blocks; the first use fills the store.

    ``starter`` is the starter corpus, ``local`` the papers that the user added. Papers from web services
    are written to the store.

    Args:
        settings: ``source``, the sources' URLs, ``store``, ``embedder`` and ``home`` are used.
        on_wait: called with a message while another process holds the store.
        on_progress: called with (done, total) papers while the starter corpus is added.
        clock: clock of the sources.

    Raises:
        SettingsError: unknown source or invalid URL.
        EmbedderError: no usable weights.
        FolderUnusable, StoreBusy, StoreCorrupted, LibraryError: as ``Store.open``.
    """
    names = source_names(settings)
    embedder = load_embedder(settings.embedder, settings.home / "cache")
    store = Store.from_settings(settings, embedder, on_wait, copy_if_read_only=True)
    try:
        if not set(names) <= set(OFFLINE_SOURCES):
            return _open_with_services(names, settings, store, embedder, clock)
        if STARTER in names:
            add_starter_corpus(store, on_progress)
        collection = collection_of(names, store, embedder)
        if names == (LOCAL,) and not collection.own:
            raise LibraryError(
                f"--source {LOCAL} reads the papers that you added, but {store.folder} has none. "
                "Add some with ideagora library add PATH, or add another source."
            )
    except BaseException:
        store.close()
        raise
    return Library(
        CollectionSource(collection),
        embedder,
        texts=FullTexts(FullTextStore(store.folder)),
        copy_of=store.copy_of,
        on_close=store.close,
    )


def _open_with_services(
    names: Sequence[str], settings: Settings, store: Store, embedder: Embedder, clock: Clock
) -> Library:
    run_notes, cache = RunNotes(), open_http_cache(settings, clock)
    source, close = write_through_source(names, settings, store, embedder, run_notes, clock, cache)
    open_access = open_access_texts(settings, cache, clock) if settings.full_text else None
    return Library(
        source,
        embedder,
        texts=FullTexts(FullTextStore(store.folder), open_access),
        run_notes=run_notes,
        copy_of=store.copy_of,
        on_close=close,
    )


def add_starter_corpus(store: Store, on_progress: Callable[[int, int], None] | None) -> None:
    """Add the starter corpus to a store unless it has this version; concurrent processes wait.

    Skipped for temporary copies: the work would be lost, and runs read the corpus from the package.
    """
    if store.copy_of is not None:
        return
    corpus = starter_corpus()
    if store.get_metadata(_STARTER_MARK) == corpus.fingerprint:
        return
    with store.write_lock():
        if store.get_metadata(_STARTER_MARK) != corpus.fingerprint:
            store.add(corpus.papers, on_progress)
            store.set_metadata(_STARTER_MARK, corpus.fingerprint)
