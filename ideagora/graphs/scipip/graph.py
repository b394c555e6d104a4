"""SciPIP (Wang et al., arXiv 2410.23166) as a state machine.

Papers are found in three ways and clustered. One path writes ideas from a paper of each cluster, the other
brainstorms without papers, side by side. The two are merged, filtered and refined.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.scipip.selection import IDEA_FILTER, IDEA_MERGER, IDEA_REFINER
from ideagora.agents.scipip.sketches import BRAINSTORMER, ENTITY_EXTRACTOR, LITERATURE_IDEATOR, SketchView
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.scipip import retrieval
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import usage_name
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.first_plan import PlanTask, design_experiment, paper_briefs, source_papers
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.topic_similarity import related_to_topic
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Topic

CLOSEST_PAPERS = 5
"""Papers that an idea is refined with, beside those that it takes something from."""

Context = Runtime[Services]
Record = dict[str, Any]


class ScipipState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: Record
    entities: list[str]
    papers: list[Record]
    """One paper of each cluster."""
    from_literature: list[Record]
    brainstormed: list[Record]
    merged: list[Record]
    chosen: list[Record]
    """The best ideas, with their scores."""
    refined: Annotated[list[Record], operator.add]
    drafts: list[Record]
    plans: Annotated[list[Record], operator.add]
    failures: Annotated[list[Record], operator.add]
    notes: Annotated[list[str], operator.add]


class RefineTask(TypedDict):
    """Payload of ``refine_idea``."""

    topic: Record
    number: int
    idea: Record


async def extract_entities(state: ScipipState, runtime: Context) -> ScipipState:
    """Entities of the topic; without them, papers are found by meaning and co-citation only."""
    try:
        answer = await ENTITY_EXTRACTOR(runtime.context.client, topic=state["topic"]["text"])
    except UnreadableAnswer as error:
        return {"entities": [], "notes": [f"No papers were searched by entity: {error}"]}
    return {"entities": list(answer.entities)}


async def find_papers(state: ScipipState, runtime: Context) -> ScipipState:
    """Papers by meaning, entity and co-citation; one of each cluster."""
    context, topic = runtime.context, Topic.model_validate(state["topic"])
    by_meaning = await retrieval.find_by_meaning(context, topic)
    by_entity = await retrieval.find_by_entity(context, topic, state["entities"])
    by_cocitation = await retrieval.find_by_cocitation(context, topic, by_meaning)
    found = {paper.id: paper for paper in (*by_meaning, *by_entity, *by_cocitation)}
    chosen = await retrieval.choose_from_clusters(context, topic, list(found.values()))
    counts = f"{len(by_meaning)} by meaning, {len(by_entity)} by entity, {len(by_cocitation)} by co-citation"
    notes = [f"Papers found: {counts}; {len(found)} in all, {len(chosen)} clusters."]
    if not by_cocitation:
        notes.append("The library knows no papers cited together with them: no co-citation was used.")
    runtime.context.say(counts)
    return {"papers": [paper.model_dump(mode="json") for paper in chosen], "notes": notes}


async def write_from_literature(state: ScipipState, runtime: Context) -> ScipipState:
    """The path from literature: ideas from the papers of the clusters."""
    try:
        answer = await LITERATURE_IDEATOR(
            runtime.context.client,
            topic=state["topic"]["text"],
            papers=paper_briefs(state["papers"]),
            count=runtime.context.options.sketches,
        )
    except UnreadableAnswer as error:
        return {"from_literature": [], "failures": [_failure(f"the path from literature: {error}")]}
    return {
        "from_literature": [
            {**idea.model_dump(mode="json"), "papers": [state["papers"][number] for number in idea.papers]}
            for idea in answer.ideas
        ]
    }


async def brainstorm(state: ScipipState, runtime: Context) -> ScipipState:
    """The path without literature."""
    try:
        answer = await BRAINSTORMER(
            runtime.context.client, topic=state["topic"]["text"], count=runtime.context.options.sketches
        )
    except UnreadableAnswer as error:
        return {"brainstormed": [], "failures": [_failure(f"the brainstormed path: {error}")]}
    return {"brainstormed": [{**idea.model_dump(mode="json"), "papers": []} for idea in answer.ideas]}


async def merge_paths(state: ScipipState, runtime: Context) -> ScipipState:
    """Ideas made of one from each path; if only one path has ideas, they go on alone."""
    literature, brainstormed = state["from_literature"], state["brainstormed"]
    alone = [{**idea, "merged_from": [idea["title"]]} for idea in (*literature, *brainstormed)]
    if not alone:
        raise AllBranchesFailed(f"Neither path has an idea. {_reasons(state)}")
    if not literature or not brainstormed:
        return {"merged": alone}
    try:
        answer = await IDEA_MERGER(
            runtime.context.client,
            topic=state["topic"]["text"],
            from_literature=tuple(_view(idea) for idea in literature),
            brainstormed=tuple(_view(idea) for idea in brainstormed),
            count=runtime.context.options.sketches,
        )
    except UnreadableAnswer as error:
        return {"merged": alone, "failures": [_failure(f"the paths were not merged: {error}")]}
    merged = []
    for idea in answer.ideas:
        parents = literature[idea.from_literature], brainstormed[idea.brainstormed]
        titles = [parent["title"] for parent in parents]
        sketch = idea.model_dump(mode="json", include={"title", "problem", "approach"})
        merged.append({**sketch, "papers": parents[0]["papers"], "merged_from": titles})
    return {"merged": merged}


def _view(idea: Record) -> SketchView:
    return SketchView(**{name: idea[name] for name in SketchView.model_fields})


async def filter_ideas(state: ScipipState, runtime: Context) -> ScipipState:
    """The ideas with the highest sums of scores; all in their order if they cannot be scored."""
    ideas, wanted = state["merged"], runtime.context.options.ideas
    try:
        answer = await IDEA_FILTER(
            runtime.context.client,
            topic=state["topic"]["text"],
            ideas=tuple(_view(idea) for idea in ideas),
        )
    except UnreadableAnswer as error:
        unscored = [{**idea, "scores": None} for idea in ideas[:wanted]]
        return {"chosen": unscored, "notes": [f"The merged ideas are not ranked: {error}"]}
    scores = {one.idea: one.model_dump(exclude={"idea"}) for one in answer.scores}
    order = sorted(scores, key=lambda number: (-_total(scores[number]), number))
    return {"chosen": [{**ideas[number], "scores": scores[number]} for number in order[:wanted]]}


def _total(scores: Record) -> int:
    return sum(value for value in scores.values() if isinstance(value, int))


def start_refining(state: ScipipState) -> list[Send]:
    """Refine the chosen ideas, in parallel."""
    tasks = [
        RefineTask(topic=state["topic"], number=number, idea=idea)
        for number, idea in enumerate(state["chosen"], 1)
    ]
    return [Send("refine_idea", task) for task in tasks]


async def refine_idea(state: RefineTask, runtime: Context) -> ScipipState:
    """The idea in full, with the papers it takes something from and the closest ones; then its novelty."""
    context, idea, topic = runtime.context, state["idea"], Topic.model_validate(state["topic"])
    found = await context.library.search(f"{idea['title']}. {idea['approach']}", CLOSEST_PAPERS)
    closest = await related_to_topic(context.library, topic, [scored.paper for scored in found])
    papers = {paper["id"]: paper for paper in idea["papers"]}
    for paper in closest or [scored.paper for scored in found]:
        papers.setdefault(paper.id, paper.model_dump(mode="json"))
    shown = list(papers.values())
    with usage_label(usage_name("idea", state["number"])):
        try:
            answer = await IDEA_REFINER(
                context.client, topic=topic.text, idea=_view(idea), papers=paper_briefs(shown)
            )
        except UnreadableAnswer as error:
            return {"failures": [_failure(f"the idea “{idea['title']}” was not refined: {error}")]}
        draft = answer.model_dump(mode="json")
        draft["sources"] = checked_sources(draft["sources"], shown)
        known = [Paper.model_validate(paper) for paper in source_papers(draft, shown)]
        check = await check_novelty(context, topic, draft, known, ())
    kept = {"papers": shown, "merged_from": idea["merged_from"], "scores": idea["scores"]}
    return {"refined": [{**draft, **kept, "novelty_check": check.model_dump(mode="json")}]}


def gather(state: ScipipState) -> ScipipState:
    """Join the refined ideas."""
    if not state.get("refined"):
        raise AllBranchesFailed(f"No idea was refined. {_reasons(state)}")
    return {"drafts": state["refined"]}


def start_experiments(state: ScipipState) -> list[Send]:
    """Design the experiments, in parallel."""
    tasks = [
        PlanTask(
            topic=state["topic"], draft=draft, number=number, papers=source_papers(draft, draft["papers"])
        )
        for number, draft in enumerate(state["drafts"], 1)
    ]
    return [Send("design_experiment", task) for task in tasks]


def _failure(reason: str) -> Record:
    return {"branch": None, "query": None, "error": reason}


def _reasons(state: ScipipState) -> str:
    return "; ".join(failure["error"] for failure in state.get("failures", []))


def build_graph() -> StateGraph[ScipipState, Services, ScipipState, ScipipState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ScipipState, context_schema=Services)
    graph.add_node("extract_entities", extract_entities)
    graph.add_node("find_papers", find_papers)
    graph.add_node("write_from_literature", write_from_literature)
    graph.add_node("brainstorm", brainstorm)
    graph.add_node("merge_paths", merge_paths)
    graph.add_node("filter_ideas", filter_ideas)
    graph.add_node("refine_idea", refine_idea)
    graph.add_node("gather", gather)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "extract_entities")
    graph.add_edge(START, "brainstorm")
    graph.add_edge("extract_entities", "find_papers")
    graph.add_edge("find_papers", "write_from_literature")
    graph.add_edge(["write_from_literature", "brainstorm"], "merge_paths")
    graph.add_edge("merge_paths", "filter_ideas")
    graph.add_conditional_edges("filter_ideas", start_refining, ["refine_idea"])
    graph.add_edge("refine_idea", "gather")
    graph.add_conditional_edges("gather", start_experiments, ["design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
