"""Run a LangGraph graph: an object with a method ``graph()``.

``graph()`` returns a ``StateGraph`` that is not compiled. Its steps get topic, library, model and seed as
``runtime.context``; they appear in the progress and are checkpointed like those of built-in agents. Two
methods are optional: ``start(topic)`` returns the initial state (default: ``{"topic": text}``), and
``ideas(state)`` the ideas of the final state (default: its ``ideas``).

The graph runs inside one step of ours, and each of its steps in a thread of its own (``isolation.py``).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphRecursionError
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime

from ideagora.errors import AgentFailed, IdeagoraError, UsageError
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.in_process.isolation import run_isolated
from ideagora.graphs.external.loading.loader import load_safely
from ideagora.graphs.external.state import ExternalState, one_step_graph
from ideagora.graphs.external.validation.ideas import plain_ideas
from ideagora.graphs.external.validation.references import resolve_references
from ideagora.models.redact import one_line

_ADVICE = "graph(self) must return a langgraph StateGraph that is not compiled."


def author_graph(obj: Any, name: str) -> StateGraph[Any, Any, Any, Any]:
    """The author's graph, unchanged.

    Raises:
        UsageError: ``graph()`` raised, or returned something else.
    """
    graph = load_safely(obj.graph, f"the graph of {name}")
    if not isinstance(graph, StateGraph):
        raise UsageError(f"The graph of {name} is of type {type(graph).__name__}. {_ADVICE}")
    if not graph.nodes:
        raise UsageError(f"The graph of {name} has no nodes. {_ADVICE}")
    return graph


def step_names(obj: Any, name: str) -> tuple[str, ...]:
    """The names of the author's steps, in the order in which they were added."""
    return tuple(author_graph(obj, name).nodes)


def build_graph(obj: Any, step: str, name: str) -> Any:
    """A graph with one step that runs the author's graph."""
    builder = author_graph(obj, name)
    isolate_steps(builder, name)

    async def run(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        context = runtime.context
        start = await run_isolated(lambda: _initial_state(obj, context, name), context, f"{name}, start()")
        final = await _run_graph(builder, start, context, name)
        values = await run_isolated(lambda: plain_ideas(_read_ideas(obj, final, name), name), context, name)
        return await resolve_references(values, context, name)

    return one_step_graph(step, run)


def _initial_state(obj: Any, context: AgentContext, name: str) -> Any:
    state = obj.start(context.topic) if hasattr(obj, "start") else {"topic": context.topic.text}
    if not isinstance(state, dict):
        raise AgentFailed(
            f"start() of {name} returned a {type(state).__name__}; it must return the initial state, a dict."
        )
    return state


def _read_ideas(obj: Any, final: Any, name: str) -> Any:
    if hasattr(obj, "ideas"):
        return obj.ideas(final)
    if "ideas" not in final:
        fields = ", ".join(sorted(map(str, final))) or "nothing"
        raise AgentFailed(
            f"{name}: the final state has no field “ideas” (it has {fields}). Add it, or define "
            "ideas(self, state)."
        )
    return final["ideas"]


async def _run_graph(
    builder: StateGraph[Any, Any, Any, Any], start: Any, context: AgentContext, name: str
) -> Any:
    """Run the author's graph and return its final state; errors of LangGraph become ``AgentFailed``."""
    try:
        graph = builder.compile(name=name)
        return await graph.ainvoke(start, context=context)
    except IdeagoraError:
        raise
    except GraphRecursionError:
        raise AgentFailed(
            f"{name}: its graph did not end within the step limit of a run. Check its loops."
        ) from None
    except GraphBubbleUp:
        raise AgentFailed(f"{name}: its graph interrupts to ask a person, which is not supported.") from None
    except Exception as error:  # noqa: BLE001  (third-party code; it is named and goes on)
        why = one_line(str(error).split("\n")[0], 200)
        raise AgentFailed(f"{name}: its graph cannot be run: {type(error).__name__}: {why}.") from None


def isolate_steps(builder: StateGraph[Any, Any, Any, Any], name: str) -> None:
    """Make every step and conditional edge of a graph run in a thread of its own (in place)."""
    for step, spec in list(builder.nodes.items()):
        label = f"{name}, step {step}"
        builder.nodes[step] = dataclasses.replace(spec, runnable=_isolate(spec.runnable, label))
    for source, branches in builder.branches.items():
        for key, branch in list(branches.items()):
            label = f"{name}, the edge after {source}"
            branches[key] = branch._replace(path=_isolate(branch.path, label))


def _isolate(runnable: Any, name: str) -> Any:
    inner = getattr(runnable, "builder", None)
    if not isinstance(inner, StateGraph):
        return IsolatedStep(runnable, name)
    isolate_steps(inner, name)
    return inner.compile(checkpointer=runnable.checkpointer, name=runnable.name)


class IsolatedStep(Runnable[Any, Any]):
    """A step of an external graph, run so that it can neither block nor crash the run."""

    def __init__(self, step: Runnable[Any, Any], name: str) -> None:
        self._step, self._name = step, name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Not supported: graphs of agents run asynchronously."""
        raise NotImplementedError("use ainvoke")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the step; its exceptions become ``AgentFailed``."""
        context = _agent_context(config)
        step = self._step
        is_sync = getattr(step, "func", None) is not None

        def work() -> Any:
            return (step.invoke if is_sync else step.ainvoke)(input, config, **kwargs)

        return await run_isolated(work, context, self._name, passing=(GraphBubbleUp,))


def _agent_context(config: RunnableConfig | None) -> AgentContext:
    runtime = (config or {}).get("configurable", {}).get("__pregel_runtime")
    context = getattr(runtime, "context", None)
    assert isinstance(context, AgentContext), "LangGraph passed no runtime to the step"
    return context
