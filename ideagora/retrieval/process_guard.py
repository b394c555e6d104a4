"""Keeps external code from changing the working directory or ending the process.

Guards against accidents only: malicious code has the rights of the process and can undo it.
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
"""``os._exit`` without guard."""


class ProcessExit(BaseException):
    """Raised in external code that tries to end the process."""


@contextmanager
def guard_process() -> Iterator[None]:
    """Make ``os._exit`` raise within the context, and restore the working directory afterwards.

    Contexts may overlap in several tasks and threads.
    """
    global _guarded, _process, _folder
    with _lock:
        if _guarded == 0:
            _folder = _working_directory()
        _guarded, _process = _guarded + 1, os.getpid()
        os._exit = _refuse_exit
    try:
        yield
    finally:
        with _lock:
            _guarded -= 1
            if _guarded == 0:
                os._exit = real_exit
        if _folder is not None and _working_directory() != _folder:
            with suppress(OSError):
                os.chdir(_folder)


_guarded = 0
_process = 0
_folder: Path | None = None
"""The working directory before external code ran; guarded contexts may overlap."""


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # removed
        return None


def _refuse_exit(status: int) -> NoReturn:
    if os.getpid() != _process:  # a forked child may exit
        real_exit(status)
    raise ProcessExit(f"os._exit({status!r}) would have ended the whole run")
