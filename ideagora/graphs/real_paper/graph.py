"""The Real Paper baseline of Chain of Ideas (arXiv 2410.13185, sections 4.2 and 4.3, Tables 21 to 23).

A published paper is converted into the parts of a generated idea: its topic, its idea, and the experiment
that tests it, each without results. The full text is used if available, otherwise the abstract. If a topic
is given, the paper competes on that topic and none is extracted.
"""

from __future__ import annotations

from typing import Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.paper_extractors import EXPERIMENT_EXTRACTOR, IDEA_EXTRACTOR, TOPIC_EXTRACTOR
from ideagora.errors import RunError
from ideagora.graphs.drafts import Draft
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.retrieval.restrictions.target_paper import TargetPaper
from ideagora.schema import Experiment, Serialized, Topic, deserialize, serialize


class RealPaperState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: Serialized[Topic]
    given: bool
    """Whether the user gave the topic."""
    own: Serialized[TargetPaper]
    draft: Draft
    plan: Serialized[Experiment] | None


Context = Runtime[Services]


async def read_paper(state: RealPaperState, runtime: Context) -> RealPaperState:
    """Read the paper, even if the cut-off or an exclusion would hide it, since the idea is taken from it."""
    if runtime.context.target_paper is None:
        raise RunError("This graph was started without a paper.")
    own = await runtime.context.target_paper()
    runtime.context.say(f"{own.kind} of {own.paper.title[:80]}")
    return {"own": serialize(own)}


def needs_topic(state: RealPaperState) -> str:
    """Extract a topic only if none was given."""
    return "extract_idea" if state["given"] else "extract_topic"


async def extract_topic(state: RealPaperState, runtime: Context) -> RealPaperState:
    """The field and the task within it, from title, abstract and introduction (Table 21)."""
    own = state["own"]
    with usage_label("topic"):
        answer = await TOPIC_EXTRACTOR(
            runtime.context.client,
            title=own["paper"]["title"],
            abstract=own["paper"]["abstract"],
            opening=own["opening"],
        )
    text = f"{answer.topic.rstrip(' .:')}: {answer.task.rstrip(' .')}"
    runtime.context.say(f"topic: {text}")
    topic = deserialize(Topic, state["topic"])
    return {"topic": serialize(topic.model_copy(update={"text": text}))}


async def extract_idea(state: RealPaperState, runtime: Context) -> RealPaperState:
    """Motivation, method and novelty, as if nothing had been tried yet (Table 22)."""
    with usage_label("idea"):
        answer = await IDEA_EXTRACTOR(runtime.context.client, **_paper_inputs(state))
    return {"draft": cast("Draft", answer.model_dump(mode="json"))}


async def extract_experiment(state: RealPaperState, runtime: Context) -> RealPaperState:
    """The steps of the experiment, without its results (Table 23)."""
    with usage_label("experiment"):
        answer = await EXPERIMENT_EXTRACTOR(runtime.context.client, **_paper_inputs(state))
    if not answer.steps:
        runtime.context.say(f"the {state['own']['kind']} describes no experiment")
        return {"plan": None}
    return {"plan": cast("Serialized[Experiment]", answer.model_dump(mode="json"))}


def _paper_inputs(state: RealPaperState) -> dict[str, Any]:
    own = state["own"]
    return {
        "topic": state["topic"]["text"],
        "title": own["paper"]["title"],
        "kind": own["kind"],
        "text": own["text"],
    }


def build_graph() -> StateGraph[RealPaperState, Services, RealPaperState, RealPaperState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(RealPaperState, context_schema=Services)
    for node in (read_paper, extract_topic, extract_idea, extract_experiment):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "read_paper")
    graph.add_conditional_edges("read_paper", needs_topic, ["extract_topic", "extract_idea"])
    graph.add_edge("extract_topic", "extract_idea")
    graph.add_edge("extract_idea", "extract_experiment")
    graph.add_edge("extract_experiment", END)
    return graph
