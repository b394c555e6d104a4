"""Runs a command's asynchronous work so that Ctrl-C always ends it.

The first interrupt cancels the work, which saves what it has. A second one exits at once: an interrupt in the
middle of the event loop's shutdown could leave it waiting for a callback that was cut off. Nothing is lost,
since answers and checkpoints survive even kill -9.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import warnings
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from ideagora.retrieval.process_guard import real_exit

T = TypeVar("T")
_THREADS = 32
INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own and return its result.

    Raises:
        KeyboardInterrupt: an interrupt ended it.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(_with_threads(work))
    interrupts = 0
    task: asyncio.Task[T] | None = None

    async def main() -> T:
        nonlocal task
        task = asyncio.create_task(work)
        if interrupts:
            task.cancel()
        return await task

    def on_interrupt(*_: object) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            exit_now(INTERRUPTED, "Stopped. Answers so far are saved.")
        # of what was cancelled before it began
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        return asyncio.run(_with_threads(main()))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, previous)


async def _with_threads(work: Coroutine[Any, Any, T]) -> T:
    """Run work with many threads: most wait for another process, and no look-up waits for them."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    return await work


def exit_now(code: int, message: str = "") -> NoReturn:
    """Exit without waiting for threads, which an interrupt may have left running."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, ValueError, RuntimeError):  # RuntimeError: the interrupt came while it was flushed
        sys.stdout.flush()
        sys.stderr.flush()
    if message:
        show_cursor = "\x1b[?25h" if sys.stderr is not None and sys.stderr.isatty() else ""
        with suppress(OSError):
            os.write(2, f"{show_cursor}\n{message}\n".encode())
    real_exit(code)
