"""Call an agent's function: which arguments it requests by name, and its ideas as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ideagora.errors import UsageError
from ideagora.graphs.external.validation.ideas import MAX_IDEAS, plain_ideas

ARGUMENTS = ("topic", "library", "model", "seed", "n_ideas")


def requested_arguments(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Which of the arguments a function takes.

    Raises:
        UsageError: it requires another argument.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ARGUMENTS
    names = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            return ARGUMENTS
        if parameter.name in ARGUMENTS and parameter.kind is not parameter.POSITIONAL_ONLY:
            names.append(parameter.name)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            raise UsageError(
                f"{name} requires {parameter.name!r}. An agent can take {', '.join(ARGUMENTS)}, by these "
                "names: def ideate(topic, library, model, seed, n_ideas)."
            )
    return tuple(names)


def call_agent(function: Callable[..., Any], arguments: dict[str, Any], name: str) -> Any:
    """The ideas as plain values, or an awaitable of them if the function is asynchronous.

    ``n_ideas`` is left out if no number is wanted and the function has a default for it.
    """
    if arguments.get("n_ideas", 0) is None and not _requires(function, "n_ideas"):
        arguments = {key: value for key, value in arguments.items() if key != "n_ideas"}
    result = function(**arguments)
    if inspect.isasyncgen(result):
        return _collect(result, name)
    return _await_ideas(result, name) if inspect.isawaitable(result) else plain_ideas(result, name)


def _requires(function: Callable[..., Any], name: str) -> bool:
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.default is parameter.empty


async def _await_ideas(result: Any, name: str) -> list[Any]:
    return plain_ideas(await result, name)


async def _collect(result: Any, name: str) -> list[Any]:
    ideas: list[Any] = []
    async for idea in result:
        ideas.append(idea)
        if len(ideas) > MAX_IDEAS:
            break
    return plain_ideas(ideas, name)
