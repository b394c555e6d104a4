"""The idea part of The AI Scientist (arXiv 2408.06292, section 3).

Ideas are written one after the other; each sees the archive of the earlier ones and is improved in rounds of
reflection. When the archive is full, the literature is searched for every idea, in parallel, until its
novelty can be decided (``novelty_search.py``). The best of the new ideas get an experiment. The published
system starts from a template of code with seed ideas; here papers on the topic take its place.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.ai_scientist.ideas import (
    ARCHIVE_IDEATOR,
    ARCHIVE_REFLECTOR,
    SCORES,
    ArchivedIdea,
    DraftSource,
    DraftView,
)
from ideagora.agents.plain_ideators import proposed_ideas
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.ai_scientist.novelty_search import build_novelty_search
from ideagora.graphs.drafts import Draft, DraftsState, no_further_idea, usage_name
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import design_experiment, paper_briefs, start_experiments
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.models.usage import usage_label
from ideagora.schema import NoveltyCheck, Paper, Serialized, Topic, deserialize, serialize


class RatedDraft(Draft):
    """An idea with the model's thoughts on it and own ratings (``SCORES``)."""

    considerations: str
    interestingness: int | None
    feasibility: int | None
    originality: int | None
    reflections: list[str]


class DraftCheck(TypedDict):
    """The check of the idea with this number, with the queries and papers that it rests on."""

    number: int
    check: Serialized[NoveltyCheck]
    queries: list[str]
    papers: list[Serialized[Paper]]


class ArchiveState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Serialized[Paper]]
    current: Serialized[ArchivedIdea] | None
    """The idea that is being written; ``None`` if it could not be written."""
    reflections: list[str]
    """The thought of each reflection on it so far."""
    done: bool
    archive: Annotated[list[RatedDraft], concatenate]
    """All ideas, each with its number."""
    checks: Annotated[list[DraftCheck], concatenate]


class NoveltyTask(TypedDict):
    """Payload of ``check_novelty``."""

    topic: Serialized[Topic]
    draft: RatedDraft
    pool: list[str]
    """Ids of the papers that the ideas start from."""


Context = Runtime[Services]


async def find_papers(state: ArchiveState, runtime: Context) -> ArchiveState:
    """Relevant papers on the topic, which the ideas start from."""
    topic = deserialize(Topic, state["topic"])
    found = await topic_papers(runtime.context, topic, runtime.context.options.papers)
    return {"papers": found.serialized, "notes": found.notes}


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
    return {**fresh, "current": serialize(answer)}


def _shown(state: ArchiveState) -> dict[str, Any]:
    """The inputs that both writing roles have."""
    return {
        "topic": state["topic"]["text"],
        "papers": paper_briefs(state["papers"]),
        "proposed": proposed_ideas(state.get("archive", [])),
    }


async def reflect(state: ArchiveState, runtime: Context) -> ArchiveState:
    """One round of reflection; if its answer cannot be read, the idea stays as it is."""
    assert state["current"] is not None
    idea, rounds = deserialize(ArchivedIdea, state["current"]), runtime.context.options.reflections
    number = len(state.get("archive", [])) + 1
    with usage_label(usage_name("idea", number)):
        try:
            answer = await ARCHIVE_REFLECTOR(
                runtime.context.client,
                **_shown(state),
                draft=DraftView(**{name: getattr(idea, name) for name in DraftView.model_fields}),
                sources=tuple(DraftSource(**source.model_dump()) for source in idea.sources),
                scores=tuple(getattr(idea, name) for name in SCORES),
                round=len(state["reflections"]) + 1,
                rounds=rounds,
            )
        except UnreadableAnswer as error:
            note = f"A reflection on “{idea.title}” could not be read, so it stays as it was: {error}"
            return {"done": True, "notes": [note]}
    improved = {**answer.model_dump(exclude={"done"}), "considerations": idea.considerations}
    return {
        "current": serialize(ArchivedIdea.model_validate(improved)),
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
    assert state["current"] is not None
    draft = cast("RatedDraft", sourced_draft(deserialize(ArchivedIdea, state["current"]), state["papers"]))
    number = len(state.get("archive", [])) + 1
    return {"archive": [{**draft, "number": number, "reflections": state["reflections"]}]}


def next_idea(state: ArchiveState, runtime: Context) -> list[Hashable | Send]:
    """Write until the archive is full, then check the novelty of all its ideas, in parallel."""
    if len(state["archive"]) < runtime.context.options.drafts and not state.get("failures"):
        return ["write_idea"]
    pool = [paper["id"] for paper in state["papers"]]
    tasks = [NoveltyTask(topic=state["topic"], draft=draft, pool=pool) for draft in state["archive"]]
    return [Send("check_novelty", task) for task in tasks]


async def check_novelty(state: NoveltyTask, runtime: Context) -> ArchiveState:
    """Search for one idea until its novelty can be decided."""
    number = state["draft"]["number"]
    loop = build_novelty_search().compile()
    with usage_label(usage_name("idea", number)):
        final = await loop.ainvoke(
            {"topic": state["topic"], "draft": state["draft"], "pool": state["pool"]}, context=runtime.context
        )
    runtime.context.say(f"idea {number}: {final['check']['status'].replace('_', ' ')}")
    check = DraftCheck(
        number=number,
        check=final["check"],
        queries=final.get("queries", []),
        papers=final.get("papers", []),
    )
    return {"checks": [check]}


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


def _checked(draft: RatedDraft, papers: list[Serialized[Paper]], check: DraftCheck) -> RatedDraft:
    """An idea of the archive with what its novelty check found."""
    shown = {paper["id"]: paper for paper in (*papers, *check["papers"])}
    return {
        **draft,
        "papers": list(shown.values()),
        "novelty_check": check["check"],
        "extra": {
            "considerations": draft["considerations"],
            "reflections": draft["reflections"],
            "searched": check["queries"],
        },
    }


def _order(draft: RatedDraft, check: Serialized[NoveltyCheck]) -> tuple[bool, float, float]:
    nearest = max((close["similarity"] for close in check["closest"]), default=0.0)
    return check["status"] == "too_close", -_rating(draft), nearest


def _rating(draft: RatedDraft) -> float:
    """The mean of the ratings given, 0 without any."""
    ratings = draft["interestingness"], draft["feasibility"], draft["originality"]
    given = [rating for rating in ratings if rating is not None]
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
