"""ResearchAgent (arXiv 2404.07738, section 3): core papers, and one idea from each.

The paper is given its core papers; here they are the papers most relevant to the topic whose references the
library has. Each is developed on its own (``development.py``), in parallel with the others; one that fails
is recorded and costs only its own idea.
"""

from __future__ import annotations

import asyncio
from typing import TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.errors import AllBranchesFailed, IdeagoraError
from ideagora.graphs.drafts import Draft, DraftsState, failure, reasons, usage_name
from ideagora.graphs.research_agent.development import build_development
from ideagora.graphs.research_agent.state import DevelopmentState
from ideagora.graphs.research_agent.views import motivation_of
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.models.usage import usage_label
from ideagora.schema import Experiment, Paper, Serialized, Topic, deserialize, serialize

CANDIDATES = 12
"""Papers on the topic among which core papers are chosen, at least."""
MIN_REFERENCES = 2
"""References in the library that a core paper needs."""


class CorePaper(TypedDict):
    """A core paper with its number from 1."""

    number: int
    papers: list[Serialized[Paper]]
    """The core paper, then the papers that it is shown with."""


class ResearchAgentState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    cores: list[CorePaper]


class CoreTask(TypedDict):
    """Payload of ``develop_idea``."""

    topic: Serialized[Topic]
    core: CorePaper


Context = Runtime[Services]


async def find_core_papers(state: ResearchAgentState, runtime: Context) -> ResearchAgentState:
    """The most relevant papers with references in the library, each with those closest to the topic.

    If too few have references, other relevant papers are taken with the papers most similar to them.
    """
    topic, options = deserialize(Topic, state["topic"]), runtime.context.options
    papers, notes = await topic_papers(runtime.context, topic, max(CANDIDATES, 2 * options.ideas))
    library = runtime.context.library
    library.prefetch(neighbors_of=papers)
    lists = await asyncio.gather(*map(library.references, papers))
    references = {paper.id: cited for paper, cited in zip(papers, lists, strict=True)}
    cited = [paper for paper in papers if len(references[paper.id]) >= MIN_REFERENCES]
    others = [paper for paper in papers if paper not in cited]
    cores: list[CorePaper] = []
    for number, core in enumerate([*cited, *others][: options.ideas], 1):
        if core in cited:
            related = await _closest(runtime.context, topic, core, references[core.id])
        else:
            related = await _similar(runtime.context, core)
            notes.append(
                f"The library has no references of the core paper “{core.title}”, so the {len(related)} "
                "papers most similar to it take their place."
            )
        runtime.context.say(f"core paper: {core.title} ({core.year}), with {len(related)} others")
        shown = [serialize(paper) for paper in (core, *related)]
        cores.append({"number": number, "papers": shown})
    return {"cores": cores, "notes": notes}


async def _closest(context: Services, topic: Topic, core: Paper, papers: list[Paper]) -> list[Paper]:
    query = f"{topic.text}. {core.title}. {core.abstract or ''}"
    ranked = await context.library.similar(papers, query)
    return [scored.paper for scored in ranked[: context.options.papers]]


async def _similar(context: Services, core: Paper) -> list[Paper]:
    found = await context.library.search(f"{core.title}. {core.abstract or ''}", context.options.papers + 1)
    return [scored.paper for scored in found if scored.paper.id != core.id][: context.options.papers]


def develop_ideas(state: ResearchAgentState) -> list[Send]:
    """One idea per core paper, in parallel."""
    return [Send("develop_idea", CoreTask(topic=state["topic"], core=core)) for core in state["cores"]]


async def develop_idea(state: CoreTask, runtime: Context) -> ResearchAgentState:
    """Problem, method and experiment for one core paper."""
    number, papers = state["core"]["number"], state["core"]["papers"]
    development = build_development().compile()
    with usage_label(usage_name("idea", number)):
        try:
            start = DevelopmentState(topic=state["topic"], papers=papers)
            result = await development.ainvoke(start, context=runtime.context)
        except IdeagoraError as error:
            if error.fatal:  # it concerns the whole run
                raise
            return {"failures": [failure(f"the core paper “{papers[0]['title']}”: {error}")]}
    final = cast("DevelopmentState", result)
    return {
        "drafts": [{**_draft(final), "number": number}],
        "plans": [{"number": number, "plan": serialize(_experiment(final))}] if "plan" in final else [],
        "notes": final.get("notes", []),
    }


def _experiment(final: DevelopmentState) -> Experiment:
    """The plan with how it was refined."""
    return Experiment(
        **final["plan"],
        suggestions=tuple(final.get("suggestions", [])),
        declined=tuple(final.get("declined", [])),
        rounds=final["rounds"]["experiment"],
    )


def _draft(final: DevelopmentState) -> Draft:
    """Problem and method as one idea, with the papers shown and the reviews."""
    problem, method = final["problem"], final["method"]
    return {
        "title": method["title"],
        "method": method["method"],
        "novelty": method["novelty"],
        "summary": method["summary"],
        "mechanism": method["mechanism"],
        "evaluation": method["evaluation"],
        "motivation": motivation_of(problem),
        "purpose": problem["purpose"],
        "sources": [*problem["sources"], *method["sources"]],
        "papers": [*final["papers"], *final["elsewhere"]],
        "extra": {
            "core_paper": final["papers"][0]["id"],
            "entities": [entity["name"] for entity in final["entities"]],
            "reviews": final.get("reviews", []),
        },
    }


def gather(state: ResearchAgentState) -> ResearchAgentState:
    """Join the core papers; without any idea, say why."""
    if not state.get("drafts"):
        raise AllBranchesFailed(f"No core paper led to an idea. {reasons(state)}")
    return {}


def build_graph() -> StateGraph[ResearchAgentState, Services, ResearchAgentState, ResearchAgentState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ResearchAgentState, context_schema=Services)
    graph.add_node("find_core_papers", find_core_papers)
    graph.add_node("develop_idea", develop_idea)
    graph.add_node("gather", gather)
    graph.add_edge(START, "find_core_papers")
    graph.add_conditional_edges("find_core_papers", develop_ideas, ["develop_idea"])
    graph.add_edge("develop_idea", "gather")
    graph.add_edge("gather", END)
    return graph
