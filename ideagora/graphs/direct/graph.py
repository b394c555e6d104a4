"""The baseline without literature: ask a model for an idea, then for an experiment that tests it.

It measures what a language model contributes on its own. The steps are those of the other agents without
anything that comes from papers; the experiment uses the same prompt as theirs.
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
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    draft: dict[str, Any]
    plan: dict[str, Any]


async def write_idea(state: DirectState, runtime: Runtime[Services]) -> DirectState:
    """One idea from the topic's text alone."""
    with usage_label("idea"):
        draft = await DIRECT_IDEATOR(runtime.context.client, topic=state["topic"]["text"])
    return {"draft": draft.model_dump(mode="json")}


async def design_experiment(state: DirectState, runtime: Runtime[Services]) -> DirectState:
    """A plan for the idea, without any papers."""
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
    """The graph of the agent, not compiled."""
    graph = StateGraph(DirectState, context_schema=Services)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "write_idea")
    graph.add_edge("write_idea", "design_experiment")
    graph.add_edge("design_experiment", END)
    return graph
