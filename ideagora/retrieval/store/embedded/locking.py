"""The lock of a store's folder: one writer or several readers, released by the system after a crash."""

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
"""How often a waiting process checks who holds the lock."""


class LockHolder(NamedTuple):
    """The process that holds the lock exclusively."""

    pid: int
    command: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command}) since {self.since}"


class FolderLock:
    """A lock between threads and processes, based on SQLite's file locks (filelock's ``ReadWriteLock``).

    The lock does not record its holder, so an exclusive holder writes a file beside it. That file
    survives a crash and the lock does not, so it is read only while waiting for the lock.
    """

    def __init__(self, folder: Path, timeout: float, on_wait: Callable[[str], None] | None = None) -> None:
        """``timeout`` in seconds; ``on_wait`` is called with a message once per holder waited for."""
        from filelock import ReadWriteLock

        self._folder = folder
        self._timeout = timeout
        self._on_wait = on_wait
        self._lock = ReadWriteLock(folder / LOCK_FILE, is_singleton=False)
        self.before_release: Callable[[], None] = lambda: None
        """Called before the exclusive lock is released."""
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock exclusively; reentrant.

        Raises:
            StoreBusy: the timeout passed; the message names the holder's process and command.
        """
        with self._threads:
            if self._depth == 0:
                self._acquire(exclusive=True)
                self._write_holder()
            self._depth += 1
            try:
                yield
            finally:
                try:
                    if self._depth == 1:
                        self.before_release()
                finally:
                    self._leave()

    def _leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            with suppress(OSError):
                self._holder_path.unlink()
            self._lock.release()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock together with other readers; does nothing inside ``exclusive``.

        Raises:
            StoreBusy: the timeout passed.
        """
        with self._threads:
            if self._depth:
                yield
                return
            self._acquire(exclusive=False)
            try:
                yield
            finally:
                self._lock.release()

    def close(self) -> None:
        """Release the lock and close its file."""
        self._lock.close()

    def holder(self) -> LockHolder | None:
        """The process recorded as holder; ``None`` if none is, or the file is being written."""
        try:
            holder = json.loads(self._holder_path.read_text(encoding="utf-8"))
            return LockHolder(int(holder["pid"]), str(holder["command"]), str(holder["since"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def _holder_path(self) -> Path:
        return self._folder / HOLDER_FILE

    def _write_holder(self) -> None:
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        holder = LockHolder(os.getpid(), _command(), since)._asdict()
        with suppress(OSError):  # only informs others; a fault of the folder shows in the actual write
            self._holder_path.write_text(json.dumps(holder), encoding="utf-8")

    def _acquire(self, *, exclusive: bool) -> None:
        deadline = time.monotonic() + self._timeout
        reported: LockHolder | str | None = "nobody yet"
        seconds = 0.0
        while not self._try_acquire(exclusive=exclusive, seconds=seconds):
            holder = self.holder()
            left = deadline - time.monotonic()
            if left <= 0:
                raise StoreBusy(self._busy_message(holder))
            if holder != reported and self._on_wait:
                self._on_wait(
                    f"waiting for the store in {self._folder}: in use by {holder or 'another process'}"
                )
            reported = holder
            seconds = min(_POLL_SECONDS, left)

    def _try_acquire(self, *, exclusive: bool, seconds: float) -> bool:
        from filelock import Timeout

        acquire = self._lock.acquire_write if exclusive else self._lock.acquire_read
        with translate_errors(self._folder, self._folder / LOCK_FILE):
            try:
                acquire(timeout=seconds)
            except Timeout:
                return False
        return True

    def _busy_message(self, holder: LockHolder | None) -> str:
        return (
            f"the store in {self._folder} is in use by {holder or 'another process'}; "
            f"waited {self._timeout:g} s. Run this again when it has finished, "
            "or set IDEAGORA_STORE to another folder."
        )


def _command() -> str:
    """The command line of this process, shortened."""
    program, *arguments = sys.argv or ["python"]
    return " ".join(" ".join([Path(program).name or "python", *arguments]).split())[:120]
