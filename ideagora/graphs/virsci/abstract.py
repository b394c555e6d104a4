"""The abstract: written by the leader, reviewed against the literature, revised if it is too close."""

from __future__ import annotations

from ideagora.agents.idea_inputs import EarlierDraft, TooClose
from ideagora.agents.views import paper_brief
from ideagora.agents.virsci.ideas import ABSTRACT_WRITER
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Record, failure, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.first_plan import source_papers
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.virsci.state import TOPIC_PAPERS, AbstractTask, Context, VirsciState
from ideagora.models.usage import usage_label
from ideagora.schema import ClosestPaper, DroppedDraft, NoveltyCheck, Paper, Topic


async def write_abstract(state: AbstractTask, runtime: Context) -> VirsciState:
    """The leader's abstract, reviewed against the literature and revised if it is too close to a paper."""
    context, idea, topic = runtime.context, state["idea"], Topic.model_validate(state["topic"])
    papers = {paper["id"]: paper for paper in [*idea["papers"], *state["papers"][:TOPIC_PAPERS]]}
    dropped: list[DroppedDraft] = []
    with usage_label(usage_name("idea", state["number"])):
        while True:
            try:
                draft = await _draft_abstract(context, state, papers, dropped)
            except UnreadableAnswer as error:
                return {"failures": [failure(f"no abstract of “{idea['title']}”: {error}")]}
            known = [Paper.model_validate(paper) for paper in source_papers(draft, list(papers.values()))]
            check = await check_novelty(context, topic, draft, known, tuple(dropped))
            if check.status != "too_close" or len(dropped) == context.options.revisions:
                break
            dropped.append(_dropped(draft, check))
            for close in dropped[-1].too_close:
                paper = await context.library.paper(close.paper_id)
                papers |= {paper.id: paper.model_dump(mode="json")} if paper else {}
    own = {
        "number": state["number"],
        "papers": list(papers.values()),
        "novelty_check": check.model_dump(mode="json"),
        "extra": {"team": state["team"], "question": state["question"], "votes": idea["votes"]},
    }
    return {"drafts": [{**draft, **own}]}


async def _draft_abstract(
    context: Services, state: AbstractTask, papers: dict[str, Record], dropped: list[DroppedDraft]
) -> Record:
    places = {paper_id: place for place, paper_id in enumerate(papers)}
    close: dict[str, ClosestPaper] = {one.paper_id: one for draft in dropped for one in draft.too_close}
    last = dropped[-1] if dropped else None
    answer = await ABSTRACT_WRITER(
        context.client,
        topic=state["topic"]["text"],
        question=state["question"],
        **{name: state["idea"][name] for name in ("title", "idea", "experiment")},
        papers=tuple(paper_brief(Paper.model_validate(paper)) for paper in papers.values()),
        earlier=EarlierDraft(title=last.title, summary=last.summary) if last else None,
        too_close=tuple(
            TooClose(paper=places[paper_id], title=one.title, overlap=one.overlap)
            for paper_id, one in close.items()
            if paper_id in places
        ),
    )
    draft = answer.model_dump(mode="json")
    return {**draft, "sources": checked_sources(draft["sources"], list(papers.values()))}


def _dropped(draft: Record, check: NoveltyCheck) -> DroppedDraft:
    too_close = tuple(close for close in check.closest if close.too_close)
    return DroppedDraft(title=draft["title"], summary=draft["summary"], too_close=too_close)
