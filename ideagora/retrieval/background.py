"""Work in the background of a run whose result is not needed, such as filling a cache."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any


class BackgroundTasks:
    """Tasks of one event loop. Errors are dropped: whoever needs the result does the work again."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], frozenset[str]] = {}

    def start(self, work: Coroutine[Any, Any, None], about: Iterable[str] = ()) -> None:
        """Start a task of the running loop, which ``wait_for`` finds by what it is about."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = frozenset(about)
        task.add_done_callback(self._end)

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
