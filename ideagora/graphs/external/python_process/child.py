"""Main function of an agent's process: load the agent, describe or run it, and exit.

The agent's own stdin is empty and its stdout goes to stderr; the two pipes to the run use other file
descriptors, so that the agent does not write to them by accident. This module and its imports have to be
light, because every run of an agent waits for them.
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
from ideagora.graphs.external.call import call_agent, requested_arguments
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.loading.introspection import describe_object
from ideagora.graphs.external.loading.loader import load_object
from ideagora.graphs.external.python_process.child_context import Pipe, RemoteLibraryClient, RemoteModelClient
from ideagora.graphs.external.python_process.messages import (
    AgentDescription,
    DescribeOrder,
    ObjectOrder,
    RunOrder,
)
from ideagora.schema import Topic

PR_SET_PDEATHSIG = 1
"""Option of Linux's ``prctl``: the signal that a process gets when its parent ends."""


def main() -> NoReturn:
    """Carry out the order in the first line of stdin, and exit."""
    pipe = _move_pipe()
    order = pipe.read_order()
    _exit_with(order["parent"])
    with stdout_guard.stdout_guarded():
        try:
            _describe(order, pipe) if order["do"] == "describe" else _run(order, pipe)
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
    os._exit(0)


def _move_pipe() -> Pipe:
    pipe = Pipe(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return pipe


def _exit_with(parent: int) -> None:
    """Exit when the run's process does, however it ends and whatever the agent is doing."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _describe(order: DescribeOrder, pipe: Pipe) -> None:
    try:
        pipe.send({"described": description_of(order)})
    except UsageError as error:
        pipe.send({"refused": str(error)})


def description_of(order: ObjectOrder) -> AgentDescription:
    """Load the object of an order and describe it (see ``AgentDescription``).

    Raises:
        UsageError: the object does not exist, cannot be loaded, or is not an agent.
    """
    loaded = load_object(order["spec"], order["is_entry_point"])
    description = describe_object(loaded.object, order["name"] or loaded.known_as)
    return {**description, "known_as": loaded.known_as, "code": loaded.fingerprint}


def _run(order: RunOrder, pipe: Pipe) -> None:
    name = order["name"]
    try:
        ideas = _ideas(order, pipe, name)
        with suppress(BaseException):
            atexit._run_exitfuncs()  # os._exit skips them, and threads may be left
    except BaseException as raised:  # noqa: BLE001  (foreign code; it is named and told)
        error, number = named_error(raised, name), getattr(raised, "question", None)
        pipe.send({
            "raised": str(error), "kind": type(error).__name__, "question": number,
            "printed": stdout_guard.characters_written,
        })  # fmt: skip
        return
    for idea in ideas:
        pipe.send({"unusable": idea} if isinstance(idea, str) else {"idea": idea})
    pipe.send({"returned": len(ideas), "printed": stdout_guard.characters_written})


def _ideas(order: RunOrder, pipe: Pipe, name: str) -> list[Any]:
    loaded = load_object(order["spec"], order["is_entry_point"])
    if loaded.fingerprint != order["code"]:
        raise AgentFailed(f"{name} was changed while it was in use. Run the command again.")
    agent: Any = loaded.object() if inspect.isclass(loaded.object) else loaded.object
    topic = Topic.model_validate(order["topic"])
    available = {
        "topic": topic,
        "library": RemoteLibraryClient(pipe),
        "model": RemoteModelClient(pipe),
        "seed": order["seed"],
        "n_ideas": order["n_ideas"],
    }
    arguments = {argument: available[argument] for argument in requested_arguments(agent, name)}
    pipe.listen()
    pipe.send({"started": True})
    result = call_agent(agent, arguments, name)
    ideas: list[Any] = asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result
    return ideas


async def _wait_for(result: Any) -> Any:
    return await result
