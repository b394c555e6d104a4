"""What runs in the process of an agent: it loads the agent, describes it or lets it work, and ends.

The agent's own stdin is empty, and what it prints reaches stderr: the two pipes to the run are moved to
where it does not meet them by accident. This module and what it imports have to be light, since every
run of an agent waits for them.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import inspect
import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

from ideagora.errors import AgentFailed, UsageError
from ideagora.graphs.external.adapter import described
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.loader import load_object
from ideagora.graphs.external.python_process.call import values, wanted
from ideagora.graphs.external.python_process.child_context import Pipe, RemoteLibraryClient, RemoteModelClient
from ideagora.schema import Topic

DIE_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of Linux's ``prctl``."""


def main() -> NoReturn:
    """Do what the first line on stdin says, and end the process."""
    pipe = _moved_pipe()
    order = pipe.first()
    _end_with(order["parent"])
    with stdout_guard.stdout_guarded():
        try:
            _describe(order, pipe) if order["do"] == "describe" else _run(order, pipe)
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
    os._exit(0)


def _moved_pipe() -> Pipe:
    pipe = Pipe(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return pipe


def _end_with(parent: int) -> None:
    """End when the run's process does, however it ends and whatever the agent is doing."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _describe(order: dict[str, Any], pipe: Pipe) -> None:
    try:
        loaded = load_object(order["thing"], order["is_entry_point"])
        name = order["name"] or loaded.known_as
        told = {**described(loaded.thing, name), "known_as": loaded.known_as, "code": loaded.fingerprint}
        pipe.send({"described": told})
    except UsageError as error:
        pipe.send({"refused": str(error)})


def _run(order: dict[str, Any], pipe: Pipe) -> None:
    name = order["name"]
    try:
        ideas = _ideas(order, pipe, name)
        with suppress(BaseException):
            atexit._run_exitfuncs()  # the process ends without them, since threads may be left
    except BaseException as raised:  # noqa: BLE001  (foreign code; it is named and told)
        error, number = named_error(raised, name), getattr(raised, "question", None)
        told = {"raised": str(error), "kind": type(error).__name__, "question": number}
        pipe.send({**told, "printed": stdout_guard.characters_written})
        return
    for idea in ideas:
        pipe.send({"unusable" if isinstance(idea, str) else "idea": idea})
    pipe.send({"returned": len(ideas), "printed": stdout_guard.characters_written})


def _ideas(order: dict[str, Any], pipe: Pipe, name: str) -> list[Any]:
    loaded = load_object(order["thing"], order["is_entry_point"])
    if loaded.fingerprint != order["code"]:
        raise AgentFailed(f"{name} was changed while it was in use. Start the command again.")
    thing: Any = loaded.thing() if inspect.isclass(loaded.thing) else loaded.thing
    topic = Topic.model_validate(order["topic"])
    given = {
        "topic": topic,
        "library": RemoteLibraryClient(pipe),
        "model": RemoteModelClient(pipe),
        "seed": order["seed"],
    }
    chosen = {one: given[one] for one in wanted(thing, name)}
    pipe.listen()
    pipe.send({"started": True})
    result = values(thing, chosen, name)
    ideas: list[Any] = asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result
    return ideas


async def _awaited(result: Any) -> Any:
    return await result
