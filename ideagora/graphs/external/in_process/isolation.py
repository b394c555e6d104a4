"""Run foreign code so that whatever it does costs its own entry only.

It runs in a thread of its own (async code with an event loop of its own), so that code which blocks or
never ends stops neither the run nor Ctrl-C. What it raises becomes an ``AgentFailed`` with its reason.
It is no sandbox: the code has the rights of the process.
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import inspect
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from ideagora.errors import AgentFailed
from ideagora.graphs.external.context import AgentCancelled, AgentContext
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.in_process.stdout_guard import stdout_guarded
from ideagora.retrieval.process_guard import guard_process, real_exit

_has_run = False


async def run_isolated(
    work: Callable[[], Any], tools: AgentContext, name: str, passing: tuple[type[Exception], ...] = ()
) -> Any:
    """What foreign code gives; ``work`` may also give an awaitable, which is awaited in its thread.

    ``passing`` are exceptions that go through as they are (LangGraph steers with some).

    Raises:
        AgentFailed: it raised, or showed no sign of life for ``agent_timeout`` seconds.
        IdeagoraError: an error of the door or the library that it let through.
    """
    global _has_run
    _has_run = True
    patience = tools.bridge.patience
    patience.sign_of_life()
    with stdout_guarded(), guard_process():
        ended, thread = _started(work, name, passing)
        try:
            while not ended.done():
                if patience.left <= 0:
                    raise AgentFailed(
                        f"{name} gave no sign of life for {patience.limit:g} s and was given up. If it needs "
                        "longer, raise --agent-timeout."
                    )
                await asyncio.wait([ended], timeout=patience.left)
        finally:
            if not ended.done():
                _abandon(tools, thread)
    result, error = ended.result()
    if tools.bridge.spent is not None:
        raise tools.bridge.spent
    if error is not None:
        raise error
    return result


def _started(
    work: Callable[[], Any], name: str, passing: tuple[type[Exception], ...]
) -> tuple[asyncio.Future[Any], threading.Thread]:
    """A thread at work, and the future of its (result, error)."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def settle(outcome: tuple[Any, Exception | None]) -> None:
        if not ended.done():
            ended.set_result(outcome)

    def body() -> None:
        try:
            result = work()
            given = asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result
            outcome: tuple[Any, Exception | None] = (given, None)
        except BaseException as error:  # noqa: BLE001  (it becomes the named state that settle hands on)
            outcome = (None, error if isinstance(error, passing) else named_error(error, name))
        with suppress(RuntimeError):  # the loop is gone: nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(body,), name=f"agent {name}", daemon=True)
    thread.start()
    return ended, thread


async def _awaited(result: Any) -> Any:
    return await result


def _abandon(tools: AgentContext, thread: threading.Thread) -> None:
    """Let nothing more through, and raise ``AgentCancelled`` in the thread at its next step."""
    tools.bridge.close()
    if thread.ident is not None:
        identity = ctypes.c_ulong(thread.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(AgentCancelled))


def exit_process(code: int) -> None:
    """End the process now if an agent from outside left threads that would keep it from ending."""
    if not _has_run:
        return
    left = [t for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()]
    for thread in left:
        thread.join(timeout=1.0 / len(left))
    if any(thread.is_alive() for thread in left):
        _end(code)


def _end(code: int) -> NoReturn:
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    real_exit(code)
