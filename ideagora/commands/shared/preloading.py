"""Imports what a command needs at its end while its first request is being answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ideagora.schema.events import Event, Listener

SECONDS = 0.3
"""From the first request to the imports: time to send it and those beside it."""


def preloading(listener: Listener, load: Callable[[], None]) -> Listener:
    """The listener, which also runs ``load`` in a thread after the first request to a provider was sent.

    A timer of the event loop starts it, since imports of a thread would slow down the imports that the first
    request itself causes; while these run, so does no timer. Nothing waits for the thread, and its errors are
    dropped: whoever needs what it imports raises them again.
    """
    is_started = False

    def on_event(event: Event) -> None:
        nonlocal is_started
        listener(event)
        if event["event"] == "request" and event["model"] != "offline" and not is_started:
            is_started = True
            asyncio.get_running_loop().call_later(SECONDS, _start, load)

    return on_event


def _start(load: Callable[[], None]) -> None:
    def run() -> None:
        with suppress(Exception):
            load()

    threading.Thread(target=run, name="preloading", daemon=True).start()
