"""Find out whether a loaded object is an agent, and what it says about itself."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

from ideagora.errors import UsageError
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.loading.signature import requested_arguments
from ideagora.graphs.external.python_process.messages import AgentDescription


def describe_object(obj: Any, name: str) -> AgentDescription:
    """What the runtime needs to know about a loaded object, as plain values.

    Raises:
        UsageError: the object is not an agent.
    """
    if is_agent(obj) or returns_agent(obj) or has_graph(obj):
        return {"is_call": False}
    if inspect.isclass(obj):
        obj = instantiate(obj, name)
    if has_graph(obj):
        return {"is_call": False}
    if not callable(obj):
        raise not_an_agent(obj, name)
    requested_arguments(obj, name)
    calls = getattr(obj, "calls", None)
    return {
        "is_call": True,
        "step": step_name(obj),
        "about": summary_line(obj),
        "calls": calls if is_count(calls) else None,
    }


def is_agent(obj: Any) -> bool:
    """Whether it is an ``Agent``."""
    agent_class = _agent_class()
    return agent_class is not None and isinstance(obj, agent_class)


def _agent_class() -> type | None:
    """``Agent`` if the agent's code has imported it; importing it here would take longer than the rest."""
    module = sys.modules.get("ideagora.graphs.agent")
    return module.Agent if module is not None else None


def has_graph(obj: Any) -> bool:
    """Whether the object has a method ``graph()``."""
    return callable(getattr(obj, "graph", None))


def returns_agent(obj: Any) -> bool:
    """Whether it is a function annotated to return an ``Agent``, like those of the built-in agents."""
    returned = getattr(obj, "__annotations__", {}).get("return") if inspect.isfunction(obj) else None
    return returned == "Agent" or (returned is not None and returned is _agent_class())


def instantiate(cls: Callable[[], Any], name: str) -> Any:
    """An instance of a class.

    Raises:
        UsageError: the constructor raised.
    """
    try:
        return cls()
    except Exception as error:  # noqa: BLE001  (third-party code; the error is named and raised)
        raise UsageError(f"{name} cannot be created without arguments: {named_error(error, name)}") from None


def not_an_agent(obj: Any, name: str) -> UsageError:
    """The error for an object that is not an agent."""
    return UsageError(
        f"{name} is of type {type(obj).__name__}, which is not an agent. An agent is a function "
        "ideate(topic, library, model, seed) or a class with a method graph(self)."
    )


def step_name(obj: Any) -> str:
    """Name of the step that calls a function or another callable."""
    return identifier(getattr(obj, "__name__", type(obj).__name__))


def summary_line(obj: Any) -> str:
    """The first line of the docstring."""
    return (inspect.getdoc(obj) or "").strip().split("\n")[0][:200] or "(no description)"


def is_count(value: object) -> bool:
    """Whether it is a non-negative integer."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def identifier(name: str) -> str:
    """Turn any name into a valid step name."""
    return re.sub(r"\W+", "_", name).strip("_") or "ideate"
