"""Adapt a loaded object (function, callable object, class with a graph, ``Agent``) to an ``Agent``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ideagora.graphs.agent import Agent, set_option
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.loading import introspection
from ideagora.graphs.external.loading.signature import requested_arguments
from ideagora.graphs.external.state import ideas_of


class ExternalOptions(BaseModel):
    """Options of an external agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ideas: int | None = Field(default=None, ge=1, le=100)
    """The number of ideas that it is asked for; ``None``: as many as it likes."""


@dataclass(frozen=True)
class AgentCode:
    """The code that an external agent consists of."""

    name: str
    """Name of the agent."""
    source: str
    """Where it came from."""
    fingerprint: str
    """Changes with the code."""


def as_agent(obj: Any, code: AgentCode) -> Agent:
    """Adapt a loaded object.

    Args:
        obj: a function, an object or class that is callable or has ``graph()``, or an ``Agent``. A class is
            instantiated for every run, since several runs may be active at once.
        code: what the object was loaded from.

    Raises:
        UsageError: the object is not an agent.
    """
    name = code.name
    if isinstance(obj, Agent):
        return replace(obj, name=name, fingerprint=code.fingerprint)
    if introspection.returns_agent(obj):
        return as_agent(obj(), code)
    create: Callable[[], Any] = lambda: obj  # noqa: E731
    if inspect.isclass(obj):
        create, obj = partial(introspection.instantiate, obj, name), introspection.instantiate(obj, name)
    about, calls = introspection.summary_line(obj), getattr(obj, "calls", None)
    if introspection.has_graph(obj):
        from ideagora.graphs.external.in_process.langgraph import author_graph, build_graph, step_names

        step = introspection.identifier(type(obj).__name__)
        agent = adapt_agent(
            code,
            about=about,
            build=lambda: build_graph(create(), step, name),
            steps=(step, *step_names(obj, name)),
            calls=calls,
        )
        return replace(agent, subgraphs={step: lambda: author_graph(obj, name)})
    if callable(obj):
        from ideagora.graphs.external.in_process.callable import build_graph as build_callable_graph

        arguments, step = requested_arguments(obj, name), introspection.step_name(obj)
        return adapt_agent(
            code,
            about=about,
            build=lambda: build_callable_graph(create(), arguments, step, name),
            steps=(step,),
            calls=calls,
        )
    raise introspection.not_an_agent(obj, name)


def adapt_agent(
    code: AgentCode,
    *,
    about: str,
    build: Callable[[], Any],
    steps: tuple[str, ...],
    calls: object = None,
) -> Agent:
    """An ``Agent`` whose graph ends in ``ExternalState`` and whose steps get an ``AgentContext``."""
    return Agent(
        name=code.name,
        about=about,
        source=code.source,
        options=ExternalOptions(),
        set_ideas=set_option("ideas"),
        build=build,
        start=lambda topic: {"topic": topic.model_copy(update={"excluded": ()}).model_dump(mode="json")},
        ideas=ideas_of,
        expected_calls=lambda options: {"main": calls} if introspection.is_count(calls) else None,  # type: ignore[dict-item]
        steps=steps,
        fingerprint=code.fingerprint,
        context=lambda services, topic: AgentContext.create(services, topic, code.name),
    )
