"""The idea part of The AI Scientist (arXiv 2408.06292, section 3).

Ideas are written one after the other; each sees the archive of the earlier ones and is improved in rounds of
reflection. When the archive is full, the literature is searched for every idea, in parallel, until its
novelty can be decided (``novelty_search.py``). The best of the new ideas get an experiment. The published
system starts from a template of code with seed ideas; here papers on the topic take its place.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Annotated, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.ai_scientist.ideas import (
    ARCHIVE_IDEATOR,
    ARCHIVE_REFLECTOR,
    SCORES,
    DraftSource,
    DraftView,
)
from ideagora.agents.plain_ideators import proposed_ideas
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.ai_scientist.novelty_search import build_novelty_search
from ideagora.graphs.drafts import DraftsState, Record, no_further_idea, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.first_plan import design_experiment, paper_briefs, start_experiments
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.models.usage import usage_label
from ideagora.schema import Topic


class ArchiveState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Record]
    current: Record | None
    """The idea that is being written, as the role answered; ``None`` if it could not be written."""
    reflections: list[str]
    """The thought of each reflection on it so far."""
    done: bool
    archive: Annotated[list[Record], operator.add]
    """All ideas, each with its number from 1."""
    checks: Annotated[list[Record], operator.add]
    """The check of each idea, with the queries and papers that it rests on."""


class NoveltyTask(TypedDict):
    """Payload of ``check_novelty``."""

    topic: Record
    draft: Record


Context = Runtime[Services]


async def find_papers(state: ArchiveState, runtime: Context) -> ArchiveState:
    """Relevant papers on the topic, which the ideas start from."""
    topic = Topic.model_validate(state["topic"])
    found = await topic_papers(runtime.context, topic, runtime.context.options.papers)
    return cast(ArchiveState, found.as_state())


async def write_idea(state: ArchiveState, runtime: Context) -> ArchiveState:
    """The next idea, which is shown the archive."""
    archive = state.get("archive", [])
    fresh: ArchiveState = {"current": None, "reflections": [], "done": False}
    with usage_label(usage_name("idea", len(archive) + 1)):
        try:
            answer = await ARCHIVE_IDEATOR(runtime.context.client, **_shown(state))
        except UnreadableAnswer as error:
            return {**fresh, "failures": no_further_idea(archive, error)}
    runtime.context.say(f"idea {len(archive) + 1}: {answer.title}")
    return {**fresh, "current": answer.model_dump(mode="json")}


def _shown(state: ArchiveState) -> Record:
    return {
        "topic": state["topic"]["text"],
        "papers": paper_briefs(state["papers"]),
        "proposed": proposed_ideas(state.get("archive", [])),
    }


async def reflect(state: ArchiveState, runtime: Context) -> ArchiveState:
    """One round of reflection; if its answer cannot be read, the idea stays as it is."""
    current, rounds = state["current"], runtime.context.options.reflections
    assert current is not None
    number = len(state.get("archive", [])) + 1
    with usage_label(usage_name("idea", number)):
        try:
            answer = await ARCHIVE_REFLECTOR(
                runtime.context.client,
                **_shown(state),
                draft=DraftView(**{name: current[name] for name in DraftView.model_fields}),
                sources=tuple(DraftSource(**source) for source in current["sources"]),
                scores=tuple(current[name] for name in SCORES),
                round=len(state["reflections"]) + 1,
                rounds=rounds,
            )
        except UnreadableAnswer as error:
            note = f"A reflection on “{current['title']}” could not be read, so it stays as it was: {error}"
            return {"done": True, "notes": [note]}
    improved = answer.model_dump(mode="json", exclude={"done"})
    return {
        "current": {**improved, "considerations": current["considerations"]},
        "reflections": [*state["reflections"], answer.considerations],
        "done": answer.done,
    }


def after_writing(state: ArchiveState, runtime: Context) -> list[Hashable | Send]:
    """Reflect while rounds are left and the model is not done; then the idea goes into the archive."""
    if state["current"] is None:
        return next_idea(state, runtime)
    has_rounds = len(state["reflections"]) < runtime.context.options.reflections
    return ["reflect" if has_rounds and not state["done"] else "archive_idea"]


def archive_idea(state: ArchiveState) -> ArchiveState:
    """Add the idea to the archive."""
    current = state["current"]
    assert current is not None
    number = len(state.get("archive", [])) + 1
    sources = checked_sources(current["sources"], state["papers"])
    own = {"number": number, "reflections": state["reflections"], "sources": sources}
    return {"archive": [{**current, **own}]}


def next_idea(state: ArchiveState, runtime: Context) -> list[Hashable | Send]:
    """Write until the archive is full, then check the novelty of all its ideas, in parallel."""
    if len(state["archive"]) < runtime.context.options.drafts and not state.get("failures"):
        return ["write_idea"]
    tasks = [NoveltyTask(topic=state["topic"], draft=draft) for draft in state["archive"]]
    return [Send("check_novelty", task) for task in tasks]


async def check_novelty(state: NoveltyTask, runtime: Context) -> ArchiveState:
    """Search for one idea until its novelty can be decided."""
    number = state["draft"]["number"]
    loop = build_novelty_search().compile()
    with usage_label(usage_name("idea", number)):
        final = await loop.ainvoke(
            {"topic": state["topic"], "draft": state["draft"]}, context=runtime.context
        )
    runtime.context.say(f"idea {number}: {final['check']['status'].replace('_', ' ')}")
    found = {"queries": final.get("queries", []), "papers": final.get("papers", [])}
    return {"checks": [{"number": number, "check": final["check"], **found}]}


def choose_ideas(state: ArchiveState, runtime: Context) -> ArchiveState:
    """The best ideas by the model's own ratings, of equal ones the farthest from any paper.

    Those that are not new come last.
    """
    checks = {check["number"]: check for check in state["checks"]}
    known = {number for number, check in checks.items() if check["check"]["status"] == "too_close"}
    ranked = sorted(state["archive"], key=lambda draft: _order(draft, checks[draft["number"]]["check"]))
    chosen = ranked[: runtime.context.options.ideas]
    return {
        "drafts": [_checked(draft, state["papers"], checks[draft["number"]]) for draft in chosen],
        "notes": [
            f"“{draft['title']}” is not new, but too few ideas of the archive are."
            for draft in chosen
            if draft["number"] in known
        ],
    }


def _checked(draft: Record, papers: list[Record], check: Record) -> Record:
    """An idea of the archive with what its novelty check found."""
    shown = {paper["id"]: paper for paper in (*papers, *check["papers"])}
    kept = {name: draft[name] for name in ("considerations", "reflections")}
    return {
        **draft,
        "papers": list(shown.values()),
        "novelty_check": check["check"],
        "extra": {**kept, "searched": check["queries"]},
    }


def _order(draft: Record, check: Record) -> tuple[bool, float, float]:
    nearest = max((close["similarity"] for close in check["closest"]), default=0.0)
    return check["status"] == "too_close", -_rating(draft), nearest


def _rating(draft: Record) -> float:
    """The mean of the ratings given, 0 without any."""
    given = [draft[name] for name in SCORES if draft[name] is not None]
    return sum(given) / len(given) if given else 0.0


def build_graph() -> StateGraph[ArchiveState, Services, ArchiveState, ArchiveState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ArchiveState, context_schema=Services)
    graph.add_node("find_papers", find_papers)
    graph.add_node("write_idea", write_idea)
    graph.add_node("reflect", reflect)
    graph.add_node("archive_idea", archive_idea)
    graph.add_node("check_novelty", check_novelty)
    graph.add_node("choose_ideas", choose_ideas)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "find_papers")
    graph.add_edge("find_papers", "write_idea")
    graph.add_conditional_edges("write_idea", after_writing, ["reflect", "archive_idea", "check_novelty"])
    graph.add_conditional_edges("reflect", after_writing, ["reflect", "archive_idea"])
    graph.add_conditional_edges("archive_idea", next_idea, ["write_idea", "check_novelty"])
    graph.add_edge("check_novelty", "choose_ideas")
    graph.add_conditional_edges("choose_ideas", start_experiments, ["design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
