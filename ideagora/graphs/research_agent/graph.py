"""ResearchAgent (arXiv 2404.07738, section 3): core papers, and one idea from each.

The paper is given its core papers; here they are the papers most relevant to the topic whose references the
library has. Each is developed on its own (``development.py``), side by side with the others; one that fails
is recorded and costs only its own idea.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.errors import AllBranchesFailed, IdeagoraError
from ideagora.graphs.research_agent.development import build_development
from ideagora.graphs.services import Services
from ideagora.graphs.steps.topic_papers import topic_papers
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Topic

CANDIDATES = 12
"""Papers on the topic among which core papers are chosen, at least."""
MIN_REFERENCES = 2
"""References in the library that a core paper needs."""


class ResearchAgentState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    cores: list[dict[str, Any]]
    """Core papers with the papers that they are shown with; the core paper is the first of them."""
    missing: list[str]
    """What the library lacks, for the report."""
    developed: Annotated[list[dict[str, Any]], operator.add]
    failures: Annotated[list[dict[str, Any]], operator.add]


class CoreTask(TypedDict):
    """Payload of ``develop_idea``."""

    topic: dict[str, Any]
    core: dict[str, Any]


Context = Runtime[Services]


async def find_core_papers(state: ResearchAgentState, runtime: Context) -> ResearchAgentState:
    """The most relevant papers with references in the library, each with those closest to the topic.

    If too few have references, other relevant papers are taken with the papers most similar to them.
    """
    topic, options = Topic.model_validate(state["topic"]), runtime.context.options
    papers = await topic_papers(runtime.context, topic, max(CANDIDATES, 2 * options.ideas))
    references = {paper.id: await runtime.context.library.references(paper) for paper in papers}
    cited = [paper for paper in papers if len(references[paper.id]) >= MIN_REFERENCES]
    others = [paper for paper in papers if paper not in cited]
    cores: list[dict[str, Any]] = []
    missing: list[str] = []
    for number, core in enumerate([*cited, *others][: options.ideas], 1):
        if core in cited:
            related = await _closest(runtime.context, topic, core, references[core.id])
        else:
            related = await _similar(runtime.context, core)
            missing.append(
                f"The library has no references of the core paper “{core.title}”, so the {len(related)} "
                "papers most similar to it take their place."
            )
        runtime.context.say(f"core paper: {core.title} ({core.year}), with {len(related)} others")
        shown = [paper.model_dump(mode="json") for paper in (core, *related)]
        cores.append({"number": number, "papers": shown})
    return {"cores": cores, "missing": missing}


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
    with usage_label(f"core {number}"):
        try:
            final = await development.ainvoke(
                {"topic": state["topic"], "papers": papers}, context=runtime.context
            )
        except IdeagoraError as error:
            if error.fatal:  # it concerns the whole run
                raise
            failure = {"branch": number, "query": papers[0]["title"], "error": str(error)}
            return {"failures": [failure]}
    names = ("papers", "elsewhere", "entities", "problem", "method", "reviews", "notes")
    plan = final.get("plan") or None
    refinement = {"suggestions": final.get("suggestions", []), "declined": final.get("declined", [])}
    own = {name: final.get(name, []) for name in names}
    rounds = final["rounds"]["experiment"] if plan else 0
    return {
        "developed": [{**own, "number": number, "plan": plan and {**plan, **refinement, "rounds": rounds}}]
    }


def gather(state: ResearchAgentState) -> ResearchAgentState:
    """Join the core papers; without any idea, say why."""
    if not state.get("developed"):
        reasons = [f"{failure['query']}: {failure['error']}" for failure in state.get("failures", [])]
        raise AllBranchesFailed(f"No core paper led to an idea. {' '.join(reasons)}")
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
