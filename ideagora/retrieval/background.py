"""Fetching and embedding in the background of a run what will be needed soon."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ideagora.models.embeddings.embedder import Embedder
from ideagora.retrieval.protocols import Source, SupportsPrefetch
from ideagora.retrieval.store.hashing import paper_text
from ideagora.schema import Paper

_AT_ONCE = 4
"""Papers embedded at once in advance: others wait for them, some 0.1 s."""
_MAX_WAITING = 256


class BackgroundTasks:
    """Tasks of one event loop. Errors are dropped: whoever needs the result does the work again."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], frozenset[str]] = {}

    def start(self, work: Coroutine[Any, Any, None], about: Iterable[str] = ()) -> asyncio.Task[None]:
        """Start a task of the running loop, which ``wait_for`` finds by what it is about."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = frozenset(about)
        task.add_done_callback(self._end)
        return task

    async def wait_for(self, about: str) -> None:
        """Wait for the tasks about something."""
        if tasks := [task for task, subjects in self._tasks.items() if about in subjects]:
            await asyncio.wait(tasks)

    async def cancel(self) -> None:
        """Cancel what is still running, and wait for it."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            task.exception()  # marks it as seen


class EmbeddingAhead:
    """Embeds papers that will be compared soon, so that the embedder's cache has them.

    The latest papers come first. It pauses while others use the embedder.
    """

    def __init__(self, embedder: Embedder, tasks: BackgroundTasks) -> None:
        self._embedder = embedder
        self._tasks = tasks
        self._waiting: list[Paper] = []
        self._task: asyncio.Task[None] | None = None
        self._users = 0
        self._is_free = asyncio.Event()
        self._is_free.set()

    def add(self, papers: Sequence[Paper]) -> None:
        """Embed papers in the background, the first ones first."""
        self._waiting = [*papers, *self._waiting][:_MAX_WAITING]
        if self._waiting and (self._task is None or self._task.done()):
            self._task = self._tasks.start(self._run())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Embed nothing in advance within the context."""
        self._users += 1
        self._is_free.clear()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                self._is_free.set()

    async def _run(self) -> None:
        while self._waiting:
            await self._is_free.wait()
            some, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
            await asyncio.to_thread(self._embedder.encode, [paper_text(paper) for paper in some])


class Prefetcher:
    """Fetches papers of a source in the background, if it supports that, and embeds them."""

    def __init__(self, source: Source, embedder: Embedder) -> None:
        self._source = source if isinstance(source, SupportsPrefetch) else None
        self.tasks = BackgroundTasks()
        self.embedding_ahead = EmbeddingAhead(embedder, self.tasks)

    def search(self, queries: Iterable[str], k: int) -> None:
        """Fetch the k results of each query."""
        if self._source:
            for query in queries:
                self._start(partial(self._source.prefetch_search, query, k))

    def neighbors_of(self, papers: Sequence[Paper]) -> None:
        """Fetch references and citations of papers, which ``tasks.wait_for`` finds by the papers' ids."""
        if self._source and papers:
            self._start(partial(self._source.prefetch, papers), [paper.id for paper in papers])

    def _start(self, fetch: Callable[[], Awaitable[list[Paper]]], about: Iterable[str] = ()) -> None:
        """Fetch papers, then embed them; ``wait_for`` waits for the first only."""

        async def fetch_papers() -> None:
            self.embedding_ahead.add(await fetch())

        self.tasks.start(fetch_papers(), about)
