"""The starter corpus beside sources on the network: from memory, whatever the store has grown to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ideagora.models.embeddings import Embedder
from ideagora.retrieval.remote import Neighbours
from ideagora.retrieval.sources import by_similarity
from ideagora.retrieval.starter import starter_corpus
from ideagora.schema import Paper


class StarterSource:
    """The starter corpus; see ``Remote``."""

    name = "starter"
    tells_neighbours = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._papers = {paper.id: paper for paper in starter_corpus().papers}
        self.prefixes = tuple(sorted({f"{name.partition(':')[0]}:" for name in self._papers}))

    async def search(self, query: str, k: int) -> list[Paper]:
        """The k papers nearest to the query."""
        ranked = await asyncio.to_thread(by_similarity, self._embedder, list(self._papers.values()), query)
        return [scored.paper for scored in ranked[:k]]

    async def paper(self, paper_id: str) -> Paper | None:
        """One paper."""
        return self._papers.get(paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers of these that are in the corpus."""
        return {name: self._papers[name] for name in ids if name in self._papers}

    async def references(self, paper_id: str) -> Neighbours:
        """The papers of the corpus that one cites."""
        paper = self._papers.get(paper_id)
        return Neighbours([self._papers[name] for name in (paper.references or ())] if paper else [])

    async def citations(self, paper_id: str) -> Neighbours:
        """The papers of the corpus that cite one."""
        return Neighbours([one for one in self._papers.values() if paper_id in (one.references or ())])

    async def disconnect(self) -> None:
        """Nothing is connected."""
