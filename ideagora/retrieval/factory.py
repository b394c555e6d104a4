"""Opens the library and the sources that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ideagora.config import Settings
from ideagora.errors import LibraryError, SettingsError
from ideagora.models.embeddings.embedder import Embedder, load_embedder
from ideagora.retrieval.clients.federated import FederatedSource
from ideagora.retrieval.clients.plugin import installed_sources, is_import_path
from ideagora.retrieval.clients.stored_literature import StoredLiterature
from ideagora.retrieval.clients.web_access import CLIENT_FACTORIES, WebAccess
from ideagora.retrieval.clients.write_through import WriteThroughSource
from ideagora.retrieval.corpus.collection import Collection, CollectionSource, CollectionWithNetwork
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.http.clock import SYSTEM_CLOCK, Clock
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
            return _open_with_network(names, WebAccess.open(settings, clock), store, embedder)
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


def _open_with_network(names: Sequence[str], web: WebAccess, store: Store, embedder: Embedder) -> Library:
    """The named sources, federated and backed by the store."""

    def open_source(name: str) -> RemoteSource:
        if name in OFFLINE_SOURCES:
            return CollectionWithNetwork(name, collection_of((name,), store, embedder))
        return web.source(name)

    def close() -> None:
        citation_lists.close()
        web.cache.close()
        store.close()

    settings, run_notes = web.settings, RunNotes()
    sources = FederatedSource([open_source(name) for name in names], run_notes)
    citation_lists = CitationLists(store.folder)
    days = _UNLIMITED_DAYS if settings.replay else settings.literature_days
    stored = StoredLiterature(store, citation_lists, sources.editions, web.clock, days)
    return Library(
        WriteThroughSource(sources, stored, embedder, run_notes),
        embedder,
        texts=FullTexts(FullTextStore(store.folder), web.open_access_texts() if settings.full_text else None),
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
