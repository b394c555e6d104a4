"""Run a callable ``ideate(topic, library, model, seed)`` in this process.

It becomes a graph with one step, named after it. It may take fewer of the arguments, or ``n_ideas``, by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.runtime import Runtime

from ideagora.graphs.external.call import call_agent
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.in_process.isolation import run_isolated
from ideagora.graphs.external.state import ExternalState, one_step_graph
from ideagora.graphs.external.validation.references import resolve_references


def build_graph(function: Callable[..., Any], requested: tuple[str, ...], step: str, name: str) -> Any:
    """A graph whose only step is the function."""

    async def run(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        context = runtime.context
        arguments = {argument: getattr(context, argument) for argument in requested}
        values = await run_isolated(lambda: call_agent(function, arguments, name), context, name)
        return await resolve_references(values, context, name)

    return one_step_graph(step, run)
