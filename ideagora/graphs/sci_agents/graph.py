"""SciAgents (Ghafarollahi and Buehler, arXiv 2409.05556) as a state machine.

Triples of concepts are extracted from papers on the topic and joined to a graph. Each idea comes from a path
between two concepts of it, which a graph of its own develops (``path.py``).
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Annotated, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.sci_agents.concepts import TRIPLE_EXTRACTOR, Relation
from ideagora.errors import AllBranchesFailed, IdeagoraError, UnreadableAnswer
from ideagora.graphs.drafts import Draft, DraftsState, failure, reasons, usage_name
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.sci_agents import concept_graph
from ideagora.graphs.sci_agents.concept_graph import PaperTriple
from ideagora.graphs.sci_agents.path import Context, PathState, build_path
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import design_experiment, start_experiments
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Serialized, Topic, deserialize, serialize

MAX_TEXT = 6_000
"""Characters of a paper's text that triples are extracted from."""


class SciAgentsState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Serialized[Paper]]
    triples: Annotated[list[PaperTriple], concatenate]
    paths: list[list[str]]
    relations: list[list[PaperTriple]]
    """The triples along each path."""


class PaperTask(TypedDict):
    """Payload of ``extract_triples``."""

    topic: Serialized[Topic]
    paper: Serialized[Paper]


class PathTask(TypedDict):
    """Payload of ``develop_path``."""

    topic: Serialized[Topic]
    number: int
    path: list[str]
    relations: list[PaperTriple]
    papers: list[Serialized[Paper]]
    pool: list[str]
    """Ids of all papers of the graph of concepts."""


async def find_papers(state: SciAgentsState, runtime: Context) -> SciAgentsState:
    """The papers on the topic, for the graph."""
    topic = deserialize(Topic, state["topic"])
    found = await topic_papers(runtime.context, topic, runtime.context.options.papers)
    return {"papers": found.serialized, "notes": found.notes}


def read_papers(state: SciAgentsState) -> list[Send]:
    """Extract triples from every paper, in parallel."""
    return [
        Send("extract_triples", PaperTask(topic=state["topic"], paper=paper)) for paper in state["papers"]
    ]


async def extract_triples(state: PaperTask, runtime: Context) -> SciAgentsState:
    """The triples of one paper; a paper that cannot be read is named in the report."""
    paper = deserialize(Paper, state["paper"])
    text, _ = await runtime.context.library.text(paper)
    try:
        answer = await TRIPLE_EXTRACTOR(
            runtime.context.client, topic=state["topic"]["text"], title=paper.title, text=text[:MAX_TEXT]
        )
    except UnreadableAnswer as error:
        return {"notes": [f"“{paper.title}” is not in the graph: {error}"]}
    return {
        "triples": [
            PaperTriple(
                subject=triple.subject,
                relation=triple.relation,
                object=triple.object,
                quote=triple.quote,
                paper=paper.id,
            )
            for triple in answer.triples
        ]
    }


async def sample_paths(state: SciAgentsState, runtime: Context) -> SciAgentsState:
    """Join the triples to a graph and sample a path for each idea; its ends are at least two hops apart."""
    triples, options = state.get("triples", []), runtime.context.options
    names = concept_graph.concept_names(triples)
    encode = runtime.context.library.embedder.encode
    vectors = await asyncio.to_thread(encode, [state["topic"]["text"], *names])
    merged = concept_graph.merge_names(names, vectors[1:])
    graph = concept_graph.build_concept_graph(triples, merged)
    cosines = [round(float(vectors[0] @ vector), 4) for vector in vectors[1:]]
    relevance = dict(zip(names, cosines, strict=True))
    paths = concept_graph.sample_paths(graph, relevance, options.ideas, runtime.context.client.settings.seed)
    size = concept_graph.describe_graph(graph, paths)
    if not paths:
        raise AllBranchesFailed(
            f"No path: {len(state['papers'])} papers were read. {size} A path needs two concepts that are "
            "at least two relations apart. Use more papers (--set papers=24, --source) or another agent."
        )
    runtime.context.say(size)
    few = f"{len(paths)} paths of {options.ideas}: no further concepts are far enough apart."
    return {
        "paths": paths,
        "relations": [
            [_relation(triples[graph.edges[pair]["triple"]], merged) for pair in pairwise(path)]
            for path in paths
        ],
        "notes": [size, *([few] if len(paths) < options.ideas else [])],
    }


def _relation(triple: PaperTriple, merged: dict[str, str]) -> PaperTriple:
    """A triple with its concepts as the graph names them."""
    subject, object_ = merged[triple["subject"].casefold()], merged[triple["object"].casefold()]
    return {**triple, "subject": subject, "object": object_}


def start_paths(state: SciAgentsState) -> list[Send]:
    """Develop every path, in parallel."""
    tasks = []
    for number, (path, relations) in enumerate(zip(state["paths"], state["relations"], strict=True), 1):
        ids = {relation["paper"] for relation in relations}
        papers = [paper for paper in state["papers"] if paper["id"] in ids]
        tasks.append(
            PathTask(
                topic=state["topic"],
                number=number,
                path=path,
                relations=relations,
                papers=papers,
                pool=[paper["id"] for paper in state["papers"]],
            )
        )
    return [Send("develop_path", task) for task in tasks]


async def develop_path(state: PathTask, runtime: Context) -> SciAgentsState:
    """Run one path; its failure is recorded and the others continue."""
    titles = {paper["id"]: paper["title"] for paper in state["papers"]}
    relations = [
        serialize(
            Relation(
                subject=triple["subject"],
                relation=triple["relation"],
                object=triple["object"],
                title=titles[triple["paper"]],
                quote=triple["quote"],
            )
        )
        for triple in state["relations"]
    ]
    start = PathState(
        topic=state["topic"],
        number=state["number"],
        pool=state["pool"],
        path=state["path"],
        relations=relations,
        papers=state["papers"],
    )
    with usage_label(usage_name("idea", state["number"])):
        try:
            result = await build_path().compile().ainvoke(start, context=runtime.context)
        except IdeagoraError as error:
            if error.fatal:  # it concerns the whole run
                raise
            path = " → ".join(state["path"])
            return {"failures": [failure(f"the path {path}: {error}")]}
    final = cast("PathState", result)
    draft: Draft = {
        **final["draft"],
        "number": state["number"],
        "papers": final["papers"],
        "extra": {"path": final["path"], "critique": final["critique"]},
    }
    return {"drafts": [draft], "notes": final.get("notes", [])}


def gather(state: SciAgentsState) -> SciAgentsState:
    """Join the paths."""
    if not state.get("drafts"):
        raise AllBranchesFailed(f"No path led to an idea. {reasons(state)}")
    return {}


def build_graph() -> StateGraph[SciAgentsState, Services, SciAgentsState, SciAgentsState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(SciAgentsState, context_schema=Services)
    graph.add_node("find_papers", find_papers)
    graph.add_node("extract_triples", extract_triples)
    graph.add_node("sample_paths", sample_paths)
    graph.add_node("develop_path", develop_path)
    graph.add_node("gather", gather)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "find_papers")
    graph.add_conditional_edges("find_papers", read_papers, ["extract_triples"])
    graph.add_edge("extract_triples", "sample_paths")
    graph.add_conditional_edges("sample_paths", start_paths, ["develop_path"])
    graph.add_edge("develop_path", "gather")
    graph.add_conditional_edges("gather", start_experiments, ["design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
