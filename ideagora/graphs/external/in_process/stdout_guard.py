"""Reserve stdout for ideagora's output while external code runs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class _Stderr:
    """Replaces ``sys.stdout``: writes to stderr and counts characters."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        global characters_written
        characters_written += len(text)
        return sys.stderr.write(text)


characters_written = 0
"""Characters that third-party code has printed on stdout so far."""
_lock = threading.Lock()
_depth = 0
_saved: tuple[TextIO | Any, int | None] = (None, None)


@contextmanager
def stdout_guarded() -> Iterator[None]:
    """Redirect everything that is written to stdout to stderr, also by subprocesses and C code."""
    global _depth
    with _lock:
        _depth += 1
        if _depth == 1:
            _redirect()
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _restore()


def _redirect() -> None:
    global _saved
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    copy = None
    with suppress(OSError):  # a process may have no stdout, or no stderr
        copy = os.dup(1)
        os.dup2(2, 1)
    _saved = (sys.stdout, copy)
    sys.stdout = _Stderr()


def _restore() -> None:
    stream, copy = _saved
    sys.stdout = stream
    if copy is not None:
        os.dup2(copy, 1)
        os.close(copy)
