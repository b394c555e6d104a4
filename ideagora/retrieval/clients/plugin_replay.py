"""A source from outside whose answers are kept, so that ``--replay`` need not ask it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter

from ideagora.retrieval.clients.plugin import PluginSource
from ideagora.retrieval.http.cache import CachedHttpResponse, HttpCache
from ideagora.retrieval.http.client import Clock, not_cached
from ideagora.retrieval.protocols import Neighbors
from ideagora.schema import Paper

T = TypeVar("T")
_PAPERS = TypeAdapter(list[Paper])
_SOME_PAPERS = TypeAdapter(list[Paper] | None)
_PAPER = TypeAdapter(Paper | None)
_NEIGHBOURS = TypeAdapter(tuple[list[Paper], bool])
_BY_ID = TypeAdapter(dict[str, Paper])
_BY_YEAR = TypeAdapter(dict[int, int] | None)


class ReplayablePlugin:
    """See ``RemoteSource``. Asks the plug-in each time, since it may change; a replay never asks it."""

    def __init__(self, source: PluginSource, cache: HttpCache, time: Clock) -> None:
        self._source = source
        self._cache = cache
        self._time = time
        self.name = source.name
        self.prefixes = source.prefixes
        self.has_citations = source.has_citations

    async def search(self, query: str, k: int) -> list[Paper]:
        """Up to k papers, best first."""
        return await self._answer(_PAPERS, self._source.search, "search", query, k)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await self._answer(_PAPER, self._source.paper, "paper", paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids."""
        return await self._answer(_BY_ID, self._source.batch, "batch", list(ids))

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that one cites."""
        return Neighbors(*await self._answer(_NEIGHBOURS, self._source.references, "references", paper_id))

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite one."""
        return Neighbors(*await self._answer(_NEIGHBOURS, self._source.citations, "citations", paper_id))

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers for readers of one; ``None``: it cannot tell."""
        return await self._answer(_SOME_PAPERS, self._source.recommended, "recommended", paper_id, k)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year; ``None``: it cannot tell."""
        return await self._answer(_BY_YEAR, self._source.citations_per_year, "per year", paper_id)

    async def disconnect(self) -> None:
        """Tell it that connections may be closed."""
        await self._source.disconnect()

    async def _answer(
        self, kind: TypeAdapter[T], ask: Callable[..., Awaitable[Any]], question: str, *arguments: Any
    ) -> T:
        """What it answers, kept; in a replay what it answered.

        Raises:
            SourceUnavailable: it did not answer.
            NotKept: in a replay, a question that was not asked before.
        """
        text = json.dumps(["plugged", self.name, question, *arguments])
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if self._cache.replay:
            kept = await asyncio.to_thread(self._cache.get, key)
            if kept is None:
                raise not_cached(self.name)
            return kind.validate_json(kept.body)
        value = await ask(*arguments)
        kept = CachedHttpResponse(200, kind.dump_json(value), self._time.now().date().isoformat())
        await asyncio.to_thread(self._cache.put, key, kept)
        return value  # type: ignore[no-any-return]
