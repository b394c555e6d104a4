"""The first way in, for those with a state machine of their own: an object with ``graph()``.

``graph()`` gives a LangGraph ``StateGraph`` that is not compiled yet. Its steps get topic, library,
model and seed as ``runtime.context``; they appear in the progress and are checkpointed like ours. Two
methods are optional: ``start(topic)`` gives the first state (else ``{"topic": text}``), ``ideas(state)``
reads the ideas from the last one (else its ``ideas``).

The graph runs inside one step of ours, and each of its steps in a thread of its own (``shield.py``).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.errors import AgentFailed, IdeagoraError, UsageError
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.in_process.isolation import run_isolated
from ideagora.graphs.external.loader import loaded
from ideagora.graphs.external.references import ExternalState, resolve_references
from ideagora.graphs.external.validation import plain_ideas
from ideagora.models.redact import one_line

_HOW = "graph(self) has to give a langgraph StateGraph that is not compiled yet."


def own_graph(thing: Any, name: str) -> StateGraph[Any, Any, Any, Any]:
    """The author's graph, as it is.

    Raises:
        UsageError: ``graph()`` raised, or gave something else.
    """
    made = loaded(thing.graph, f"the graph of {name}")
    if not isinstance(made, StateGraph):
        raise UsageError(f"The graph of {name} is a {type(made).__name__}. {_HOW}")
    if not made.nodes:
        raise UsageError(f"The graph of {name} has no step. {_HOW}")
    return made


def step_names(thing: Any, name: str) -> tuple[str, ...]:
    """The names of the author's steps, in the order in which they were added."""
    return tuple(own_graph(thing, name).nodes)


def build_graph(thing: Any, step: str, name: str) -> Any:
    """A graph with one step, inside of which the author's graph runs."""
    builder = own_graph(thing, name)
    shield(builder, name)

    async def run(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        tools = runtime.context
        first = await run_isolated(lambda: _start(thing, tools, name), tools, f"{name}, start()")
        last = await _last_state(builder, first, tools, name)
        values = await run_isolated(lambda: plain_ideas(_given(thing, last, name), name), tools, name)
        return await resolve_references(values, tools, name)

    graph = StateGraph(ExternalState, context_schema=AgentContext)
    graph.add_node(step, run)
    graph.add_edge(START, step)
    graph.add_edge(step, END)
    return graph


def _start(thing: Any, tools: AgentContext, name: str) -> Any:
    first = thing.start(tools.topic) if hasattr(thing, "start") else {"topic": tools.topic.text}
    if not isinstance(first, dict):
        raise AgentFailed(
            f"start() of {name} gave a {type(first).__name__}; it has to give the first state, a dict."
        )
    return first


def _given(thing: Any, last: Any, name: str) -> Any:
    if hasattr(thing, "ideas"):
        return thing.ideas(last)
    if "ideas" not in last:
        held = ", ".join(sorted(map(str, last))) or "nothing"
        raise AgentFailed(
            f"{name}: the last state has no field “ideas” (it has {held}). Fill it, or write "
            "ideas(self, state)."
        )
    return last["ideas"]


async def _last_state(
    builder: StateGraph[Any, Any, Any, Any], first: Any, tools: AgentContext, name: str
) -> Any:
    """Run the author's graph to its end; whatever LangGraph has against it becomes an ``AgentFailed``."""
    try:
        graph = builder.compile(name=name)
        return await graph.ainvoke(first, context=tools)
    except IdeagoraError:
        raise
    except GraphRecursionError:
        raise AgentFailed(f"{name}: its graph did not come to an end in the steps that a run has.") from None
    except GraphBubbleUp:
        raise AgentFailed(f"{name}: its graph asks a person (interrupt), and nobody is there.") from None
    except Exception as error:  # noqa: BLE001  (foreign code; it is named and goes on)
        why = one_line(str(error).split("\n")[0], 200)
        raise AgentFailed(f"{name}: its graph cannot be run: {type(error).__name__}: {why}.") from None


def shield(builder: StateGraph[Any, Any, Any, Any], name: str) -> None:
    """Let every step and every decision of a graph run in a thread of its own (in place)."""
    for step, spec in list(builder.nodes.items()):
        told = f"{name}, step {step}"
        builder.nodes[step] = dataclasses.replace(spec, runnable=_shielded(spec.runnable, told))
    for source, branches in builder.branches.items():
        for key, branch in list(branches.items()):
            told = f"{name}, the decision after {source}"
            branches[key] = branch._replace(path=_shielded(branch.path, told))


def _shielded(runnable: Any, name: str) -> Any:
    inner = getattr(runnable, "builder", None)
    if not isinstance(inner, StateGraph):
        return Shielded(runnable, name)
    shield(inner, name)
    return inner.compile(checkpointer=runnable.checkpointer, name=runnable.name)


class Shielded(Runnable[Any, Any]):
    """A step of somebody else's graph, run so that it can neither stop nor crash the run."""

    def __init__(self, step: Runnable[Any, Any], name: str) -> None:
        self._step, self._name = step, name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Graphs of agents are run asynchronously only."""
        raise NotImplementedError("use ainvoke")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """What the step gives, or the named error."""
        tools = _tools(config)
        step = self._step
        is_sync = getattr(step, "func", None) is not None

        def work() -> Any:
            return (step.invoke if is_sync else step.ainvoke)(input, config, **kwargs)

        return await run_isolated(work, tools, self._name, passing=(GraphBubbleUp,))


def _tools(config: RunnableConfig | None) -> AgentContext:
    runtime = (config or {}).get("configurable", {}).get("__pregel_runtime")
    tools = getattr(runtime, "context", None)
    assert isinstance(tools, AgentContext), "LangGraph gave the step no runtime"
    return tools
