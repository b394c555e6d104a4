"""Reads a stored reply: a short one at once, a long one off the event loop and under a deadline.

All that reads a reply works in time proportional to its length, which is bounded, so the deadline is for
a slow machine; while a long reply is read, other calls go on and Ctrl-C is heard.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ideagora.models.cache.answers import CachedResponse
from ideagora.models.call import A, Call
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer

LONG = 20_000
"""Characters from which on a reply is read in a thread."""
DEADLINE = 60.0
"""Seconds."""

T = TypeVar("T")
Reading = tuple[A | None, str]
"""The answer, or ``None`` and what is wrong with the reply."""


async def parse_reply(call: Call[A], stored: CachedResponse) -> Reading[A]:
    """The typed answer of a reply, or what is wrong with it, so that it can be asked again."""
    if len(stored.text) <= LONG:
        return _read(call, stored)
    try:
        return await asyncio.wait_for(_beside(lambda: _read(call, stored)), DEADLINE)
    except TimeoutError:
        return None, f"reading its {len(stored.text):,} characters took over {DEADLINE:g} s: be brief"


async def _beside(work: Callable[[], T]) -> T:
    """The result of work in a daemon thread: unlike the loop's own threads, nothing waits for its end."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        if not result.done():
            settled()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001  # raised again where the result is awaited
            told = error
            done = lambda: result.set_exception(told)  # noqa: E731
        else:
            done = lambda: result.set_result(value)  # noqa: E731
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, done)

    threading.Thread(target=run, name="reading a reply", daemon=True).start()
    return await result


def _read(call: Call[A], stored: CachedResponse) -> Reading[A]:
    try:
        answer = parse_answer(stored.text, call.answer, stored.finish_reason)
    except UnreadableReply as error:
        return None, error.reason
    complaint = call.check(call.inputs, answer) if call.check is not None else None
    return (answer, "") if complaint is None else (None, complaint.rstrip("."))
