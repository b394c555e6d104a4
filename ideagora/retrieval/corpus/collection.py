"""The papers that are here without asking anybody: the starter corpus, and what the user added.

The starter corpus is always as it ships, whatever the store has learned of its papers meanwhile, so
that runs on it give the same however many others came before. One's own papers are as the store has
them. What runs on the network brought into the store is not here.
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

_COMPARED_AT_MOST = 20_000
"""Papers up to which a search compares with every vector here; beyond it the store's index is asked."""


class Collection:
    """Chosen papers of a store.

    Args:
        own: ids of the user's own papers.
        starter: the starter corpus by id; its references lead to papers of the corpus only.
    """

    def __init__(
        self, store: Store, embedder: Embedder, own: Iterable[str], starter: Mapping[str, Paper]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self.own = frozenset(own)
        self._starter = {name: paper for name, paper in starter.items() if name not in self.own}
        self._building = threading.Lock()
        self._vectors: tuple[list[str], NDArray[np.float64]] | None = None
        self._citing: dict[str, list[str]] = {}
        for paper in self._starter.values():
            for cited in paper.references or ():
                self._citing.setdefault(cited, []).append(paper.id)

    @property
    def edition(self) -> str:
        """Another one when other papers are here."""
        return hashlib.sha256("\x1f".join(sorted(self.own)).encode()).hexdigest()[:12]

    def papers(self) -> list[Paper]:
        """All papers here, by id."""
        return [paper for paper in map(self.get, sorted({*self.own, *self._starter})) if paper]

    def get(self, paper_id: str) -> Paper | None:
        """The paper with an id, if it is here."""
        return self._store.get(paper_id) if paper_id in self.own else self._starter.get(paper_id)

    def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers nearest to a query, by the cosine rounded to 4 decimals; ties by id."""
        found = self._indexed if len(self.own) > _COMPARED_AT_MOST else self._compared
        return found(query, k)

    def references(self, paper_id: str) -> list[Paper]:
        """The papers here that one cites."""
        paper = self._starter.get(paper_id)
        known = self._store.references(paper_id) if self.own else []
        return self._here((paper.references or ()) if paper else (), known, own_only=paper is not None)

    def citations(self, paper_id: str) -> list[Paper]:
        """The papers here that cite one, oldest first; undated ones last."""
        known = self._store.citations(paper_id) if self.own else []
        found = self._here(self._citing.get(paper_id, ()), known, own_only=paper_id in self._starter)
        return sorted(found, key=lambda paper: (paper.date is None, paper.date or "", paper.id))

    def words(self) -> frozenset[str]:
        """The words of all papers' titles and abstracts, in lower case."""
        papers = filter(None, map(self.get, {*self.own, *self._starter}))
        return words_of(paper_text(paper) for paper in papers)

    def _here(self, ids: Iterable[str], known: Sequence[Paper], own_only: bool) -> list[Paper]:
        """Papers by id and those that the store tells of, as far as they are here; each once."""
        told = [paper.id for paper in known if paper.id in self.own or not own_only]
        found = [self.get(paper_id) for paper_id in dict.fromkeys([*ids, *told])]
        return [paper for paper in found if paper]

    def _compared(self, query: str, k: int) -> list[ScoredPaper]:
        import numpy as np

        ids, matrix = self._all_vectors()
        if not ids:
            return []
        asked = np.asarray(self._embedder.encode([query])[0], dtype=np.float64)
        rounded = np.round(matrix @ asked, 4) + 0.0  # no minus zero
        best = np.argsort(-rounded, kind="stable")[:k]
        papers = [(self.get(ids[place]), float(rounded[place])) for place in best]
        return [ScoredPaper(paper=paper, similarity=similarity) for paper, similarity in papers if paper]

    def _all_vectors(self) -> tuple[list[str], NDArray[np.float64]]:
        """Ids, ascending, and their vectors; the embedder's cache has nearly all of them."""
        import numpy as np

        with self._building:
            if self._vectors is None:
                texts = {paper.id: paper_text(paper) for paper in self.papers()}
                matrix = self._embedder.encode(list(texts.values())) if texts else np.empty((0, 0))
                self._vectors = list(texts), np.asarray(matrix, dtype=np.float64)
            return self._vectors

    def _indexed(self, query: str, k: int) -> list[ScoredPaper]:
        """By the store's index, asked for more until enough of what it finds is here."""
        vector, wanted, size = self._embedder.encode([query])[0], 2 * k, self._store.count()
        while True:
            found = self._store.search(vector, wanted)
            pairs = ((self.get(one.paper.id), one.similarity) for one in found)
            here = [ScoredPaper(paper=paper, similarity=similarity) for paper, similarity in pairs if paper]
            if len(here) >= k or wanted >= size:
                return here[:k]
            wanted *= 4


class CollectionSource:
    """A collection as the only source (see ``Source``); its blocking work is done in threads."""

    name = "collection"

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def all_papers(self) -> list[Paper]:
        """Every paper of the collection, by id."""
        return self._collection.papers()

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """The k papers nearest to the query."""
        return await asyncio.to_thread(self._collection.search, query, k)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await asyncio.to_thread(self._collection.get, paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        """The papers here that one cites."""
        return await asyncio.to_thread(self._collection.references, paper_id)

    async def citations(self, paper_id: str) -> list[Paper]:
        """The papers here that cite one, oldest first."""
        return await asyncio.to_thread(self._collection.citations, paper_id)

    async def words(self) -> frozenset[str]:
        """See ``SupportsWords``."""
        return await asyncio.to_thread(self._collection.words)

    async def disconnect(self) -> None:
        """Nothing is connected."""


class CollectionWithNetwork(NoRecommendations):
    """A collection beside sources on the network (see ``RemoteSource``)."""

    has_citations = True

    def __init__(self, name: str, collection: Collection) -> None:
        self.name = name
        self._collection = collection
        self.prefixes: tuple[str, ...] = ("",)
        self.edition = collection.edition

    async def search(self, query: str, k: int) -> list[Paper]:
        """The k papers nearest to the query."""
        return [found.paper for found in await asyncio.to_thread(self._collection.search, query, k)]

    async def paper(self, paper_id: str) -> Paper | None:
        """One paper."""
        return await asyncio.to_thread(self._collection.get, paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers of these that are here."""
        found = await asyncio.to_thread(lambda: [self._collection.get(name) for name in ids])
        return {name: paper for name, paper in zip(ids, found, strict=True) if paper}

    async def references(self, paper_id: str) -> Neighbors:
        """The papers here that one cites."""
        return Neighbors(await asyncio.to_thread(self._collection.references, paper_id))

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers here that cite one."""
        return Neighbors(await asyncio.to_thread(self._collection.citations, paper_id))

    async def disconnect(self) -> None:
        """Nothing is connected."""
