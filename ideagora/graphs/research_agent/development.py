"""From a core paper to an idea (ResearchAgent, arXiv 2404.07738, sections 3.1 to 3.3).

Entities from beyond the references, then problem, method and experiment in this order. Each part is reviewed
on five criteria in parallel and refined, in a set number of rounds.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.experiment import EXPERIMENT_DESIGNER, EXPERIMENT_REFINER, CostedPlan
from ideagora.agents.research_agent.parts import METHOD_DEVELOPER, PROBLEM_FINDER, EntityFrom
from ideagora.agents.research_agent.review import COMPARES, CRITERIA, PART_REVIEWER, PARTS
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.research_agent.state import (
    Context,
    DevelopmentState,
    Method,
    PaperEntity,
    PartReviewed,
    Problem,
    ReviewTask,
)
from ideagora.graphs.research_agent.views import (
    current_reviews,
    entities_used,
    entity_passages,
    idea_view,
    method_view,
    problem_view,
    review_view,
    source_papers,
)
from ideagora.graphs.services import Services
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.experiment import plan_as_state
from ideagora.graphs.steps.first_plan import paper_briefs
from ideagora.graphs.steps.literature.entity_store import build_entity_store
from ideagora.schema import Paper, deserialize, serialize


async def retrieve_entities(state: DevelopmentState, runtime: Context) -> DevelopmentState:
    """Entities that the papers shown do not have, by their co-occurrence with those that they have."""
    options, core = runtime.context.options, state["papers"][0]
    start: DevelopmentState = {
        "part": PARTS[0],
        "rounds": dict.fromkeys(PARTS, 0),
        "elsewhere": [],
        "entities": [],
    }
    if not options.entities:
        return start
    query = f"{core['title']}. {core['abstract'] or ''}"
    found = await runtime.context.library.search(query, options.store_papers)
    store = build_entity_store([scored.paper for scored in found])
    shown = [deserialize(Paper, paper) for paper in state["papers"]]
    related = store.related(shown, options.entities)
    runtime.context.say(f"{len(related)} entities from {len(found)} papers")
    elsewhere = {one.paper.id: serialize(one.paper) for one in related}
    numbers = {paper_id: number for number, paper_id in enumerate(elsewhere, len(shown))}
    return {
        **start,
        "elsewhere": list(elsewhere.values()),
        "entities": [
            PaperEntity(
                name=one.entity.name,
                description=one.entity.description,
                kind=one.entity.kind,
                paper=numbers[one.paper.id],
            )
            for one in related
        ],
    }


async def write_part(state: DevelopmentState, runtime: Context) -> DevelopmentState:
    """The first version of the current part."""
    if state["part"] != "experiment":
        return await _write(state, runtime.context)
    try:
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=state["topic"]["text"],
            idea=idea_view(state),
            evaluation=state["method"]["evaluation"],
            past=(),
            related=paper_briefs(source_papers(state)),
            entities=entities_used(state),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"“{state['method']['title']}” has no experiment: {error}"]}
    return {"plan": plan_as_state(plan)}


async def _write(state: DevelopmentState, context: Services) -> DevelopmentState:
    """Problem or method: the first version, or with reviews the improved one."""
    part, reviews = state["part"], current_reviews(state)
    shared: dict[str, Any] = {
        "topic": state["topic"]["text"],
        "papers": (*paper_briefs(state["papers"]), *entity_passages(state)),
        "own": len(state["papers"]),
        "entities": tuple(
            EntityFrom(name=entity["name"], kind=entity["kind"], paper=entity["paper"])
            for entity in state["entities"]
        ),
        "reviews": tuple(review_view(review) for review in reviews),
    }
    papers = [*state["papers"], *state["elsewhere"]]
    if part == "problem":
        earlier = problem_view(state["problem"]) if reviews else None
        found = await PROBLEM_FINDER(context.client, **shared, earlier=earlier)
        problem = cast("Problem", found.model_dump(mode="json"))
        return {"problem": {**problem, "sources": checked_sources(found.sources, papers)}}
    before = method_view(state["method"]) if reviews else None
    answer = await METHOD_DEVELOPER(
        context.client, **shared, problem=problem_view(state["problem"]), earlier=before
    )
    method = cast("Method", answer.model_dump(mode="json"))
    return {"method": {**method, "sources": checked_sources(answer.sources, papers)}}


def after_writing(state: DevelopmentState, runtime: Context) -> list[Hashable | Send]:
    """Review while rounds are left, then write the next part."""
    part = state["part"]
    is_missing = part == "experiment" and "plan" not in state
    is_finished = is_missing or part in state.get("settled", [])
    if not is_finished and state["rounds"][part] < runtime.context.options.rounds:
        names = ("topic", "papers", "part", "rounds", "problem", "method", "plan")
        shown = cast("DevelopmentState", {name: state[name] for name in names if name in state})  # type: ignore[literal-required]
        tasks = [ReviewTask(state=shown, criterion=criterion) for criterion in CRITERIA[part]]
        return [Send("review_part", task) for task in tasks]
    return ["next_part"] if part != PARTS[-1] else [END]


async def review_part(state: ReviewTask, runtime: Context) -> DevelopmentState:
    """One review on one criterion; one that cannot be read is named in the report."""
    shown, criterion = state["state"], state["criterion"]
    part = shown["part"]
    try:
        review = await PART_REVIEWER(
            runtime.context.client,
            topic=shown["topic"]["text"],
            papers=paper_briefs(shown["papers"][: None if criterion in COMPARES else 1]),
            part=part,
            criterion=criterion,
            definition=CRITERIA[part][criterion],
            problem=problem_view(shown["problem"]),
            method=method_view(method) if (method := shown.get("method")) else None,
            plan=deserialize(CostedPlan, plan) if (plan := shown.get("plan")) else None,
        )
    except UnreadableAnswer as error:
        return {"notes": [f"The review of the {part} on its {criterion} is missing: {error}"]}
    reviewed = PartReviewed(
        part=part,
        round=shown["rounds"][part] + 1,
        criterion=criterion,
        review=review.review,
        suggestions=list(review.suggestions),
        rating=review.rating,
    )
    return {"reviews": [reviewed]}


async def refine_part(state: DevelopmentState, runtime: Context) -> DevelopmentState:
    """The current part after its reviews; if the answer cannot be read, it stays as it was."""
    part, context = state["part"], runtime.context
    suggestions = [suggestion for review in current_reviews(state) for suggestion in review["suggestions"]]
    context.say(f"{part}: {len(suggestions)} suggestions")
    if not suggestions:  # further rounds would change nothing either
        return {"settled": [part]}
    done: DevelopmentState = {"rounds": {**state["rounds"], part: state["rounds"][part] + 1}}
    try:
        if part != "experiment":
            return {**done, **await _write(state, context)}
        plan = deserialize(CostedPlan, state["plan"])
        refined = await EXPERIMENT_REFINER(
            context.client,
            topic=state["topic"]["text"],
            idea=idea_view(state),
            plan=plan,
            defects=(),
            suggestions=tuple(suggestions),
            searches=(),
        )
    except UnreadableAnswer as error:
        return {**done, "notes": [f"The {part} could not be refined, so it stays as it was: {error}"]}
    return {
        **done,
        "plan": serialize(refined.applied_to(plan)),
        "suggestions": [*state.get("suggestions", []), *suggestions],
        "declined": [*state.get("declined", []), *refined.declined],
    }


def next_part(state: DevelopmentState) -> DevelopmentState:
    """Continue with the part that builds on this one."""
    return {"part": PARTS[PARTS.index(state["part"]) + 1]}


def build_development() -> StateGraph[DevelopmentState, Services, DevelopmentState, DevelopmentState]:
    """The graph for one core paper, not compiled."""
    graph = StateGraph(DevelopmentState, context_schema=Services)
    graph.add_node("retrieve_entities", retrieve_entities)
    graph.add_node("write_part", write_part)
    graph.add_node("review_part", review_part)
    graph.add_node("refine_part", refine_part)
    graph.add_node("next_part", next_part)
    graph.add_edge(START, "retrieve_entities")
    graph.add_edge("retrieve_entities", "write_part")
    after = ["review_part", "next_part", END]
    graph.add_conditional_edges("write_part", after_writing, after)
    graph.add_edge("review_part", "refine_part")
    graph.add_conditional_edges("refine_part", after_writing, after)
    graph.add_edge("next_part", "write_part")
    return graph
