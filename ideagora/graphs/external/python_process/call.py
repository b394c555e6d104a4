"""Call an agent's function: which of the four it asks for by name, and what it gives as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ideagora.errors import UsageError
from ideagora.graphs.external.validation import MOST_IDEAS, plain_ideas

GIVEN = ("topic", "library", "model", "seed")


def wanted(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Which of the four a function asks for.

    Raises:
        UsageError: it asks for something else, which an agent does not get.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return GIVEN
    names = []
    for one in parameters:
        if one.kind is one.VAR_KEYWORD:
            return GIVEN
        if one.name in GIVEN and one.kind is not one.POSITIONAL_ONLY:
            names.append(one.name)
        elif one.default is one.empty and one.kind is not one.VAR_POSITIONAL:
            raise UsageError(
                f"{name} asks for {one.name!r}. An agent gets {', '.join(GIVEN)}, by these names: def "
                "ideate(topic, library, model, seed)."
            )
    return tuple(names)


def values(function: Callable[..., Any], chosen: dict[str, Any], name: str) -> Any:
    """The ideas as plain values, or an awaitable of them where the function is asynchronous."""
    given = function(**chosen)
    if inspect.isasyncgen(given):
        return _gathered(given, name)
    return _when_there(given, name) if inspect.isawaitable(given) else plain_ideas(given, name)


async def _when_there(given: Any, name: str) -> list[Any]:
    return plain_ideas(await given, name)


async def _gathered(given: Any, name: str) -> list[Any]:
    found: list[Any] = []
    async for one in given:
        found.append(one)
        if len(found) > MOST_IDEAS:
            break
    return plain_ideas(found, name)
