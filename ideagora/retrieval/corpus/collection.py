"""The papers available offline: the starter corpus and the papers that the user added.

The starter corpus is read as it ships, whatever the store has learned about its papers since, so that
earlier runs do not change results. The user's papers are read from the store. Papers that runs on web
services wrote to the store are not included.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.protocols import Neighbors, NoRecommendations
from ideagora.retrieval.spelling import words_of
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper, ScoredPaper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_EXACT = 20_000
"""Papers up to which a search compares all vectors; larger collections use the store's index."""


class Collection:
    """Selected papers of a store.

    Args:
        own: ids of the user's papers.
        starter: the starter corpus by id; its references stay within the corpus.
    """

    def __init__(
        self, store: Store, embedder: Embedder, own: Iterable[str], starter: Mapping[str, Paper]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self.own = frozenset(own)
        self._starter = {name: paper for name, paper in starter.items() if name not in self.own}
        self._vectors_lock = threading.Lock()
        self._vectors: tuple[list[str], NDArray[np.float64]] | None = None
        self._citing: dict[str, list[str]] = {}
        for paper in self._starter.values():
            for cited in paper.references or ():
                self._citing.setdefault(cited, []).append(paper.id)

    @property
    def edition(self) -> str:
        """Identifies the set of the user's papers."""
        return hashlib.sha256("\x1f".join(sorted(self.own)).encode()).hexdigest()[:12]

    def papers(self) -> list[Paper]:
        """All papers, ordered by id."""
        return [paper for paper in map(self.get, sorted({*self.own, *self._starter})) if paper]

    def get(self, paper_id: str) -> Paper | None:
        """The paper with an id, if it is in the collection."""
        return self._store.get(paper_id) if paper_id in self.own else self._starter.get(paper_id)

    def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers most similar to a query, by the cosine rounded to 4 decimals; ties by id."""
        search = self._search_index if len(self.own) > _MAX_EXACT else self._search_exact
        return search(query, k)

    def references(self, paper_id: str) -> list[Paper]:
        """The papers of the collection that a paper cites."""
        paper = self._starter.get(paper_id)
        known = self._store.references(paper_id) if self.own else []
        return self._select((paper.references or ()) if paper else (), known, own_only=paper is not None)

    def citations(self, paper_id: str) -> list[Paper]:
        """The papers of the collection that cite a paper, oldest first; undated papers last."""
        known = self._store.citations(paper_id) if self.own else []
        papers = self._select(self._citing.get(paper_id, ()), known, own_only=paper_id in self._starter)
        return sorted(papers, key=lambda paper: (paper.date is None, paper.date or "", paper.id))

    def words(self) -> frozenset[str]:
        """The words of all papers' titles and abstracts, in lower case."""
        papers = filter(None, map(self.get, {*self.own, *self._starter}))
        return words_of(paper_text(paper) for paper in papers)

    def _select(self, ids: Iterable[str], known: Sequence[Paper], own_only: bool) -> list[Paper]:
        """The papers with these ids and those from the store, if they are in the collection."""
        stored_ids = [paper.id for paper in known if paper.id in self.own or not own_only]
        papers = [self.get(paper_id) for paper_id in dict.fromkeys([*ids, *stored_ids])]
        return [paper for paper in papers if paper]

    def _search_exact(self, query: str, k: int) -> list[ScoredPaper]:
        import numpy as np

        ids, matrix = self._all_vectors()
        if not ids:
            return []
        vector = np.asarray(self._embedder.encode([query])[0], dtype=np.float64)
        rounded = np.round(matrix @ vector, 4) + 0.0  # no minus zero
        best = np.argsort(-rounded, kind="stable")[:k]
        papers = [(self.get(ids[place]), float(rounded[place])) for place in best]
        return [ScoredPaper(paper=paper, similarity=similarity) for paper, similarity in papers if paper]

    def _all_vectors(self) -> tuple[list[str], NDArray[np.float64]]:
        """Sorted ids and their vectors, mostly from the embedder's cache."""
        import numpy as np

        with self._vectors_lock:
            if self._vectors is None:
                texts = {paper.id: paper_text(paper) for paper in self.papers()}
                matrix = self._embedder.encode(list(texts.values())) if texts else np.empty((0, 0))
                self._vectors = list(texts), np.asarray(matrix, dtype=np.float64)
            return self._vectors

    def _search_index(self, query: str, k: int) -> list[ScoredPaper]:
        """Search the store's index, with a growing limit until enough results are in the collection."""
        vector, limit, size = self._embedder.encode([query])[0], 2 * k, self._store.count()
        while True:
            results = self._store.search(vector, limit)
            pairs = ((self.get(result.paper.id), result.similarity) for result in results)
            here = [ScoredPaper(paper=paper, similarity=similarity) for paper, similarity in pairs if paper]
            if len(here) >= k or limit >= size:
                return here[:k]
            limit *= 4


class CollectionSource:
    """A collection as the only source (see ``Source``); blocking work runs in threads."""

    name = "collection"

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def all_papers(self) -> list[Paper]:
        """All papers, ordered by id."""
        return self._collection.papers()

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers most similar to the query."""
        return await asyncio.to_thread(self._collection.search, query, k)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await asyncio.to_thread(self._collection.get, paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers of the collection that a paper cites."""
        return await asyncio.to_thread(self._collection.references, paper_id)

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers of the collection that cite a paper, oldest first."""
        return await asyncio.to_thread(self._collection.citations, paper_id)

    async def words(self) -> frozenset[str]:
        """See ``SupportsWords``."""
        return await asyncio.to_thread(self._collection.words)

    async def disconnect(self) -> None:
        """Has no effect: there are no connections."""


class CollectionWithNetwork(NoRecommendations):
    """A collection used together with web services (see ``RemoteSource``)."""

    has_citations = True

    def __init__(self, name: str, collection: Collection) -> None:
        self.name = name
        self._collection = collection
        self.prefixes: tuple[str, ...] = ("",)
        self.edition = collection.edition

    async def search(self, query: str, k: int) -> list[Paper]:
        """The k papers most similar to the query."""
        return [result.paper for result in await asyncio.to_thread(self._collection.search, query, k)]

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await asyncio.to_thread(self._collection.get, paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids that are in the collection."""
        papers = await asyncio.to_thread(lambda: [self._collection.get(name) for name in ids])
        return {name: paper for name, paper in zip(ids, papers, strict=True) if paper}

    async def references(self, paper_id: str) -> Neighbors:
        """The papers of the collection that a paper cites."""
        return Neighbors(await asyncio.to_thread(self._collection.references, paper_id))

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers of the collection that cite a paper."""
        return Neighbors(await asyncio.to_thread(self._collection.citations, paper_id))

    async def disconnect(self) -> None:
        """Has no effect: there are no connections."""
