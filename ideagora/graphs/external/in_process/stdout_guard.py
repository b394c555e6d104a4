"""What code from outside must not take with it: stdout."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class _Stderr:
    """Stands in for ``sys.stdout`` and remembers that something was written."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        global characters_written
        characters_written += len(text)
        return sys.stderr.write(text)


characters_written = 0
"""Characters that were printed on stdout by agents so far."""
_lock = threading.Lock()
_depth = 0
_kept: tuple[TextIO | Any, int | None] = (None, None)


@contextmanager
def stdout_guarded() -> Iterator[None]:
    """While inside, ``print``, subprocesses and C code that write to stdout reach stderr."""
    global _depth
    with _lock:
        _depth += 1
        if _depth == 1:
            _divert()
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _restore()


def _divert() -> None:
    global _kept
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    copy = None
    with suppress(OSError):  # a process may have no stdout, or no stderr
        copy = os.dup(1)
        os.dup2(2, 1)
    _kept = (sys.stdout, copy)
    sys.stdout = _Stderr()


def _restore() -> None:
    stream, copy = _kept
    sys.stdout = stream
    if copy is not None:
        os.dup2(copy, 1)
        os.close(copy)
