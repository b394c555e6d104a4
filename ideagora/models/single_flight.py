"""Run identical concurrent work once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Shares running work by key. The work is cancelled when its last waiter leaves."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[T]] = {}
        self._waiting: Counter[str] = Counter()

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """Return the result of the work, and whether this caller started it."""
        task = self._tasks.get(key)
        is_first = task is None
        if task is None:
            task = self._tasks[key] = asyncio.create_task(work())
        self._waiting[key] += 1
        try:
            return await asyncio.shield(task), is_first
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._tasks[key]
                await _cancel(task)


async def _cancel(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # retrieve it, or asyncio logs a warning
