"""The baseline without literature: ask a model for an idea, then for an experiment that tests it.

It measures what a language model contributes on its own. The steps are those of the other agents without
anything that comes from papers; the experiment uses the same prompt as theirs. Several ideas are written one
after the other, each different from the earlier ones.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.plain_ideators import DIRECT_IDEATOR, proposed_ideas
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Draft, DraftsState, needs_idea, no_further_idea, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import design_experiment, start_experiments
from ideagora.graphs.steps.steering import avoided_ideas
from ideagora.models.usage import usage_label
from ideagora.schema import Topic, deserialize


async def write_idea(state: DraftsState, runtime: Runtime[Services]) -> DraftsState:
    """One more idea from the topic's text alone."""
    drafts, topic = state.get("drafts", []), deserialize(Topic, state["topic"])
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            answer = await DIRECT_IDEATOR(
                runtime.context.client,
                topic=topic.text,
                proposed=(*await avoided_ideas(runtime.context, topic), *proposed_ideas(drafts)),
                focus=topic.focus,
            )
        except UnreadableAnswer as error:
            return {"failures": no_further_idea(drafts, error)}
    draft = cast("Draft", answer.model_dump(mode="json"))
    return {"drafts": [{**draft, "number": len(drafts) + 1}]}


def after_idea(state: DraftsState, runtime: Runtime[Services]) -> list[Hashable | Send]:
    """Write another idea, or design the experiments of all, in parallel."""
    if needs_idea(state, runtime.context.options.ideas):
        return ["write_idea"]
    return [*start_experiments(state)]


def build_graph() -> StateGraph[DraftsState, Services, DraftsState, DraftsState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(DraftsState, context_schema=Services)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "write_idea")
    graph.add_conditional_edges("write_idea", after_idea, ["write_idea", "design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
