"""Rate limit of a service, shared by all processes with the same home folder.

One small file per service holds the last process and the next free time, updated under a file lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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


def _parse(text: str) -> tuple[int, float]:
    """Process id of the last slot and the next free time; (0, 0.0) if the text is invalid."""
    pid, _, free = text.partition(" ")
    try:
        return int(pid), float(free)
    except ValueError:
        return 0, 0.0
