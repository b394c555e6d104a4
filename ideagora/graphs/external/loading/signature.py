"""The arguments that an agent's function requests by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ideagora.errors import UsageError

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


def requires(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has an argument of this name without a default."""
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.default is parameter.empty
