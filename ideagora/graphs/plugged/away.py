"""What agents from outside must not take with them: stdout, the working directory, the end of the process.

It guards against accidents. Code that means harm can undo it: it has the rights of the process.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO


class _Stderr:
    """Stands in for ``sys.stdout`` and remembers that something was written."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        global written
        written += len(text)
        return sys.stderr.write(text)


written = 0
"""Characters that were printed on stdout by agents so far."""
_lock = threading.Lock()
_depth = 0
_kept: tuple[TextIO | Any, int | None] = (None, None)


@contextmanager
def stdout_kept() -> Iterator[None]:
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


end_process = os._exit
"""The real one, whoever is guarded."""


class ProcessExit(BaseException):
    """Raised in code from outside that would have ended the process of everybody."""


@contextmanager
def process_kept() -> Iterator[None]:
    """While inside, ``os._exit`` raises, in this process; in the end the working directory is as it was."""
    global _guarded, _process
    place = _working_directory()
    with _lock:
        _guarded, _process = _guarded + 1, os.getpid()
        os._exit = _refuse_exit
    try:
        yield
    finally:
        with _lock:
            _guarded -= 1
            if _guarded == 0:
                os._exit = end_process
        if place is not None and _working_directory() != place:
            with suppress(OSError):
                os.chdir(place)


_guarded = 0
_process = 0


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return None


def _refuse_exit(status: int) -> NoReturn:
    if os.getpid() != _process:  # a child that was forked may end as it likes
        end_process(status)
    raise ProcessExit(f"os._exit({status!r}) would have ended the whole run")


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
