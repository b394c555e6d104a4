"""From a path of concepts to an idea: ontologist, scientist, expander, critic, writer, novelty check."""

from __future__ import annotations

from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.sci_agents.concepts import ONTOLOGIST, Ontology, Relation
from ideagora.agents.sci_agents.proposal import (
    ASPECTS,
    CRITIC,
    EXPANDER,
    PATH_WRITER,
    SCIENTIST,
    AspectView,
    Critique,
    CritiqueView,
    ExplainedConcept,
)
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Draft
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import paper_briefs, source_papers
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.novelty_requests import requests_left
from ideagora.schema import Paper, Serialized, Topic, deserialize, serialize

Context = Runtime[Services]


class PathState(TypedDict, total=False):
    """State of one path. Plain JSON values only, as a checkpoint holds them."""

    topic: Serialized[Topic]
    number: int
    """Number of the path, from 1."""
    pool: list[str]
    """Ids of all papers of the graph of concepts."""
    path: list[str]
    relations: list[Serialized[Relation]]
    """Relations along the path."""
    papers: list[Serialized[Paper]]
    """The papers of these relations."""
    ontology: Serialized[Ontology]
    aspects: dict[str, str]
    """Texts of the proposal (``Aspects``), by name."""
    expanded: Annotated[list[Serialized[AspectView]], concatenate]
    critique: Serialized[Critique]
    draft: Draft
    notes: Annotated[list[str], concatenate]


class ExpandTask(TypedDict):
    """Payload of ``expand_aspect``."""

    topic: Serialized[Topic]
    name: str
    aspects: dict[str, str]
    papers: list[Serialized[Paper]]


async def define_concepts(state: PathState, runtime: Context) -> PathState:
    """The ontologist defines the concepts and explains their connections."""
    answer = await ONTOLOGIST(
        runtime.context.client,
        topic=state["topic"]["text"],
        path=tuple(state["path"]),
        relations=tuple(deserialize(Relation, relation) for relation in state["relations"]),
    )
    return {"ontology": serialize(answer)}


async def propose(state: PathState, runtime: Context) -> PathState:
    """The first scientist writes a proposal in seven aspects."""
    ontology = state["ontology"]
    answer = await SCIENTIST(
        runtime.context.client,
        topic=state["topic"]["text"],
        path=tuple(state["path"]),
        definitions=tuple(ExplainedConcept(**definition) for definition in ontology["definitions"]),
        connections=tuple(
            f"{one['first']} → {one['second']}: {one['explanation']}" for one in ontology["connections"]
        ),
    )
    return {"aspects": answer.model_dump(mode="json")}


def start_expansions(state: PathState, runtime: Context) -> list[Send] | str:
    """Expand the first aspects, in parallel."""
    tasks = [
        ExpandTask(topic=state["topic"], name=name, aspects=state["aspects"], papers=state["papers"])
        for name in ASPECTS[: runtime.context.options.expansions]
    ]
    return [Send("expand_aspect", task) for task in tasks] or "criticise"


async def expand_aspect(state: ExpandTask, runtime: Context) -> PathState:
    """The second scientist works out one aspect; if it cannot be read, the first version stays."""
    others = {name: text for name, text in state["aspects"].items() if name != state["name"]}
    try:
        answer = await EXPANDER(
            runtime.context.client,
            topic=state["topic"]["text"],
            aspect=AspectView(name=state["name"], text=state["aspects"][state["name"]]),
            others=tuple(AspectView(name=name, text=text) for name, text in others.items()),
            papers=paper_briefs(state["papers"]),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"The aspect {state['name'].replace('_', ' ')} was not expanded: {error}"]}
    return {"expanded": [serialize(AspectView(name=state["name"], text=answer.expansion))]}


def _aspects(state: PathState) -> tuple[AspectView, ...]:
    texts = {**state["aspects"], **{one["name"]: one["text"] for one in state.get("expanded", [])}}
    return tuple(AspectView(name=name, text=text) for name, text in texts.items())


async def criticise(state: PathState, runtime: Context) -> PathState:
    """The critic names weaknesses, changes and the first question."""
    answer = await CRITIC(
        runtime.context.client,
        topic=state["topic"]["text"],
        path=tuple(state["path"]),
        aspects=_aspects(state),
    )
    return {"critique": serialize(answer)}


async def write_idea(state: PathState, runtime: Context) -> PathState:
    """The idea after the critique; it names both ends of the path."""
    quotes = {relation["title"]: relation["quote"] for relation in reversed(state["relations"])}
    answer = await PATH_WRITER(
        runtime.context.client,
        topic=state["topic"]["text"],
        path=tuple(state["path"]),
        aspects=_aspects(state),
        critique=CritiqueView(**{name: state["critique"][name] for name in CritiqueView.model_fields}),
        papers=paper_briefs(state["papers"]),
        quotes=tuple(quotes[paper["title"]] for paper in state["papers"]),
    )
    runtime.context.say(f"idea: {answer.title}")
    return {"draft": sourced_draft(answer, state["papers"])}


async def judge_novelty(state: PathState, runtime: Context) -> PathState:
    """Compare the idea with its sources and with the library."""
    known = [deserialize(Paper, paper) for paper in source_papers(state["draft"], state["papers"])]
    check = await check_novelty(
        runtime.context,
        deserialize(Topic, state["topic"]),
        state["draft"],
        known,
        pool=state["pool"],
        requests=requests_left(runtime.context, state["number"] - 1, runtime.context.options.ideas),
    )
    return {"draft": {**state["draft"], "novelty_check": serialize(check)}}


def build_path() -> StateGraph[PathState, Services, PathState, PathState]:
    """The graph of one path, not compiled."""
    graph = StateGraph(PathState, context_schema=Services)
    graph.add_node("define_concepts", define_concepts)
    graph.add_node("propose", propose)
    graph.add_node("expand_aspect", expand_aspect)
    graph.add_node("criticise", criticise)
    graph.add_node("write_idea", write_idea)
    graph.add_node("judge_novelty", judge_novelty)
    graph.add_edge(START, "define_concepts")
    graph.add_edge("define_concepts", "propose")
    graph.add_conditional_edges("propose", start_expansions, ["expand_aspect", "criticise"])
    graph.add_edge("expand_aspect", "criticise")
    graph.add_edge("criticise", "write_idea")
    graph.add_edge("write_idea", "judge_novelty")
    graph.add_edge("judge_novelty", END)
    return graph
