"""One lock for a store's folder: one writer or several readers, released by the system after a crash."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ideagora.errors import StoreBusy
from ideagora.retrieval.store.errors import translate_errors

LOCK_FILE = "store.lock"
HOLDER_FILE = "store.holder.json"
_POLL_SECONDS = 1.0
"""How often a waiting process looks whether another one holds the lock by now."""


class LockHolder(NamedTuple):
    """Who holds the lock alone."""

    pid: int
    command: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command}) since {self.since}"


class FolderLock:
    """A lock between threads and processes, on SQLite's file locks (filelock's ``ReadWriteLock``).

    The lock knows nothing of its holder, so the one that holds it alone leaves a note beside it.
    A note outlives a crash and the lock doesn't; so the note is read only by those who wait.
    """

    def __init__(self, folder: Path, timeout: float, on_wait: Callable[[str], None] | None = None) -> None:
        """``timeout`` in seconds; ``on_wait`` is told, once per holder, whom we wait for."""
        from filelock import ReadWriteLock

        self._folder = folder
        self._timeout = timeout
        self._on_wait = on_wait
        self._lock = ReadWriteLock(folder / LOCK_FILE, is_singleton=False)
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the folder alone; may be nested.

        Raises:
            StoreBusy: the timeout passed; names the holder's process and command.
        """
        with self._threads:
            if self._depth == 0:
                self._acquire(alone=True)
                self._leave_note()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    with suppress(OSError):
                        self._note.unlink()
                    self._lock.release()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the folder with other readers; inside ``exclusive`` there is nothing more to hold.

        Raises:
            StoreBusy: the timeout passed.
        """
        with self._threads:
            if self._depth:
                yield
                return
            self._acquire(alone=False)
            try:
                yield
            finally:
                self._lock.release()

    def close(self) -> None:
        """Let go of everything."""
        self._lock.close()

    def holder(self) -> LockHolder | None:
        """Who left a note; ``None`` when nobody did, or it is just being written."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            return LockHolder(int(note["pid"]), str(note["command"]), str(note["since"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def _note(self) -> Path:
        return self._folder / HOLDER_FILE

    def _leave_note(self) -> None:
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        note = LockHolder(os.getpid(), _command(), since)._asdict()
        with suppress(OSError):  # a courtesy to others; what we came for will say if the folder is at fault
            self._note.write_text(json.dumps(note), encoding="utf-8")

    def _acquire(self, *, alone: bool) -> None:
        deadline = time.monotonic() + self._timeout
        told: LockHolder | str | None = "nobody yet"
        patience = 0.0
        while not self._tried(alone=alone, seconds=patience):
            holder = self.holder()
            left = deadline - time.monotonic()
            if left <= 0:
                raise StoreBusy(self._busy(holder))
            if holder != told and self._on_wait:
                self._on_wait(
                    f"waiting for the store in {self._folder}: held by {holder or 'another process'}"
                )
            told = holder
            patience = min(_POLL_SECONDS, left)

    def _tried(self, *, alone: bool, seconds: float) -> bool:
        from filelock import Timeout

        acquire = self._lock.acquire_write if alone else self._lock.acquire_read
        with translate_errors(self._folder, self._folder / LOCK_FILE):
            try:
                acquire(timeout=seconds)
            except Timeout:
                return False
        return True

    def _busy(self, holder: LockHolder | None) -> str:
        return (
            f"the store in {self._folder} is held by {holder or 'another process'}; "
            f"waited {self._timeout:g} s. Run this again when that has ended, "
            "or set IDEAGORA_STORE to another folder."
        )


def _command() -> str:
    """This process as its user started it, short enough for one line."""
    program, *arguments = sys.argv or ["python"]
    return " ".join(" ".join([Path(program).name or "python", *arguments]).split())[:120]
