"""The abstract: written by the leader, reviewed against the literature, revised if it is too close."""

from __future__ import annotations

from ideagora.agents.idea_inputs import EarlierDraft, TooClose
from ideagora.agents.views import paper_brief
from ideagora.agents.virsci.ideas import ABSTRACT_WRITER
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Draft, failure, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import source_papers
from ideagora.graphs.steps.novelty import check_novelty, with_dropped
from ideagora.graphs.steps.novelty_requests import requests_left
from ideagora.graphs.virsci.state import TOPIC_PAPERS, AbstractTask, Context, VirsciState
from ideagora.models.usage import usage_label
from ideagora.schema import (
    ClosestPaper,
    DroppedDraft,
    NoveltyCheck,
    Paper,
    Serialized,
    Topic,
    deserialize,
    serialize,
)


async def write_abstract(state: AbstractTask, runtime: Context) -> VirsciState:
    """The leader's abstract, reviewed against the literature and revised if it is too close to a paper."""
    context, idea, topic = runtime.context, state["idea"], deserialize(Topic, state["topic"])
    papers = {paper["id"]: paper for paper in [*idea["papers"], *state["papers"][:TOPIC_PAPERS]]}
    dropped: list[DroppedDraft] = []
    with usage_label(usage_name("idea", state["number"])):
        while True:
            try:
                draft = await _draft_abstract(context, state, papers, dropped)
            except UnreadableAnswer as error:
                return {"failures": [failure(f"no abstract of “{idea['title']}”: {error}")]}
            known = [deserialize(Paper, paper) for paper in source_papers(draft, list(papers.values()))]
            ideas, revisions = context.options.ideas, context.options.revisions
            check = await check_novelty(
                context,
                topic,
                draft,
                known,
                pool=[*papers, *(paper["id"] for paper in (*idea["closest"], *state["papers"]))],
                requests=requests_left(
                    context, len(dropped) * ideas + state["number"] - 1, ideas * (revisions + 1)
                ),
            )
            check = with_dropped(check, dropped)
            if check.status != "too_close" or len(dropped) == revisions:
                break
            dropped.append(_dropped(draft, check))
            for close in dropped[-1].too_close:
                paper = await context.library.paper(close.paper_id)
                papers |= {paper.id: serialize(paper)} if paper else {}
    reviewed: Draft = {
        **draft,
        "number": state["number"],
        "papers": list(papers.values()),
        "novelty_check": serialize(check),
        "extra": {"team": state["team"], "question": state["question"], "votes": idea["votes"]},
    }
    return {"drafts": [reviewed]}


async def _draft_abstract(
    context: Services,
    state: AbstractTask,
    papers: dict[str, Serialized[Paper]],
    dropped: list[DroppedDraft],
) -> Draft:
    places = {paper_id: place for place, paper_id in enumerate(papers)}
    close: dict[str, ClosestPaper] = {one.paper_id: one for draft in dropped for one in draft.too_close}
    last = dropped[-1] if dropped else None
    answer = await ABSTRACT_WRITER(
        context.client,
        topic=state["topic"]["text"],
        question=state["question"],
        title=state["idea"]["title"],
        idea=state["idea"]["idea"],
        experiment=state["idea"]["experiment"],
        papers=tuple(paper_brief(deserialize(Paper, paper)) for paper in papers.values()),
        earlier=EarlierDraft(title=last.title, summary=last.summary) if last else None,
        too_close=tuple(
            TooClose(paper=places[paper_id], title=one.title, overlap=one.overlap)
            for paper_id, one in close.items()
            if paper_id in places
        ),
    )
    return sourced_draft(answer, list(papers.values()))


def _dropped(draft: Draft, check: NoveltyCheck) -> DroppedDraft:
    too_close = tuple(close for close in check.closest if close.too_close)
    return DroppedDraft(title=draft["title"], summary=draft["summary"], too_close=too_close)
