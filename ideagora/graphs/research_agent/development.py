"""From a core paper to an idea (ResearchAgent, arXiv 2404.07738, sections 3.1 to 3.3).

Entities from beyond the references, then problem, method and experiment in this order. Each part is reviewed
on five criteria in parallel and refined, in a set number of rounds.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.experiment import EXPERIMENT_DESIGNER, EXPERIMENT_REFINER, CostedPlan
from ideagora.agents.research_agent.parts import (
    METHOD_DEVELOPER,
    PROBLEM_FINDER,
    EntityFrom,
    MethodView,
    ProblemView,
    ReviewView,
)
from ideagora.agents.research_agent.review import COMPARES, CRITERIA, PART_REVIEWER, PARTS
from ideagora.agents.views import EntityView, IdeaToTest, PaperBrief
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.first_plan import paper_briefs, source_papers
from ideagora.graphs.steps.literature.entity_store import build_entity_store
from ideagora.schema import Paper


class DevelopmentState(TypedDict, total=False):
    """State of one core paper. Plain JSON values only."""

    topic: dict[str, Any]
    papers: list[dict[str, Any]]
    elsewhere: list[dict[str, Any]]
    """The papers that present the entities."""
    entities: list[dict[str, Any]]
    """Entities with the number of their paper, after those of ``papers``."""
    part: str
    rounds: dict[str, int]
    """Refinements so far, by part."""
    settled: Annotated[list[str], operator.add]
    """Parts that no reviewer wants changed."""
    problem: dict[str, Any]
    method: dict[str, Any]
    plan: dict[str, Any]
    suggestions: list[str]
    declined: list[str]
    reviews: Annotated[list[dict[str, Any]], operator.add]
    """Reviews with part, round and criterion."""
    notes: Annotated[list[str], operator.add]


class ReviewTask(TypedDict):
    """Payload of ``review_part``."""

    state: dict[str, Any]
    criterion: str


Context = Runtime[Services]


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
    shown = [Paper.model_validate(paper) for paper in state["papers"]]
    related = store.related(shown, options.entities)
    runtime.context.say(f"{len(related)} entities from {len(found)} papers")
    elsewhere = {one.paper.id: one.paper.model_dump(mode="json") for one in related}
    numbers = {paper_id: number for number, paper_id in enumerate(elsewhere, len(shown))}
    return {
        **start,
        "elsewhere": list(elsewhere.values()),
        "entities": [
            {**one.entity.model_dump(mode="json"), "paper": numbers[one.paper.id]} for one in related
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
            idea=_idea_view(state),
            evaluation=state["method"]["evaluation"],
            past=(),
            related=paper_briefs(_sources(state)),
            entities=_entities_used(state),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"“{state['method']['title']}” has no experiment: {error}"]}
    return {"plan": plan.model_dump(mode="json")}


async def _write(state: DevelopmentState, context: Services) -> DevelopmentState:
    """Problem or method: the first version, or with reviews the improved one."""
    part, reviews = state["part"], _reviews(state)
    shared: dict[str, Any] = {
        "topic": state["topic"]["text"],
        "papers": (*paper_briefs(state["papers"]), *_passages(state)),
        "own": len(state["papers"]),
        "entities": tuple(EntityFrom(**_only(entity, EntityFrom)) for entity in state["entities"]),
        "reviews": tuple(ReviewView(**_only(review, ReviewView)) for review in reviews),
    }
    if part == "problem":
        problem = ProblemView(**_only(state["problem"], ProblemView)) if reviews else None
        found = await PROBLEM_FINDER(context.client, **shared, earlier=problem)
        written = found.model_dump(mode="json")
    else:
        method = MethodView(**_only(state["method"], MethodView)) if reviews else None
        settled = ProblemView(**_only(state["problem"], ProblemView))
        answer = await METHOD_DEVELOPER(context.client, **shared, problem=settled, earlier=method)
        written = answer.model_dump(mode="json")
    sources = checked_sources(written["sources"], [*state["papers"], *state["elsewhere"]])
    return {part: {**written, "sources": sources}}  # type: ignore[misc]


def after_writing(state: DevelopmentState, runtime: Context) -> list[Hashable | Send]:
    """Review while rounds are left, then write the next part."""
    part = state["part"]
    is_missing = part == "experiment" and "plan" not in state
    is_finished = is_missing or part in state.get("settled", [])
    if not is_finished and state["rounds"][part] < runtime.context.options.rounds:
        shown = {name: state.get(name) for name in ("topic", "papers", "part", "rounds", *PARTS[:2], "plan")}
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
            problem=ProblemView(**_only(shown["problem"], ProblemView)),
            method=MethodView(**_only(shown["method"], MethodView)) if shown["method"] else None,
            plan=CostedPlan(**shown["plan"]) if shown["plan"] else None,
        )
    except UnreadableAnswer as error:
        return {"notes": [f"The review of the {part} on its {criterion} is missing: {error}"]}
    own = {"part": part, "round": shown["rounds"][part] + 1, "criterion": criterion}
    return {"reviews": [{**own, **review.model_dump(mode="json")}]}


async def refine_part(state: DevelopmentState, runtime: Context) -> DevelopmentState:
    """The current part after its reviews; if the answer cannot be read, it stays as it was."""
    part, context = state["part"], runtime.context
    suggestions = [suggestion for review in _reviews(state) for suggestion in review["suggestions"]]
    context.say(f"{part}: {len(suggestions)} suggestions")
    if not suggestions:  # further rounds would change nothing either
        return {"settled": [part]}
    done: DevelopmentState = {"rounds": {**state["rounds"], part: state["rounds"][part] + 1}}
    try:
        if part != "experiment":
            return {**done, **await _write(state, context)}
        plan = CostedPlan(**state["plan"])
        refined = await EXPERIMENT_REFINER(
            context.client,
            topic=state["topic"]["text"],
            idea=_idea_view(state),
            plan=plan,
            defects=(),
            suggestions=tuple(suggestions),
            searches=(),
        )
    except UnreadableAnswer as error:
        return {**done, "notes": [f"The {part} could not be refined, so it stays as it was: {error}"]}
    return {
        **done,
        "plan": refined.applied_to(plan),
        "suggestions": [*state.get("suggestions", []), *suggestions],
        "declined": [*state.get("declined", []), *refined.declined],
    }


def next_part(state: DevelopmentState) -> DevelopmentState:
    """Continue with the part that builds on this one."""
    return {"part": PARTS[PARTS.index(state["part"]) + 1]}


def _reviews(state: DevelopmentState) -> list[dict[str, Any]]:
    """The reviews of the current version of the current part, in the order of the criteria."""
    part = state["part"]
    current = [
        review
        for review in state.get("reviews", [])
        if (review["part"], review["round"]) == (part, state["rounds"][part] + 1)
    ]
    return sorted(current, key=lambda review: list(CRITERIA[part]).index(review["criterion"]))


def motivation_of(problem: Mapping[str, Any]) -> str:
    """Problem and rationale as one text."""
    return f"{problem['problem']} {problem['rationale']}"


def _idea_view(state: DevelopmentState) -> IdeaToTest:
    problem, method = state["problem"], state["method"]
    return IdeaToTest(
        title=method["title"],
        motivation=motivation_of(problem),
        novelty=method["novelty"],
        method=method["method"],
    )


def _sources(state: DevelopmentState) -> list[dict[str, Any]]:
    """The papers that problem and method name as their sources."""
    sources = {"sources": [*state["problem"]["sources"], *state["method"]["sources"]]}
    return source_papers(sources, [*state["papers"], *state["elsewhere"]])


def _entities_used(state: DevelopmentState) -> tuple[EntityView, ...]:
    """The entities that shaped problem or method; others would distract the experiment."""
    used = {name.casefold() for part in PARTS[:2] for name in state[part]["entities_used"]}  # type: ignore[literal-required]
    return tuple(
        EntityView(**_only(entity, EntityView))
        for entity in state["entities"]
        if entity["name"].casefold() in used
    )


def _passages(state: DevelopmentState) -> list[PaperBrief]:
    """The papers from elsewhere, each with the sentences that present its entities."""
    first = len(state["papers"])
    return [
        PaperBrief(
            title=paper["title"],
            year=Paper.model_validate(paper).year,
            abstract=" ".join(
                dict.fromkeys(
                    entity["description"] for entity in state["entities"] if entity["paper"] == number
                )
            ),
        )
        for number, paper in enumerate(state["elsewhere"], first)
    ]


def _only(record: dict[str, Any], view: type[Any]) -> dict[str, Any]:
    return {name: record[name] for name in view.model_fields}


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
