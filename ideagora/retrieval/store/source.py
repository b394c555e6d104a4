"""The store as a source of literature."""

from __future__ import annotations

import asyncio

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper, ScoredPaper


class StoreSource:
    """The store as a source; its blocking work is done in threads."""

    name = "store"

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers of the store nearest to the query, ties ordered by id."""
        return await asyncio.to_thread(self._search, query, k, None)

    async def search_before(self, query: str, k: int, cutoff: str) -> list[ScoredPaper]:
        """See ``SupportsCutoff``."""
        return await asyncio.to_thread(self._search, query, k, cutoff)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await asyncio.to_thread(self._store.get, paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        """The stored papers that a paper cites, in the order of its references."""
        return await asyncio.to_thread(self._store.references, paper_id)

    async def citations(self, paper_id: str) -> list[Paper]:
        """The stored papers that cite a paper, oldest first."""
        return await asyncio.to_thread(self._store.citations, paper_id)

    async def disconnect(self) -> None:
        """Nothing is connected."""

    def _search(self, query: str, k: int, cutoff: str | None) -> list[ScoredPaper]:
        return self._store.search(self._embedder.encode([query])[0], k, cutoff)
