"""The baseline without literature: ask a model for an idea, then for an experiment that tests it.

It measures what a language model contributes on its own. The steps are those of the other agents without
anything that comes from papers; the experiment uses the same prompt as theirs. Several ideas are written one
after the other, each different from the earlier ones.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.plain_ideators import DIRECT_IDEATOR, proposed_ideas
from ideagora.agents.views import idea_view
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import needs_idea, no_further_idea, plan_tasks, usage_name
from ideagora.graphs.steps.steering import avoided_ideas
from ideagora.models.usage import usage_label
from ideagora.schema import Topic


class DirectState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    drafts: Annotated[list[dict[str, Any]], operator.add]
    plans: Annotated[list[dict[str, Any]], operator.add]
    """Plans with the numbers of their ideas, from 1."""
    failures: Annotated[list[dict[str, Any]], operator.add]


class PlanTask(TypedDict):
    """Payload of ``design_experiment``."""

    topic: dict[str, Any]
    draft: dict[str, Any]
    number: int


async def write_idea(state: DirectState, runtime: Runtime[Services]) -> DirectState:
    """One more idea from the topic's text alone."""
    drafts, topic = state.get("drafts", []), Topic.model_validate(state["topic"])
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            draft = await DIRECT_IDEATOR(
                runtime.context.client,
                topic=topic.text,
                proposed=(*await avoided_ideas(runtime.context, topic), *proposed_ideas(drafts)),
                focus=topic.focus,
            )
        except UnreadableAnswer as error:
            return cast(DirectState, no_further_idea(drafts, error))
    return {"drafts": [draft.model_dump(mode="json")]}


def after_idea(state: DirectState, runtime: Runtime[Services]) -> list[Hashable | Send]:
    """Write another idea, or design the experiments of all, in parallel."""
    if needs_idea(state, runtime.context.options.ideas):
        return ["write_idea"]
    return [Send("design_experiment", task) for task in plan_tasks(state)]


async def design_experiment(state: PlanTask, runtime: Runtime[Services]) -> DirectState:
    """A plan for an idea, without any papers."""
    with usage_label(usage_name("experiment", state["number"])):
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=state["topic"]["text"],
            idea=idea_view(state["draft"]),
            evaluation=state["draft"]["evaluation"],
            past=(),
            related=(),
            entities=(),
        )
    return {"plans": [{"number": state["number"], "plan": plan.model_dump(mode="json")}]}


def build_graph() -> StateGraph[DirectState, Services, DirectState, DirectState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(DirectState, context_schema=Services)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "write_idea")
    graph.add_conditional_edges("write_idea", after_idea, ["write_idea", "design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
