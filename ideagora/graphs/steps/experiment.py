"""The experiment for an idea: design, review, search, refine (Chain of Ideas, section 3.4, Tables 17 to 20).

A graph of its own, so that any agent can run it for any of its ideas (``plan_experiment``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.experiment import (
    EXPERIMENT_DESIGNER,
    EXPERIMENT_REFINER,
    EXPERIMENT_REVIEWER,
    PlanView,
)
from ideagora.agents.views import EntityView, PaperBrief, PastExperiment, idea_view, paper_brief
from ideagora.graphs.services import Services
from ideagora.graphs.steps.topic_similarity import related_to_topic
from ideagora.schema import Experiment, Paper, Topic

RESULTS_PER_QUERY = 4
"""Papers per query that the refiner is shown."""

Context = Runtime[Services]


class ExperimentState(TypedDict, total=False):
    """State of one experiment: its inputs, then what the steps add. Plain JSON values only."""

    topic: dict[str, Any]
    draft: dict[str, Any]
    """Title, motivation, novelty, method and evaluation of the idea."""
    past: list[dict[str, Any]]
    """Experiments of the papers that the idea builds on (``PastExperiment``)."""
    related: list[dict[str, Any]]
    """Papers close to the idea (``PaperBrief``)."""
    entities: list[dict[str, Any]]
    """Key terms (``EntityView``)."""
    refinements: int
    """Maximum number of rounds of review and refinement."""
    plan: dict[str, Any]
    review: dict[str, Any]
    suggestions: list[str]
    declined: list[str]
    searched: list[str]
    found: list[dict[str, Any]]
    """Papers found by the searches of the current round."""
    found_in_all: list[dict[str, Any]]
    """Papers found by the searches of all rounds."""
    rounds: int


async def plan_experiment(context: Services, start: ExperimentState) -> Experiment:
    """Run the graph from its inputs and return the experiment."""
    graph = build_experiment().compile()
    return load_experiment(await graph.ainvoke(start, context=context))


async def design_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """A first plan, informed by the experiments of the papers that the idea builds on (Table 17)."""
    plan = await EXPERIMENT_DESIGNER(
        runtime.context.client,
        topic=_topic(state).text,
        idea=idea_view(state["draft"]),
        evaluation=state["draft"]["evaluation"],
        past=tuple(PastExperiment(**experiment) for experiment in state.get("past", [])),
        related=tuple(PaperBrief(**paper) for paper in state.get("related", [])),
        entities=_entities(state),
    )
    return {"plan": plan.model_dump(mode="json")}


async def review_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """What the plan lacks, and what to look up for it (Tables 18 and 19)."""
    review = await EXPERIMENT_REVIEWER(
        runtime.context.client,
        topic=_topic(state).text,
        idea=idea_view(state["draft"]),
        plan=PlanView(**state["plan"]),
        entities=_entities(state),
    )
    runtime.context.say(f"review: {len(review.suggestions)} suggestions")
    return {"review": review.model_dump(mode="json")}


def after_review(state: ExperimentState) -> str:
    """End the refinement when the reviewer suggests nothing."""
    return "search_for_experiment" if state["review"]["suggestions"] else END


async def search_for_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """Run the reviewer's searches; papers from unrelated fields are left out."""
    queries = state["review"]["queries"][:3]
    found: dict[str, Paper] = {}
    for query in queries:
        for scored in await runtime.context.library.search(query, RESULTS_PER_QUERY):
            found.setdefault(scored.paper.id, scored.paper)
    related = await related_to_topic(runtime.context.library, _topic(state), list(found.values()))
    papers = [paper.model_dump(mode="json") for paper in related]
    earlier = state.get("found_in_all", [])
    known = {paper["id"] for paper in earlier}
    return {
        "found": papers,
        "found_in_all": [*earlier, *(paper for paper in papers if paper["id"] not in known)],
        "searched": [*state.get("searched", []), *queries],
    }


async def refine_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """The plan after the review (Table 20)."""
    suggestions = state["review"]["suggestions"]
    plan = await EXPERIMENT_REFINER(
        runtime.context.client,
        topic=_topic(state).text,
        idea=idea_view(state["draft"]),
        plan=PlanView(**state["plan"]),
        suggestions=tuple(suggestions),
        papers=tuple(paper_brief(Paper.model_validate(paper)) for paper in state["found"]),
    )
    return {
        "plan": plan.model_dump(mode="json", exclude={"declined"}),
        "declined": [*state.get("declined", []), *plan.declined],
        "rounds": state.get("rounds", 0) + 1,
        "suggestions": [*state.get("suggestions", []), *suggestions],
    }


def after_plan(state: ExperimentState) -> str:
    """Review the plan while refinement rounds are left."""
    return "review_experiment" if state.get("rounds", 0) < state.get("refinements", 0) else END


def _topic(state: ExperimentState) -> Topic:
    return Topic.model_validate(state["topic"])


def _entities(state: ExperimentState) -> tuple[EntityView, ...]:
    return tuple(EntityView(**entity) for entity in state.get("entities", []))


def load_experiment(state: Mapping[str, Any]) -> Experiment:
    """The plan as a record, with how it was refined."""
    return Experiment(
        **state["plan"],
        suggestions=tuple(state.get("suggestions", [])),
        declined=tuple(state.get("declined", [])),
        searched=tuple(state.get("searched", [])),
        found=tuple(Paper.model_validate(paper) for paper in state.get("found_in_all", [])),
        rounds=state.get("rounds", 0),
    )


def build_experiment() -> StateGraph[ExperimentState, Services, ExperimentState, ExperimentState]:
    """The graph of one experiment, not compiled."""
    graph = StateGraph(ExperimentState, context_schema=Services)
    graph.add_node("design_experiment", design_experiment)
    graph.add_node("review_experiment", review_experiment)
    graph.add_node("search_for_experiment", search_for_experiment)
    graph.add_node("refine_experiment", refine_experiment)
    graph.add_edge(START, "design_experiment")
    graph.add_conditional_edges("design_experiment", after_plan, ["review_experiment", END])
    graph.add_conditional_edges("review_experiment", after_review, ["search_for_experiment", END])
    graph.add_edge("search_for_experiment", "refine_experiment")
    graph.add_conditional_edges("refine_experiment", after_plan, ["review_experiment", END])
    return graph
