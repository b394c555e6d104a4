"""The literature review: search actions chosen one after the other, and scores (section 3.1)."""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.types import Send

from ideagora.agents.ai_researcher.literature_review import (
    LITERATURE_ACTION,
    PAPER_SCORER,
    FoundPaper,
    PastAction,
    SearchAction,
    describe_action,
)
from ideagora.errors import AllBranchesFailed, TopicNotCovered, UnreadableAnswer
from ideagora.graphs.ai_researcher.state import Context, ResearcherState, ScoreTask
from ideagora.graphs.drafts import failure, reasons
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import paper_briefs
from ideagora.graphs.steps.literature.literature_search import not_covered
from ideagora.schema import Paper, Topic, deserialize, serialize

SCORED_PER_CALL = 8
MIN_SCORE = 4
"""Lowest score of a paper that is used; lower ones are on other subjects."""
BEST_PAPERS = 20
"""Papers with the highest scores, from which calls for seeds get a sample."""


async def search_literature(state: ResearcherState, runtime: Context) -> ResearcherState:
    """One search action: first a query for the topic, then what the model chooses."""
    known = [deserialize(Paper, paper) for paper in state.get("papers", [])]
    done, options = state.get("actions", []), runtime.context.options
    try:
        action = await _next_action(runtime.context, state, known)
    except UnreadableAnswer as error:
        return {
            "actions": [*done, serialize(PastAction(text="none", new_papers=0))],
            "failures": [failure(str(error))],
        }
    found = await _search(runtime.context, known, action)
    ids = {paper.id for paper in known}
    new = [paper for paper in found if paper.id not in ids][: options.papers - len(known)]
    text = describe_action(action, [paper.title for paper in known])
    runtime.context.say(f"{text[:60]}: {len(new)} new papers")
    return {
        "papers": [*state.get("papers", []), *(serialize(paper) for paper in new)],
        "actions": [*done, serialize(PastAction(text=text, new_papers=len(new)))],
        "notes": [f"Searched: {text} ({len(new)} new papers)."],
    }


async def _next_action(context: Services, state: ResearcherState, known: list[Paper]) -> SearchAction:
    topic = state["topic"]["text"]
    if not state.get("actions"):
        return SearchAction(reason="the topic", action="keyword_query", query=topic, paper=None)
    return await LITERATURE_ACTION(
        context.client,
        topic=topic,
        papers=tuple(FoundPaper(title=paper.title, year=paper.year) for paper in known),
        actions=tuple(deserialize(PastAction, action) for action in state["actions"]),
    )


async def _search(context: Services, known: list[Paper], action: SearchAction) -> list[Paper]:
    library, count = context.library, context.options.papers_per_action
    if action.paper is None:
        return [scored.paper for scored in await library.search(action.query or "", count)]
    paper = known[action.paper]
    if action.action == "references":
        return (await library.references(paper))[:count]
    recommended = await library.recommended(paper, count)
    if recommended is not None:
        return recommended
    text = f"{paper.title}. {paper.abstract or ''}"  # no source in use recommends papers
    return [scored.paper for scored in await library.search(text, count + 1) if scored.paper.id != paper.id]


def after_search(state: ResearcherState, runtime: Context) -> list[Hashable | Send]:
    """Search again while actions and room are left; then score the papers, in parallel."""
    options = runtime.context.options
    if not state["papers"]:
        raise TopicNotCovered(
            "The library has no paper that may be used for this topic. Use a later --before, or exclude "
            "fewer papers."
        )
    if len(state["actions"]) < options.actions and len(state["papers"]) < options.papers:
        return ["search_literature"]
    papers, size = state["papers"], SCORED_PER_CALL
    groups = [papers[start : start + size] for start in range(0, len(papers), size)]
    return [Send("score_papers", ScoreTask(topic=state["topic"], papers=group)) for group in groups]


async def score_papers(state: ScoreTask, runtime: Context) -> ResearcherState:
    """Scores of a group of papers; papers without a readable score are left out."""
    papers = state["papers"]
    try:
        answer = await PAPER_SCORER(
            runtime.context.client, topic=state["topic"]["text"], papers=paper_briefs(papers)
        )
    except UnreadableAnswer as error:
        titles = "; ".join(f"“{paper['title']}”" for paper in papers)
        return {
            "failures": [failure(f"{len(papers)} papers were not scored and not used ({titles}): {error}")]
        }
    return {"scores": [{"paper": papers[one.paper]["id"], "score": one.score} for one in answer.scores]}


async def select_papers(state: ResearcherState, runtime: Context) -> ResearcherState:
    """The papers with the highest scores, best first."""
    scores = {one["paper"]: one["score"] for one in state.get("scores", [])}
    if not scores:
        raise AllBranchesFailed("No paper was scored: " + reasons(state))
    scored = [paper for paper in state["papers"] if paper["id"] in scores]
    ranked = sorted(scored, key=lambda paper: -scores[paper["id"]])
    usable = [paper for paper in ranked if scores[paper["id"]] >= MIN_SCORE]
    topic = deserialize(Topic, state["topic"])
    if not usable and not topic.inspirations and not runtime.context.options.allow_thin:
        raise await not_covered(runtime.context, topic)
    return {"best_papers": (usable or ranked)[:BEST_PAPERS]}
