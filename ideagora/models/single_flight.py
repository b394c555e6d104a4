"""Identical work that is wanted at the same time is done once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Work in flight, by key. Whoever waits may go away; the last one to go takes the work along."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[T]] = {}
        self._waiting: Counter[str] = Counter()

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """The work's result, and whether it was begun for this caller."""
        task = self._tasks.get(key)
        begun = task is None
        if task is None:
            task = self._tasks[key] = asyncio.create_task(work())
        self._waiting[key] += 1
        try:
            return await asyncio.shield(task), begun
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._tasks[key]
                await _ended(task)


async def _ended(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, or asyncio complains of it: nobody waits for it any more
