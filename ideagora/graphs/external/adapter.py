"""Whatever was loaded (a function, an object, a class with a graph, an ``Agent``) becomes an ``Agent``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from ideagora.config import Group
from ideagora.errors import UsageError
from ideagora.graphs.agent import Agent
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.python_process.call import wanted
from ideagora.graphs.external.references import failures_of, ideas_of


class NoOptions(BaseModel):
    """An agent from outside has no options of ours."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def as_agent(thing: Any, name: str, source: str, fingerprint: str) -> Agent:
    """The agent that a loaded object stands for.

    Args:
        thing: a function, an object or class that can be called or has ``graph()``, or an ``Agent``.
        name: how the agent is known.
        source: where it came from.
        fingerprint: changes with its code.

    Raises:
        UsageError: it is nothing of the kind; says what would be.
    """
    if isinstance(thing, Agent):
        return replace(thing, name=name, fingerprint=fingerprint)
    if _makes_agent(thing):
        return as_agent(thing(), name, source, fingerprint)
    if inspect.isclass(thing):
        thing = _made(thing, name)
    if callable(getattr(thing, "graph", None)):
        from ideagora.graphs.external.in_process.langgraph import build_graph, own_graph, step_names

        step = identifier(type(thing).__name__)
        inner = step_names(thing, name)
        made = _agent(
            thing, name, source, fingerprint, lambda: build_graph(thing, step, name), (step, *inner)
        )
        return replace(made, subgraphs={step: lambda: own_graph(thing, name)})
    if callable(thing):
        from ideagora.graphs.external.in_process.callable import build_graph as build_function

        asked, step = wanted(thing, name), _step_of(thing)
        return _agent(
            thing, name, source, fingerprint, lambda: build_function(thing, asked, step, name), (step,)
        )
    raise _no_agent(thing, name)


def _no_agent(thing: Any, name: str) -> UsageError:
    return UsageError(
        f"{name} is a {type(thing).__name__}, which is no agent. An agent is a function ideate(topic, "
        "library, model, seed) or a class with graph(self)."
    )


def described(thing: Any, name: str) -> dict[str, Any]:
    """What a run has to know of a loaded object, as plain values; ``is_call``: it is a function or the like.

    Raises:
        UsageError: it is no agent; says what would be.
    """
    if isinstance(thing, Agent) or _makes_agent(thing):
        return {"is_call": False}
    if callable(getattr(thing, "graph", None)):
        return {"is_call": False}
    if inspect.isclass(thing):
        thing = _made(thing, name)
    if callable(getattr(thing, "graph", None)):
        return {"is_call": False}
    if not callable(thing):
        raise _no_agent(thing, name)
    wanted(thing, name)
    calls = getattr(thing, "calls", None)
    return {
        "is_call": True,
        "step": _step_of(thing),
        "about": _about(thing),
        "calls": calls if _calls(calls) else None,
    }


def _step_of(thing: Any) -> str:
    return identifier(getattr(thing, "__name__", type(thing).__name__))


def _about(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").strip().split("\n")[0][:200] or "(its author does not say)"


def _makes_agent(thing: Any) -> bool:
    """Whether it is a function that says it returns an ``Agent``, as the built-in ones are."""
    returned = getattr(thing, "__annotations__", {}).get("return") if inspect.isfunction(thing) else None
    return returned is Agent or returned == "Agent"


def _made(kind: Callable[[], Any], name: str) -> Any:
    try:
        return kind()
    except Exception as error:  # noqa: BLE001  (foreign code; it is named and goes on)
        raise UsageError(f"{name} cannot be made without arguments: {named_error(error, name)}") from None


def identifier(name: str) -> str:
    """A name for a step, out of any name."""
    return re.sub(r"\W+", "_", name).strip("_") or "ideate"


def _agent(
    thing: Any,
    name: str,
    source: str,
    fingerprint: str,
    build: Callable[[], Any],
    steps: tuple[str, ...],
) -> Agent:
    return adapt_agent(
        name=name,
        about=_about(thing),
        source=source,
        fingerprint=fingerprint,
        build=build,
        steps=steps,
        calls=getattr(thing, "calls", None),
    )


def adapt_agent(
    *,
    name: str,
    about: str,
    source: str,
    fingerprint: str,
    build: Callable[[], Any],
    steps: tuple[str, ...],
    calls: object = None,
) -> Agent:
    """An ``Agent`` whose graph ends in ``PluggedState`` and whose steps get ``AgentContext``."""
    return Agent(
        name=name,
        about=about,
        source=source,
        options=NoOptions(),
        build=build,
        start=lambda topic: {"topic": topic.model_copy(update={"excluded": ()}).model_dump(mode="json")},
        ideas=ideas_of,
        failures=failures_of,
        expected_calls=lambda options: _calls(calls),
        steps=steps,
        fingerprint=fingerprint,
        context=lambda services, topic: AgentContext.of(services, topic, name),
    )


def _calls(said: object) -> dict[Group, int] | None:
    is_count = isinstance(said, int) and not isinstance(said, bool) and said >= 0
    return {"main": said} if is_count else None  # type: ignore[dict-item]
