"""What code from outside must not take with it: the working directory, and the end of the process.

It guards against accidents. Code that means harm can undo it: it has the rights of the process.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

_lock = threading.Lock()
real_exit = os._exit
"""The real one, whoever is guarded."""


class ProcessExit(BaseException):
    """Raised in code from outside that would have ended the process of everybody."""


@contextmanager
def guard_process() -> Iterator[None]:
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
                os._exit = real_exit
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
        real_exit(status)
    raise ProcessExit(f"os._exit({status!r}) would have ended the whole run")
