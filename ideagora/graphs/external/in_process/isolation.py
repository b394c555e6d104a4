"""Run third-party code so that its failure affects only its own result.

It runs in a thread of its own (async code in an event loop of its own), so that code which blocks or never
ends stops neither the run nor Ctrl-C. Exceptions become ``AgentFailed``. This is not a sandbox: the code has
the permissions of the process.
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
    work: Callable[[], Any], context: AgentContext, name: str, passing: tuple[type[Exception], ...] = ()
) -> Any:
    """Run third-party code and return its result.

    Args:
        work: the code; if it returns an awaitable, that is awaited in its thread.
        context: the agent's context.
        name: name of the agent, for errors.
        passing: exceptions that are raised unchanged (LangGraph uses some for control flow).

    Raises:
        AgentFailed: it raised, or was inactive for ``agent_timeout`` seconds.
        IdeagoraError: an error of model or library that it did not catch.
    """
    global _has_run
    _has_run = True
    inactivity = context.bridge.inactivity
    inactivity.reset()
    with stdout_guarded(), guard_process():
        ended, thread = _start_thread(work, name, passing)
        try:
            while not ended.done():
                if inactivity.remaining <= 0:
                    raise AgentFailed(
                        f"{name} was inactive for {inactivity.limit:g} s and was stopped. If it needs more "
                        "time, raise --agent-timeout."
                    )
                await asyncio.wait([ended], timeout=inactivity.remaining)
        finally:
            if not ended.done():
                _cancel(context, thread)
    result, error = ended.result()
    if context.bridge.budget_error is not None:
        raise context.bridge.budget_error
    if error is not None:
        raise error
    return result


def _start_thread(
    work: Callable[[], Any], name: str, passing: tuple[type[Exception], ...]
) -> tuple[asyncio.Future[Any], threading.Thread]:
    """A running thread, and the future of its (result, error)."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def settle(outcome: tuple[Any, Exception | None]) -> None:
        if not ended.done():
            ended.set_result(outcome)

    def body() -> None:
        try:
            result = work()
            value = asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result
            outcome: tuple[Any, Exception | None] = (value, None)
        except BaseException as error:  # noqa: BLE001  (it becomes the named state that settle hands on)
            outcome = (None, error if isinstance(error, passing) else named_error(error, name))
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, outcome)

    variables = contextvars.copy_context()
    thread = threading.Thread(target=variables.run, args=(body,), name=f"agent {name}", daemon=True)
    thread.start()
    return ended, thread


async def _wait_for(result: Any) -> Any:
    return await result


def _cancel(context: AgentContext, thread: threading.Thread) -> None:
    """Reject further calls, and raise ``AgentCancelled`` in the thread at its next bytecode."""
    context.bridge.close()
    if thread.ident is not None:
        identity = ctypes.c_ulong(thread.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(AgentCancelled))


def exit_process(code: int) -> None:
    """Exit the process now if an external agent left threads that would keep it alive."""
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
