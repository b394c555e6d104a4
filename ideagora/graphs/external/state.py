"""The state and the graph of an external agent that runs as one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypedDict

from ideagora.graphs.agent import Failure
from ideagora.graphs.external.validation.ideas import ValidIdea, as_ideas
from ideagora.schema import Idea, Serialized, Topic, deserialize

if TYPE_CHECKING:
    from langgraph.graph import StateGraph
    from langgraph.runtime import Runtime

    from ideagora.graphs.agent import Origin
    from ideagora.graphs.external.context import AgentContext


class ExternalState(TypedDict, total=False):
    """Plain JSON values only."""

    topic: Serialized[Topic]
    ideas: list[ValidIdea]
    failures: list[Failure]


class Step(Protocol):
    """What a step of the graph does."""

    async def __call__(self, state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        """Return the state after the step."""


def one_step_graph(
    name: str, step: Step
) -> StateGraph[ExternalState, AgentContext, ExternalState, ExternalState]:
    """A graph with a single step, which is not compiled."""
    from langgraph.graph import END, START, StateGraph

    from ideagora.graphs.external.context import AgentContext

    graph = StateGraph(ExternalState, context_schema=AgentContext)
    graph.add_node(name, step)
    graph.add_edge(START, name)
    graph.add_edge(name, END)
    return graph


def ideas_of(state: ExternalState, origin: Origin) -> list[Idea]:
    """The ideas of a finished run."""
    return as_ideas(state.get("ideas", []), deserialize(Topic, state["topic"]), origin)
