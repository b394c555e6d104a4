"""Ctrl-C ends a command's asynchronous work."""

from __future__ import annotations

import asyncio
import os
import signal
import warnings

import pytest

from ideagora.commands.shared.interrupts import run_async


def test_an_interrupt_cancels_the_work_without_warnings_about_what_had_not_begun() -> None:
    is_cancelled = False

    async def request() -> None: ...

    async def work() -> None:
        nonlocal is_cancelled
        unsent = request()
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            is_cancelled = True
            del unsent
            raise

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            run_async(work())
    assert is_cancelled
    assert caught == []
