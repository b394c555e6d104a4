"""Writes to the disk for several callers at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class GroupSync:
    """Runs a blocking function in a thread; callers that wait share the next run.

    A caller returns after a run that began later than its call, so what it wrote before is on the disk.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        self._sync = sync
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def __call__(self) -> None:
        """Wait for the next run.

        Raises:
            Exception: as the function does.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._run_after(self._running))
        await asyncio.shield(self._next)

    async def _run_after(self, running: asyncio.Task[None] | None) -> None:
        if running is not None:
            await asyncio.wait([running])
        self._running, self._next = self._next, None
        await asyncio.to_thread(self._sync)
