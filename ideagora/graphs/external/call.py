"""Call an agent's function and return its ideas as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ideagora.graphs.external.loading.signature import requires
from ideagora.graphs.external.validation.ideas import MAX_IDEAS, plain_ideas


def call_agent(function: Callable[..., Any], arguments: dict[str, Any], name: str) -> Any:
    """The ideas as plain values, or an awaitable of them if the function is asynchronous.

    ``n_ideas`` is left out if no number is wanted and the function has a default for it.
    """
    if arguments.get("n_ideas", 0) is None and not requires(function, "n_ideas"):
        arguments = {key: value for key, value in arguments.items() if key != "n_ideas"}
    result = function(**arguments)
    if inspect.isasyncgen(result):
        return _collect(result, name)
    return _await_ideas(result, name) if inspect.isawaitable(result) else plain_ideas(result, name)


async def _await_ideas(result: Any, name: str) -> list[Any]:
    return plain_ideas(await result, name)


async def _collect(result: Any, name: str) -> list[Any]:
    ideas: list[Any] = []
    async for idea in result:
        ideas.append(idea)
        if len(ideas) > MAX_IDEAS:
            break
    return plain_ideas(ideas, name)
