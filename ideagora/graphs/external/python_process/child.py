"""Main function of an agent's process: load the agent, describe or run it, and exit.

The agent's own stdin is empty and its stdout goes to stderr; the two pipes to the run use other file
descriptors, so that the agent does not write to them by accident. This module and its imports are light,
because whoever names an agent waits for them: no pydantic and no asyncio before the agent is run.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from ideagora.errors import UsageError
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.loading.introspection import describe_object
from ideagora.graphs.external.loading.loader import load_object
from ideagora.graphs.external.python_process.messages import AgentDescription, DescribeOrder, ObjectOrder
from ideagora.graphs.external.python_process.pipe import Pipe

PR_SET_PDEATHSIG = 1
"""Option of Linux's ``prctl``: the signal that a process gets when its parent ends."""


def main() -> NoReturn:
    """Carry out the order in the first line of stdin, and exit."""
    pipe = _move_pipe()
    order = pipe.read_order()
    _exit_with(order["parent"])
    with stdout_guard.stdout_guarded():
        try:
            if order["do"] == "describe":
                _describe(order, pipe)
            else:  # loads pydantic and asyncio, which describing does not need
                from ideagora.graphs.external.python_process.agent_run import run_agent

                run_agent(order, pipe)
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
