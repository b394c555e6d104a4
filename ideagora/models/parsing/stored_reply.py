"""Parse a stored reply: a short one at once, a long one in a thread and with a time limit.

Parsing takes time proportional to the length of a reply, which is bounded; the time limit is for slow
machines. While a long reply is parsed, other calls continue and Ctrl-C works.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from ideagora.models.cache.answers import CachedResponse
from ideagora.models.call import A, Call
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer

LONG_REPLY = 20_000
"""Characters from which a reply is parsed in a thread."""
TIMEOUT = 60.0
"""Seconds."""

T = TypeVar("T")


@dataclass(frozen=True)
class ParsedReply(Generic[A]):
    """A stored reply and what was parsed from it."""

    response: CachedResponse
    answer: A | None
    complaint: str = ""
    """What is wrong with the reply, if there is no answer."""


async def parse_reply(call: Call[A], response: CachedResponse) -> ParsedReply[A]:
    """Parse a reply as the call's answer type and run the call's semantic check on it."""
    if len(response.text) <= LONG_REPLY:
        return _parse(call, response)
    try:
        return await asyncio.wait_for(_run_in_thread(lambda: _parse(call, response)), TIMEOUT)
    except TimeoutError:
        complaint = f"parsing its {len(response.text):,} characters took over {TIMEOUT:g} s: be brief"
        return ParsedReply(response, None, complaint)


async def _run_in_thread(work: Callable[[], T]) -> T:
    """Run work in a daemon thread: unlike ``asyncio.to_thread``, nothing waits for it at exit."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(set_outcome: Callable[[], None]) -> None:
        if not result.done():
            set_outcome()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001  # raised again where the result is awaited
            raised = error
            set_outcome = lambda: result.set_exception(raised)  # noqa: E731
        else:
            set_outcome = lambda: result.set_result(value)  # noqa: E731
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, set_outcome)

    threading.Thread(target=run, name="reply parser", daemon=True).start()
    return await result


def _parse(call: Call[A], response: CachedResponse) -> ParsedReply[A]:
    try:
        answer = parse_answer(response.text, call.answer, response.finish_reason)
    except UnreadableReply as error:
        return ParsedReply(response, None, error.reason)
    complaint = call.check(call.inputs, answer) if call.check is not None else None
    if complaint is not None:
        return ParsedReply(response, None, complaint.rstrip("."))
    return ParsedReply(response, answer)
