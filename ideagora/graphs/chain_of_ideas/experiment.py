"""Experiment design for the best idea (section 3.4, Tables 17 to 20): plan, review, search, refine.

With the option ``experiments``, the next best ideas get theirs afterwards, in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END

from ideagora.agents.experiment import (
    EXPERIMENT_DESIGNER,
    EXPERIMENT_REFINER,
    EXPERIMENT_REVIEWER,
    PlanView,
)
from ideagora.agents.views import PaperBrief, idea_view, paper_brief, past_experiments
from ideagora.graphs.chain_of_ideas.state import (
    Context,
    IdeationState,
    load_entities,
    load_links,
    load_topic,
)
from ideagora.graphs.chain_of_ideas.topic_similarity import related_to_topic
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import usage_name
from ideagora.models.usage import usage_label
from ideagora.schema import Experiment, NoveltyCheck, Paper

RELATED = 3
"""Papers closest to the idea that the designer is shown."""

RESULTS_PER_QUERY = 4
"""Papers per query that the refiner is shown."""

NO_EXPERIMENT: IdeationState = {
    "plan": {},
    "suggestions": [],
    "declined": [],
    "searched": [],
    "found_in_all": [],
    "rounds": 0,
}
"""The state before an experiment is designed."""


async def design_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """A first plan, informed by the experiments of the chain's papers (Table 17)."""
    best = _current_branch(state)
    with usage_label(usage_name("experiment", state["place"] + 1)):
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=load_topic(state).text,
            idea=idea_view(best["draft"]),
            evaluation=best["draft"]["evaluation"],
            past=tuple(past_experiments(load_links(best))),
            related=await _closest_papers(best, runtime.context),
            entities=load_entities(best, runtime.context),
        )
    return {"plan": plan.model_dump(mode="json")}


async def _closest_papers(branch: dict[str, Any], context: Services) -> tuple[PaperBrief, ...]:
    """The closest papers that the novelty check found."""
    closest = NoveltyCheck.model_validate(branch["novelty_check"]).closest[:RELATED]
    papers = [await context.library.paper(close.paper_id) for close in closest]
    return tuple(paper_brief(paper) for paper in papers if paper is not None)


async def review_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """What the plan lacks, and what to look up for it (Tables 18 and 19)."""
    best = _current_branch(state)
    with usage_label(usage_name("experiment", state["place"] + 1)):
        review = await EXPERIMENT_REVIEWER(
            runtime.context.client,
            topic=load_topic(state).text,
            idea=idea_view(best["draft"]),
            plan=PlanView(**state["plan"]),
            entities=load_entities(best, runtime.context),
        )
    runtime.context.say(f"review: {len(review.suggestions)} suggestions")
    return {"review": review.model_dump(mode="json")}


def after_review(state: IdeationState, runtime: Context) -> str:
    """End the refinement when the reviewer suggests nothing."""
    return "search_for_experiment" if state["review"]["suggestions"] else _after_experiment(state, runtime)


async def search_for_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """Run the reviewer's searches; papers from unrelated fields are left out."""
    queries = state["review"]["queries"][:3]
    found: dict[str, Paper] = {}
    for query in queries:
        for scored in await runtime.context.library.search(query, RESULTS_PER_QUERY):
            found.setdefault(scored.paper.id, scored.paper)
    related = await related_to_topic(runtime.context.library, load_topic(state), list(found.values()))
    papers = [paper.model_dump(mode="json") for paper in related]
    earlier = state.get("found_in_all", [])
    known = {paper["id"] for paper in earlier}
    return {
        "found": papers,
        "found_in_all": [*earlier, *(paper for paper in papers if paper["id"] not in known)],
        "searched": [*state["searched"], *queries],
    }


async def refine_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """The plan after the review (Table 20)."""
    suggestions = state["review"]["suggestions"]
    with usage_label(usage_name("experiment", state["place"] + 1)):
        plan = await EXPERIMENT_REFINER(
            runtime.context.client,
            topic=load_topic(state).text,
            idea=idea_view(_current_branch(state)["draft"]),
            plan=PlanView(**state["plan"]),
            suggestions=tuple(suggestions),
            papers=tuple(paper_brief(Paper.model_validate(paper)) for paper in state["found"]),
        )
    return {
        "plan": plan.model_dump(mode="json", exclude={"declined"}),
        "declined": [*state.get("declined", []), *plan.declined],
        "rounds": state["rounds"] + 1,
        "suggestions": [*state.get("suggestions", []), *suggestions],
    }


def after_plan(state: IdeationState, runtime: Context) -> str:
    """Review the plan while refinement rounds are left."""
    has_rounds = state["rounds"] < runtime.context.options.refinements
    return "review_experiment" if has_rounds else _after_experiment(state, runtime)


def _after_experiment(state: IdeationState, runtime: Context) -> str:
    wanted = min(runtime.context.options.experiments, len(state["ranking"]))
    return "next_experiment" if state["place"] + 1 < wanted else END


def next_experiment(state: IdeationState) -> IdeationState:
    """Keep the experiment, and begin that of the next best idea."""
    done = _current_experiment(state).model_dump(mode="json")
    return {"experiments": [done], "place": state["place"] + 1, **NO_EXPERIMENT}


def _current_branch(state: IdeationState) -> dict[str, Any]:
    number = state["ranking"][state["place"]]["branch"]
    return next(branch for branch in state["branches"] if branch["branch"] == number)


def load_experiments(state: Mapping[str, Any]) -> dict[int, Experiment]:
    """The experiments by the place of their ideas in the ranking, from 0."""
    done = [Experiment.model_validate(one) for one in state.get("experiments", [])]
    current = [_current_experiment(state)] if state.get("plan") else []
    return dict(enumerate([*done, *current]))


def _current_experiment(state: Mapping[str, Any]) -> Experiment:
    """The plan as a record, with how it was refined."""
    return Experiment(
        **state["plan"],
        suggestions=tuple(state.get("suggestions", [])),
        declined=tuple(state.get("declined", [])),
        searched=tuple(state["searched"]),
        found=tuple(Paper.model_validate(paper) for paper in state.get("found_in_all", [])),
        rounds=state["rounds"],
    )
