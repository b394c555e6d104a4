"""From a direction to an idea (section 3.3): draft, novelty check, rewrite."""

from __future__ import annotations

from typing import cast

from langgraph.graph import END

from ideagora.agents.chain_of_ideas.ideator import IDEATOR
from ideagora.agents.idea_inputs import DirectionView, EarlierDraft, TakenIdea, TooClose
from ideagora.agents.views import ShownPaper, chain_paper, change_view, text_kind
from ideagora.graphs.chain_of_ideas.loading import load_links, load_topic, load_transitions, shown_entities
from ideagora.graphs.chain_of_ideas.records import ChainDraft
from ideagora.graphs.chain_of_ideas.state import BranchState, Context
from ideagora.graphs.services import Services
from ideagora.graphs.sources import quoted_source
from ideagora.graphs.steps.novelty import check_novelty, with_dropped
from ideagora.graphs.steps.novelty_requests import find_papers, requests_left
from ideagora.graphs.steps.steering import avoided_ideas
from ideagora.schema import Direction, DroppedDraft, NoveltyCheck, Paper, deserialize, serialize

MAX_ENTITIES = 12
"""Key terms that the ideator is shown."""
MAX_OWN_TEXT = 2_500
"""Characters of a paper's own text that the ideator is shown beside its summary."""


def after_direction(state: BranchState, runtime: Context) -> str:
    """End the branch when leads are made: they combine the pairs of all branches."""
    return END if runtime.context.makes_leads else "draft_idea"


async def draft_idea(state: BranchState, runtime: Context) -> BranchState:
    """Motivation, method, novelty, idea (Tables 14 and 15); a rewrite is shown what was too close."""
    shown = await _shown_papers(state, runtime.context)
    ids, papers = list(shown), tuple(shown.values())
    numbers = {paper_id: number for number, paper_id in enumerate(ids)}
    topic, direction = load_topic(state), state["direction"]
    answer = await IDEATOR(
        runtime.context.client,
        topic=topic.text,
        papers=papers,
        chain_length=len(state["links"]),
        changes=tuple(change_view(transition) for transition in load_transitions(state)),
        entities=shown_entities(state, runtime.context)[:MAX_ENTITIES],
        direction=_direction_view(state, numbers),
        earlier=_earlier_draft(state),
        too_close=_too_close_papers(state, numbers),
        candidates=runtime.context.options.candidates,
        taken=tuple(deserialize(TakenIdea, idea) for idea in state.get("taken", [])),
        focus=topic.focus,
        avoid=await avoided_ideas(runtime.context, topic, direction["text"] if direction else ""),
    )
    runtime.context.say(f"idea: {answer.title}")
    sources = []
    for source in answer.sources:
        text = f"{papers[source.paper].title} {papers[source.paper].abstract or ''}"
        sources.append(quoted_source(source.part, ids[source.paper], source.quote, text))
    draft = cast("ChainDraft", answer.model_dump(mode="json", exclude={"sources"}))
    return {"draft": {**draft, "sources": [serialize(source) for source in sources]}}


async def _shown_papers(state: BranchState, context: Services) -> dict[str, ShownPaper]:
    """By id: the chain, the neighbours, the papers that a draft was too close to.

    A paper that is shown by an excerpt of its full text comes with the reader's notes on the whole.
    """
    chain = load_links(state)
    notes = {link.paper.id: chain_paper(link).text for link in chain if link.reading}
    others = [deserialize(Paper, paper) for paper in (*state["neighbours"], *state.get("avoided", []))]
    shown: dict[str, ShownPaper] = {}
    for paper in (*(link.paper for link in chain), *others):
        text, kind = await context.library.text(paper)
        is_excerpt = kind == "full text"
        shown.setdefault(
            paper.id,
            ShownPaper(
                title=paper.title,
                year=paper.year,
                abstract=None if kind == "title" else text[:MAX_OWN_TEXT],
                kind="Text" if is_excerpt else text_kind(paper),
                retelling=notes.get(paper.id) if is_excerpt else None,
            ),
        )
    return shown


def _direction_view(state: BranchState, numbers: dict[str, int]) -> DirectionView | None:
    if state["direction"] is None:
        return None
    direction = deserialize(Direction, state["direction"])
    return DirectionView(
        text=direction.text,
        limitation=direction.limitation,
        limitation_from=numbers[direction.limitation_from],
        mechanism=direction.mechanism,
        mechanism_from=None if direction.mechanism_from is None else numbers[direction.mechanism_from],
        recalled=tuple(numbers[paper_id] for paper_id in direction.mechanism_found),
    )


def _earlier_draft(state: BranchState) -> EarlierDraft | None:
    drafts = state.get("dropped", [])
    return EarlierDraft(title=drafts[-1]["title"], summary=drafts[-1]["summary"]) if drafts else None


def _too_close_papers(state: BranchState, numbers: dict[str, int]) -> tuple[TooClose, ...]:
    """Every paper that a draft was too close to, once."""
    papers = {close["paper_id"]: close for draft in state.get("dropped", []) for close in draft["too_close"]}
    return tuple(
        TooClose(paper=numbers[paper_id], title=close["title"], overlap=close["overlap"])
        for paper_id, close in papers.items()
    )


async def judge_novelty(state: BranchState, runtime: Context) -> BranchState:
    """Compare the draft with its own sources and with what the library has on it (Table 16)."""
    dropped = tuple(deserialize(DroppedDraft, draft) for draft in state.get("dropped", []))
    sources = await find_papers(runtime.context.library, _source_ids(state))
    direction = state["direction"]
    remembered = [direction["mechanism_query"]] if direction and direction["mechanism_query"] else []
    is_remote = runtime.context.library.size() is None
    branches, rewrites = runtime.context.options.branches, runtime.context.options.rewrites
    check = await check_novelty(
        runtime.context,
        load_topic(state),
        state["draft"],
        sources,
        () if is_remote else remembered,  # a web service was asked before the draft
        pool=state.get("pool", ()),
        requests=requests_left(
            runtime.context, len(dropped) * branches + state["branch"] - 1, branches * (rewrites + 1)
        ),
    )
    text = {"novel": "no paper too close", "too_close": "too close to a paper", "unchecked": "unchecked"}
    runtime.context.say(f"novelty: {text[check.status]}")
    return {"novelty_check": serialize(with_dropped(check, dropped))}


def _source_ids(state: BranchState) -> list[str]:
    """Ids of the papers that the draft builds on and of those that an earlier draft was too close to."""
    direction = state["direction"]
    pair = [direction["limitation_from"], direction["mechanism_from"]] if direction else []
    recalled = direction["mechanism_found"] if direction else []
    quoted = [source["paper_id"] for source in state["draft"]["sources"]]
    avoided = [paper["id"] for paper in state.get("avoided", [])]
    return [paper_id for paper_id in dict.fromkeys([*pair, *recalled, *quoted, *avoided]) if paper_id]


def after_novelty(state: BranchState, runtime: Context) -> str:
    """Rewrite while a paper is too close and rewrites are left."""
    check = state["novelty_check"]
    again = check["status"] == "too_close" and check["rounds"] < runtime.context.options.rewrites
    return "drop_draft" if again else END


async def drop_draft(state: BranchState, runtime: Context) -> BranchState:
    """Record a draft that was too close to papers, for the rewrite and for the report."""
    check = deserialize(NoveltyCheck, state["novelty_check"])
    too_close = tuple(close for close in check.closest if close.too_close)
    draft = DroppedDraft(
        title=state["draft"]["title"], summary=state["draft"]["summary"], too_close=too_close
    )
    avoided = state.get("avoided", [])
    known = {paper["id"] for paper in avoided}
    new_ids = [close.paper_id for close in too_close if close.paper_id not in known]
    own = [paper for paper in load_topic(state).avoided if paper.id in new_ids]
    papers = [*own, *await find_papers(runtime.context.library, new_ids)]
    return {
        "dropped": [*state.get("dropped", []), serialize(draft)],
        "avoided": [*avoided, *(serialize(paper) for paper in papers)],
    }
