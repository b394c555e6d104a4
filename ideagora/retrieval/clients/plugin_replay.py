"""Caches the results of an external source, so that ``--replay`` does not call it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter

from ideagora.retrieval.clients.plugin import PluginSource
from ideagora.retrieval.http.cache import CachedHttpResponse, HttpCache, not_cached
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.protocols import Neighbors
from ideagora.schema import Paper

T = TypeVar("T")
_PAPERS = TypeAdapter(list[Paper])
_OPTIONAL_PAPERS = TypeAdapter(list[Paper] | None)
_PAPER = TypeAdapter(Paper | None)
_NEIGHBORS = TypeAdapter(tuple[list[Paper], bool])
_BY_ID = TypeAdapter(dict[str, Paper])
_BY_YEAR = TypeAdapter(dict[int, int] | None)


class ReplayablePlugin:
    """A plug-in with cached results; see ``RemoteSource``.

    Outside of a replay the plug-in is called every time, since it may change.
    """

    def __init__(self, source: PluginSource, cache: HttpCache, clock: Clock) -> None:
        self._source = source
        self._cache = cache
        self._clock = clock
        self.name = source.name
        self.prefixes = source.prefixes
        self.has_citations = source.has_citations

    async def search(self, query: str, k: int) -> list[Paper]:
        """Up to k papers, best first."""
        return await self._call(_PAPERS, self._source.search, "search", query, k)

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        return await self._call(_PAPER, self._source.paper, "paper", paper_id)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids."""
        return await self._call(_BY_ID, self._source.batch, "batch", list(ids))

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that a paper cites."""
        return Neighbors(*await self._call(_NEIGHBORS, self._source.references, "references", paper_id))

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite a paper."""
        return Neighbors(*await self._call(_NEIGHBORS, self._source.citations, "citations", paper_id))

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers recommended to readers of a paper; ``None`` if not supported."""
        return await self._call(_OPTIONAL_PAPERS, self._source.recommended, "recommended", paper_id, k)

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year; ``None`` if not supported."""
        return await self._call(_BY_YEAR, self._source.citations_per_year, "per year", paper_id)

    async def disconnect(self) -> None:
        """Close connections."""
        await self._source.disconnect()

    async def _call(
        self, adapter: TypeAdapter[T], method: Callable[..., Awaitable[Any]], name: str, *arguments: Any
    ) -> T:
        """Call a method and cache its result; in a replay, return the cached result.

        Raises:
            SourceUnavailable: the source did not respond.
            NotCached: in a replay, a call without a cached result.
        """
        text = json.dumps(["plugged", self.name, name, *arguments])
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if self._cache.replay:
            cached = await asyncio.to_thread(self._cache.get, key)
            if cached is None:
                raise not_cached(self.name)
            return adapter.validate_json(cached.body)
        value = await method(*arguments)
        cached = CachedHttpResponse(200, adapter.dump_json(value), self._clock.now().date().isoformat())
        await asyncio.to_thread(self._cache.put, key, cached)
        return value  # type: ignore[no-any-return]
