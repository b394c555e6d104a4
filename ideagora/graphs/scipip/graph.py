"""SciPIP (Wang et al., arXiv 2410.23166) as a state machine.

Papers are found in three ways and clustered. One path writes ideas from a paper of each cluster, the other
brainstorms without papers, in parallel. The two are merged, filtered and refined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.scipip.selection import IDEA_FILTER, IDEA_REFINER
from ideagora.agents.scipip.sketches import ENTITY_EXTRACTOR
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.drafts import Draft, failure, reasons, usage_name
from ideagora.graphs.scipip import paths, retrieval
from ideagora.graphs.scipip.paths import sketch_view
from ideagora.graphs.scipip.state import Context, RefineTask, ScipipState, ShortIdea
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import (
    design_experiment,
    paper_briefs,
    source_papers,
    start_experiments,
)
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.graphs.steps.literature.topic_similarity import related_to_topic
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.novelty_requests import requests_left
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Topic, deserialize, serialize

CLOSEST_PAPERS = 5
"""Papers that an idea is refined with, beside those that it takes something from."""


async def extract_entities(state: ScipipState, runtime: Context) -> ScipipState:
    """Entities of the topic; without them, papers are found by meaning and co-citation only."""
    try:
        answer = await ENTITY_EXTRACTOR(runtime.context.client, topic=state["topic"]["text"])
    except UnreadableAnswer as error:
        return {"entities": [], "notes": [f"No papers were searched by entity: {error}"]}
    return {"entities": list(answer.entities)}


async def find_by_meaning(state: ScipipState, runtime: Context) -> ScipipState:
    """The papers closest to the topic that the relevance judge accepts."""
    topic = deserialize(Topic, state["topic"])
    found = await topic_papers(runtime.context, topic, runtime.context.options.papers)
    return {"by_meaning": found.serialized, "notes": found.notes}


async def find_papers(state: ScipipState, runtime: Context) -> ScipipState:
    """Further papers by entity and co-citation; one of each cluster of all."""
    context, topic = runtime.context, deserialize(Topic, state["topic"])
    by_meaning = [Paper.model_validate(paper) for paper in state["by_meaning"]]
    by_entity = await retrieval.find_by_entity(context, topic, state["entities"])
    by_cocitation = await retrieval.find_by_cocitation(context, topic, by_meaning)
    found = {paper.id: paper for paper in (*by_meaning, *by_entity, *by_cocitation)}
    chosen = await retrieval.choose_from_clusters(context, topic, list(found.values()))
    counts = f"{len(by_meaning)} by meaning, {len(by_entity)} by entity, {len(by_cocitation)} by co-citation"
    notes = [f"Papers found: {counts}; {len(found)} in all, {len(chosen)} clusters."]
    if not by_cocitation:
        notes.append("The library knows no papers cited together with them: no co-citation was used.")
    runtime.context.say(counts)
    return {"papers": [serialize(paper) for paper in chosen], "notes": notes}


async def filter_ideas(state: ScipipState, runtime: Context) -> ScipipState:
    """The ideas with the highest sums of scores; all in their order if they cannot be scored."""
    ideas, wanted = state["merged"], runtime.context.options.ideas
    try:
        answer = await IDEA_FILTER(
            runtime.context.client,
            topic=state["topic"]["text"],
            ideas=tuple(sketch_view(idea) for idea in ideas),
        )
    except UnreadableAnswer as error:
        unscored: list[ShortIdea] = [{**idea, "scores": None} for idea in ideas[:wanted]]
        return {"chosen": unscored, "notes": [f"The merged ideas are not ranked: {error}"]}
    scores = {one.idea: one.model_dump(exclude={"idea"}) for one in answer.scores}
    order = sorted(scores, key=lambda number: (-_total(scores[number]), number))
    return {"chosen": [{**ideas[number], "scores": scores[number]} for number in order[:wanted]]}


def _total(scores: Mapping[str, Any]) -> int:
    return sum(value for value in scores.values() if isinstance(value, int))


def start_refining(state: ScipipState) -> list[Send]:
    """Refine the chosen ideas, in parallel."""
    pool = [paper["id"] for paper in (*state["papers"], *state["by_meaning"])]
    tasks = [
        RefineTask(topic=state["topic"], number=number, idea=idea, pool=pool)
        for number, idea in enumerate(state["chosen"], 1)
    ]
    return [Send("refine_idea", task) for task in tasks]


async def refine_idea(state: RefineTask, runtime: Context) -> ScipipState:
    """The idea in full, with the papers it takes something from and the closest ones; then its novelty."""
    context, idea, topic = runtime.context, state["idea"], deserialize(Topic, state["topic"])
    found = await context.library.search(f"{idea['title']}. {idea['approach']}", CLOSEST_PAPERS)
    closest = await related_to_topic(context.library, topic, [scored.paper for scored in found])
    papers = {paper["id"]: paper for paper in idea["papers"]}
    for paper in closest or [scored.paper for scored in found]:
        papers.setdefault(paper.id, serialize(paper))
    shown = list(papers.values())
    with usage_label(usage_name("idea", state["number"])):
        try:
            answer = await IDEA_REFINER(
                context.client, topic=topic.text, idea=sketch_view(idea), papers=paper_briefs(shown)
            )
        except UnreadableAnswer as error:
            return {"failures": [failure(f"the idea “{idea['title']}” was not refined: {error}")]}
        draft = sourced_draft(answer, shown)
        known = [deserialize(Paper, paper) for paper in source_papers(draft, shown)]
        check = await check_novelty(
            context,
            topic,
            draft,
            known,
            pool=[*papers, *state["pool"]],
            requests=requests_left(context, state["number"] - 1, context.options.ideas),
        )
    refined: Draft = {
        **draft,
        "number": state["number"],
        "papers": shown,
        "novelty_check": serialize(check),
        "extra": {"merged_from": idea["merged_from"], "scores": idea["scores"]},
    }
    return {"drafts": [refined]}


def gather(state: ScipipState) -> ScipipState:
    """Join the refined ideas."""
    if not state.get("drafts"):
        raise AllBranchesFailed(f"No idea was refined. {reasons(state)}")
    return {}


def build_graph() -> StateGraph[ScipipState, Services, ScipipState, ScipipState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ScipipState, context_schema=Services)
    graph.add_node("extract_entities", extract_entities)
    graph.add_node("find_by_meaning", find_by_meaning)
    graph.add_node("find_papers", find_papers)
    graph.add_node("write_from_literature", paths.write_from_literature)
    graph.add_node("brainstorm", paths.brainstorm)
    graph.add_node("merge_paths", paths.merge_paths)
    graph.add_node("filter_ideas", filter_ideas)
    graph.add_node("refine_idea", refine_idea)
    graph.add_node("gather", gather)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "extract_entities")
    graph.add_edge(START, "brainstorm")
    graph.add_edge(START, "find_by_meaning")
    graph.add_edge(["extract_entities", "find_by_meaning"], "find_papers")
    graph.add_edge("find_papers", "write_from_literature")
    graph.add_edge(["write_from_literature", "brainstorm"], "merge_paths")
    graph.add_edge("merge_paths", "filter_ideas")
    graph.add_conditional_edges("filter_ideas", start_refining, ["refine_idea"])
    graph.add_edge("refine_idea", "gather")
    graph.add_conditional_edges("gather", start_experiments, ["design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
