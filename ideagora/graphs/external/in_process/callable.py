"""The first way in: a function (or an object that can be called) ``ideate(topic, library, model, seed)``.

It becomes a graph with one step, which is named after it. It may ask for fewer of the four, by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.in_process.isolation import run_isolated
from ideagora.graphs.external.python_process.call import values
from ideagora.graphs.external.references import ExternalState, resolve_references


def build_graph(function: Callable[..., Any], asked: tuple[str, ...], step: str, name: str) -> Any:
    """A graph with the function as its only step."""

    async def run(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        tools = runtime.context
        chosen = {one: getattr(tools, one) for one in asked}
        given = await run_isolated(lambda: values(function, chosen, name), tools, name)
        return await resolve_references(given, tools, name)

    graph = StateGraph(ExternalState, context_schema=AgentContext)
    graph.add_node(step, run)
    graph.add_edge(START, step)
    graph.add_edge(step, END)
    return graph
