"""Run an agent in its process and send its ideas to the run."""

from __future__ import annotations

import atexit
import inspect
from contextlib import suppress
from typing import Any

from ideagora.errors import AgentFailed
from ideagora.graphs.external.call import call_agent
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.loading.loader import load_object
from ideagora.graphs.external.loading.signature import requested_arguments
from ideagora.graphs.external.python_process.child_context import (
    Calls,
    RemoteLibraryClient,
    RemoteModelClient,
)
from ideagora.graphs.external.python_process.messages import RunOrder
from ideagora.graphs.external.python_process.pipe import Pipe
from ideagora.schema import Topic


def run_agent(order: RunOrder, pipe: Pipe) -> None:
    """Send the ideas of the agent that an order names, or its error."""
    name = order["name"]
    try:
        ideas = _ideas(order, pipe, name)
        with suppress(BaseException):
            atexit._run_exitfuncs()  # os._exit skips them, and threads may be left
    except BaseException as raised:  # noqa: BLE001  (third-party code; the error is sent on)
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
    calls = Calls(pipe)
    available = {
        "topic": topic,
        "library": RemoteLibraryClient(calls),
        "model": RemoteModelClient(calls),
        "seed": order["seed"],
        "n_ideas": order["n_ideas"],
    }
    arguments = {argument: available[argument] for argument in requested_arguments(agent, name)}
    calls.listen()
    pipe.send({"started": True})
    result = call_agent(agent, arguments, name)
    ideas: list[Any] = _wait_for(result) if inspect.isawaitable(result) else result
    return ideas


def _wait_for(awaitable: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())
