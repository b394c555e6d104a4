"""Rate limit of a service, within a process and shared by all processes with the same home folder.

For the latter, one small file per service holds the last process and the next free time, updated under a
file lock.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ideagora.retrieval.http.clock import Clock

_MAX_WAIT = 60.0
"""Seconds; limits the wait after the system clock was set back."""


class SharedRateLimit:
    """Rate limit across processes; without effect if the file cannot be written."""

    def __init__(self, path: Path, wall: Callable[[], float] = time.time, pid: int | None = None) -> None:
        self._path = path
        self._wall = wall
        self._pid = pid or os.getpid()

    def reserve(self, interval: float) -> float:
        """Reserve the slot ``interval`` seconds after the last one; returns the seconds to wait."""
        return self._update(lambda now, free: max(now, free), interval)

    def pause(self, seconds: float) -> None:
        """Let no process start a request for some seconds."""
        self._update(lambda now, free: max(now + seconds, free), 0.0)

    def _update(self, choose: Callable[[float, float], float], interval: float) -> float:
        import fcntl

        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+", encoding="ascii") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                pid, free = _parse(file.read())
                now = self._wall()
                free = min(free, now + _MAX_WAIT) if pid != self._pid else now
                start = choose(now, free)
                file.seek(0)
                file.truncate()
                file.write(f"{self._pid} {start + interval}")
                return start - now
        return 0.0


class Limiter:
    """Spaces requests at least ``interval`` seconds apart in order of arrival, across processes if shared."""

    def __init__(self, interval: float, clock: Clock, shared: SharedRateLimit | None = None) -> None:
        self._interval = interval
        self._clock = clock
        self._shared = shared
        self._next = float("-inf")

    async def acquire(self) -> None:
        """Wait for the next slot. The slot is reserved before the first await."""
        now = self._clock.monotonic()
        start = max(now, self._next)
        self._next = start + self._interval
        if start > now:
            await self._clock.sleep(start - now)
        wait = await asyncio.to_thread(self._shared.reserve, self._interval) if self._shared else 0.0
        if wait > 0:
            self._next = max(self._next, self._clock.monotonic() + wait + self._interval)
            await self._clock.sleep(wait)

    async def pause(self, seconds: float) -> None:
        """Delay all requests for some seconds, as the service demands."""
        self._next = max(self._next, self._clock.monotonic() + seconds)
        if self._shared:
            await asyncio.to_thread(self._shared.pause, seconds)


def _parse(text: str) -> tuple[int, float]:
    """Process id of the last slot and the next free time; (0, 0.0) if the text is invalid."""
    pid, _, free = text.partition(" ")
    try:
        return int(pid), float(free)
    except ValueError:
        return 0, 0.0
