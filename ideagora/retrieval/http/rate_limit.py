"""The pace of one service for all processes of a home: who asked last, and when.

A small file a service. Whoever wants to ask reads there when another process did so last, and writes
down its own moment, under a lock that the end of a process releases.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_LONGEST_WAIT = 60.0
"""Seconds; a clock that was set back keeps nobody longer."""


class SharedRateLimit:
    """When other processes let us ask.

    Where the file cannot be written, each process keeps to its own pace.
    """

    def __init__(self, path: Path, wall: Callable[[], float] = time.time, me: int | None = None) -> None:
        self._path = path
        self._wall = wall
        self._me = me or os.getpid()

    def reserve(self, interval: float) -> float:
        """Take the next moment, ``interval`` seconds after another process's; the seconds until then."""
        return self._noted(lambda now, free: max(now, free), interval)

    def pause(self, seconds: float) -> None:
        """Nobody starts for so long."""
        self._noted(lambda now, free: max(now + seconds, free), 0.0)

    def _noted(self, choose: Callable[[float, float], float], interval: float) -> float:
        import fcntl

        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+", encoding="ascii") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                who, free = _read(file.read())
                now = self._wall()
                free = min(free, now + _LONGEST_WAIT) if who != self._me else now
                start = choose(now, free)
                file.seek(0)
                file.truncate()
                file.write(f"{self._me} {start + interval}")
                return start - now
        return 0.0


def _read(text: str) -> tuple[int, float]:
    """Who took the last moment, and from when on the next one is free; nobody for what cannot be read."""
    who, _, free = text.partition(" ")
    try:
        return int(who), float(free)
    except ValueError:
        return 0, 0.0
