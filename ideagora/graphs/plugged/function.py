"""The first way in: a function (or an object that can be called) ``ideate(topic, library, model, seed)``.

It becomes a graph with one step, which is named after it. It may ask for fewer of the four, by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.errors import UsageError
from ideagora.graphs.plugged.collecting import PluggedState, collected
from ideagora.graphs.plugged.returned import MOST_IDEAS, plain_ideas
from ideagora.graphs.plugged.shield import guarded
from ideagora.graphs.plugged.tools import Tools

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


def build_graph(function: Callable[..., Any], asked: tuple[str, ...], step: str, name: str) -> Any:
    """A graph with the function as its only step."""

    async def run(state: PluggedState, runtime: Runtime[Tools]) -> PluggedState:
        tools = runtime.context
        chosen = {one: getattr(tools, one) for one in asked}
        values = await guarded(lambda: _values(function, chosen, name), tools, name)
        return await collected(values, tools, name)

    graph = StateGraph(PluggedState, context_schema=Tools)
    graph.add_node(step, run)
    graph.add_edge(START, step)
    graph.add_edge(step, END)
    return graph


def _values(function: Callable[..., Any], chosen: dict[str, Any], name: str) -> Any:
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
