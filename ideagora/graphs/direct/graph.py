"""The baseline without literature: a model is asked for an idea, then for the experiment that tests it.

What a language model has by itself. The steps are those of the other agents with everything taken
away that comes from papers; the experiment is asked for in the same words as theirs.
"""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.plain_ideators import DIRECT_IDEATOR
from ideagora.agents.views import idea_view
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label


class DirectState(TypedDict, total=False):
    """Plain values only: this is what a checkpoint holds."""

    topic: dict[str, Any]
    draft: dict[str, Any]
    plan: dict[str, Any]


async def write_idea(state: DirectState, runtime: Runtime[Services]) -> DirectState:
    """One idea from the topic's text alone."""
    with usage_label("idea"):
        draft = await DIRECT_IDEATOR(runtime.context.client, topic=state["topic"]["text"])
    return {"draft": draft.model_dump(mode="json")}


async def design_experiment(state: DirectState, runtime: Runtime[Services]) -> DirectState:
    """A plan for the idea, without any paper's experiments at hand."""
    with usage_label("experiment"):
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=state["topic"]["text"],
            idea=idea_view(state["draft"]),
            evaluation=state["draft"]["evaluation"],
            past=(),
            related=(),
            entities=(),
        )
    return {"plan": plan.model_dump(mode="json")}


def build_graph() -> StateGraph[DirectState, Services, DirectState, DirectState]:
    """The state machine of the agent."""
    graph = StateGraph(DirectState, context_schema=Services)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "write_idea")
    graph.add_edge("write_idea", "design_experiment")
    graph.add_edge("design_experiment", END)
    return graph
