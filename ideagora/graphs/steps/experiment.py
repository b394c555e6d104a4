"""The experiment for an idea: design, review, search, refine (Chain of Ideas, section 3.4, Tables 17 to 20).

A graph of its own, so that any agent can run it for any of its ideas (``plan_experiment``).
"""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.agents.experiment import (
    EXPERIMENT_DESIGNER,
    EXPERIMENT_REFINER,
    EXPERIMENT_REVIEWER,
    CostedPlan,
    Plan,
    Review,
    SearchView,
)
from ideagora.agents.views import (
    EntityView,
    IdeaToTest,
    PaperBrief,
    PastExperiment,
    idea_to_test,
    paper_brief,
)
from ideagora.graphs.drafts import Draft
from ideagora.graphs.services import Services
from ideagora.graphs.steps.near_search import search_near
from ideagora.schema import Experiment, Idea, Paper, Serialized, Topic, deserialize, serialize

MAX_QUERIES, RESULTS_PER_QUERY = 3, 4
"""Maximum number of the reviewer's queries, and of papers per query for the refiner."""
MAX_ENTITIES = 10
"""Key terms that designer and reviewer are shown."""

Context = Runtime[Services]


class Search(TypedDict):
    """A search of the reviewer and the papers that it found."""

    query: str
    papers: list[Serialized[Paper]]


class ExperimentState(TypedDict, total=False):
    """State of one experiment: its inputs, then what the steps add. Plain JSON values only."""

    topic: Serialized[Topic]
    draft: Draft
    """The idea, with its evaluation."""
    past: list[Serialized[PastExperiment]]
    """Experiments of the papers that the idea builds on."""
    source: Serialized[PaperBrief] | None
    """The paper that the mechanism is from."""
    related: list[Serialized[PaperBrief]]
    """Papers close to the idea."""
    entities: list[Serialized[EntityView]]
    """Key terms."""
    refinements: int
    """Maximum number of rounds of review and refinement."""
    plan: Serialized[CostedPlan]
    first_steps: list[str]
    """The steps of the first plan."""
    review: Serialized[Review]
    defects: list[str]
    suggestions: list[str]
    declined: list[str]
    amended_method: str | None
    amended_claim: str | None
    searches: list[Search]
    """The searches of the current round."""
    earlier_searches: list[Search]
    """The searches of the rounds before."""
    rounds: int


async def plan_experiment(context: Services, start: ExperimentState) -> Experiment:
    """Run the graph from its inputs and return the experiment."""
    graph = build_experiment().compile()
    return load_experiment(cast("ExperimentState", await graph.ainvoke(start, context=context)))


async def design_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """A first plan, informed by the experiments of the papers that the idea builds on (Table 17)."""
    plan = await EXPERIMENT_DESIGNER(
        runtime.context.client,
        topic=_topic(state).text,
        idea=_idea(state),
        evaluation=state["draft"]["evaluation"],
        past=tuple(deserialize(PastExperiment, experiment) for experiment in state.get("past", [])),
        source=deserialize(PaperBrief, source) if (source := state.get("source")) else None,
        related=tuple(deserialize(PaperBrief, paper) for paper in state.get("related", [])),
        entities=_entities(state),
    )
    return {"plan": plan_as_state(plan)}


async def review_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """What the plan lacks, and what to look up for it (Tables 18 and 19)."""
    review = await EXPERIMENT_REVIEWER(
        runtime.context.client,
        topic=_topic(state).text,
        idea=_idea(state),
        plan=deserialize(CostedPlan, state["plan"]),
        entities=_entities(state),
    )
    runtime.context.say(f"review: {len(review.suggestions)} suggestions")
    first = state.get("first_steps") or state["plan"]["steps"]
    return {"review": serialize(review), "first_steps": first}


def after_review(state: ExperimentState) -> str:
    """End the refinement when the reviewer finds nothing to change."""
    review = state["review"]
    return "search_for_experiment" if review["suggestions"] or review["defects"] else END


async def search_for_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """Run the reviewer's searches, without papers that are far from the query or found by an earlier one."""
    searches: list[Search] = []
    seen: set[str] = set()
    queries = state["review"]["queries"][:MAX_QUERIES]
    library = runtime.context.library
    lists = await asyncio.gather(*(search_near(library, query, RESULTS_PER_QUERY) for query in queries))
    for query, found in zip(queries, lists, strict=True):
        near = [paper for paper in found if paper.id not in seen]
        seen.update(paper.id for paper in near)
        searches.append({"query": query, "papers": [serialize(paper) for paper in near]})
    earlier = [*state.get("earlier_searches", []), *state.get("searches", [])]
    return {"searches": searches, "earlier_searches": earlier}


async def refine_experiment(state: ExperimentState, runtime: Context) -> ExperimentState:
    """The plan after the review (Table 20); method and claim of the idea too, if the review concerns them."""
    review, plan = state["review"], deserialize(CostedPlan, state["plan"])
    refined = await EXPERIMENT_REFINER(
        runtime.context.client,
        topic=_topic(state).text,
        idea=_idea(state),
        plan=plan,
        defects=tuple(review["defects"]),
        suggestions=tuple(review["suggestions"]),
        searches=tuple(_search_view(search) for search in state["searches"]),
    )
    return {
        "plan": serialize(refined.applied_to(plan)),
        "declined": [*state.get("declined", []), *refined.declined],
        "amended_method": refined.amended_method or state.get("amended_method"),
        "amended_claim": refined.amended_claim or state.get("amended_claim"),
        "rounds": state.get("rounds", 0) + 1,
        "defects": [*state.get("defects", []), *review["defects"]],
        "suggestions": [*state.get("suggestions", []), *review["suggestions"]],
    }


def _search_view(search: Search) -> SearchView:
    papers = (deserialize(Paper, paper) for paper in search["papers"])
    return SearchView(query=search["query"], papers=tuple(paper_brief(paper) for paper in papers))


def after_plan(state: ExperimentState) -> str:
    """Review the plan while refinement rounds are left."""
    return "review_experiment" if state.get("rounds", 0) < state.get("refinements", 0) else END


def plan_as_state(plan: Plan) -> Serialized[CostedPlan]:
    """A first plan as the other roles see it."""
    return serialize(CostedPlan.model_validate(plan.model_dump()))


def _topic(state: ExperimentState) -> Topic:
    return deserialize(Topic, state["topic"])


def _idea(state: ExperimentState) -> IdeaToTest:
    """The idea, with its method and claim as amended by earlier rounds."""
    amended = {"method": state.get("amended_method"), "claim": state.get("amended_claim")}
    view = idea_to_test(state["draft"])
    return view.model_copy(update={name: text for name, text in amended.items() if text})


def _entities(state: ExperimentState) -> tuple[EntityView, ...]:
    """The key terms that the idea mentions; others would only lengthen the prompt."""
    idea = idea_to_test(state["draft"])
    text = " ".join(filter(None, (idea.title, idea.motivation, idea.novelty, idea.method))).lower()
    entities = (deserialize(EntityView, entity) for entity in state.get("entities", []))
    return tuple(entity for entity in entities if entity.name.lower() in text)[:MAX_ENTITIES]


def load_experiment(state: ExperimentState) -> Experiment:
    """The plan as a record, with how it was refined."""
    searches = [*state.get("earlier_searches", []), *state.get("searches", [])]
    found = {paper["id"]: paper for search in searches for paper in search["papers"]}
    return Experiment(
        **state["plan"],
        first_steps=tuple(state.get("first_steps", [])),
        defects=tuple(state.get("defects", [])),
        amended_method=state.get("amended_method"),
        amended_claim=state.get("amended_claim"),
        suggestions=tuple(state.get("suggestions", [])),
        declined=tuple(state.get("declined", [])),
        searched=tuple(search["query"] for search in searches),
        found=tuple(deserialize(Paper, paper) for paper in found.values()),
        nothing_found=tuple(search["query"] for search in searches if not search["papers"]),
        rounds=state.get("rounds", 0),
    )


def with_experiment(idea: Idea, experiment: Experiment) -> Idea:
    """The idea with its experiment, and its method and claim as the refiner amended them."""
    amended: dict[str, Any] = {}
    if experiment.amended_method is not None:
        amended |= {"method": experiment.amended_method, "first_method": idea.method}
        amended["amendments"] = experiment.defects
    if experiment.amended_claim is not None:
        amended |= {"claim": experiment.amended_claim, "first_claim": idea.claim}
    return idea.model_copy(update={"experiment": experiment, **amended})


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
