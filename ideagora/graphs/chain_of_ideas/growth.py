"""Construction of a chain (section 3.2): from the anchor forward along citations, backward along references.

Both sides grow in parallel, one paper per step. Going backward means reading the earliest paper, because
its reader ranks the references; all other papers are read together at the end.
"""

from __future__ import annotations

from collections.abc import Hashable

from ideagora.graphs.chain_of_ideas.options import MILESTONE_CITATIONS
from ideagora.graphs.chain_of_ideas.state import BranchState, Context, link_ids, load_links, load_topic
from ideagora.graphs.steps import reading
from ideagora.graphs.steps.literature_search import CANDIDATES
from ideagora.graphs.steps.reading import MAX_REFERENCES, read_for_references
from ideagora.graphs.steps.relevance import Neighbours, grade_neighbours
from ideagora.schema import Link, Paper


async def place_anchor(state: BranchState, runtime: Context) -> BranchState:
    """Start the chain with the anchor; without a chain (ablation), put the retrieved papers beside it."""
    anchor = Paper.model_validate(state["anchor"])
    runtime.context.say(f"anchor: {anchor.title} ({anchor.year})")
    links = [Link(paper=anchor, position=0, reason=state["anchor_reason"])]
    if not runtime.context.options.chain:
        found = await runtime.context.library.search(state["query"], runtime.context.options.length + 1)
        others = [scored.paper for scored in found if scored.paper.id != anchor.id]
        links += [
            Link(paper=paper, position=place, reason="retrieved by the query, in no chain")
            for place, paper in enumerate(others[: runtime.context.options.length - 1], 1)
        ]
    return {"links": [link.model_dump(mode="json") for link in links]}


async def extend_forward(state: BranchState, runtime: Context) -> BranchState:
    """Add the best of the citing papers that the relevance judge accepts."""
    library, topic = runtime.context.library, load_topic(state)
    chain, anchor = load_links(state), Paper.model_validate(state["anchor"])
    tip = chain[-1].paper
    citing = [paper for paper in await library.citations(tip) if paper.id not in link_ids(state)]
    if not citing:
        return {"stopped": {"forward": f"the library has no other paper that cites {tip.title}"}}
    ranked = await library.similar(citing, f"{topic.text}. {anchor.title}. {anchor.abstract or ''}")
    shown = [scored.paper for scored in ranked[:CANDIDATES]]
    graded = await grade_neighbours(runtime.context, topic, Neighbours(latest=tip, citing=shown))
    if not graded.accepted:
        return {
            "stopped": {"forward": f"none of {len(shown)} papers citing {tip.title} is relevant to the topic"}
        }
    best = graded.accepted[0]
    runtime.context.say(f"forward: {best.paper.title} ({best.paper.year})")
    link = Link(paper=best.paper, position=chain[-1].position + 1, reason=best.reason)
    return {"links": [link.model_dump(mode="json")]}


async def extend_backward(state: BranchState, runtime: Context) -> BranchState:
    """Add the reference that the reader of the earliest paper ranks first.

    A short text does not say how the paper uses its references: then the relevance judge grades them.
    """
    first, topic = load_links(state)[0], load_topic(state)
    tip = first.paper
    if (tip.citation_count or 0) > MILESTONE_CITATIONS:
        return {"stopped": {"backward": f"{tip.title} is a milestone (over {MILESTONE_CITATIONS} citations)"}}
    references = [
        paper for paper in await runtime.context.library.references(tip) if paper.id not in link_ids(state)
    ]
    if not references:
        return {"stopped": {"backward": f"the library has no other reference of {tip.title}"}}
    ranked = await runtime.context.library.similar(references, f"{topic.text}. {tip.title}")
    shown = [scored.paper for scored in ranked]
    read = await read_for_references(runtime.context, topic, tip, shown[:MAX_REFERENCES])
    update: BranchState = {}
    if read is None:
        neighbours = Neighbours(earliest=tip, cited=shown[:CANDIDATES])
        graded = await grade_neighbours(runtime.context, topic, neighbours)
        follow = [(paper.paper, paper.reason) for paper in graded.accepted]
    else:
        update = {"readings": read.as_state()["readings"], "unread": read.unread}
        follow = [(followed.paper, followed.reason) for followed in read.followed]
    if update.get("unread"):
        return {**update, "stopped": {"backward": f"{tip.title} could not be read"}}
    if not follow:
        return {**update, "stopped": {"backward": f"no reference of {tip.title} is relevant to the topic"}}
    chosen, reason = follow[0]
    runtime.context.say(f"backward: {chosen.title} ({chosen.year})")
    link = Link(paper=chosen, position=first.position - 1, reason=reason)
    return {**update, "links": [link.model_dump(mode="json")]}


def grow(state: BranchState) -> BranchState:
    """Join both sides after a step; ``next_growth`` decides what comes next."""
    return {}


def next_growth(state: BranchState, runtime: Context) -> list[Hashable]:
    """Extend both sides while there is room (forward first for the last place), then read all papers."""
    room = runtime.context.options.length - len(state["links"])
    sides = [side for side in ("forward", "backward") if side not in state.get("stopped", {})]
    if runtime.context.options.chain and room > 0 and sides:
        return [f"extend_{side}" for side in sides[:room]]
    return ["read_papers"]


async def read_papers(state: BranchState, runtime: Context) -> BranchState:
    """Read the papers of the chain that were not read for their references."""
    tried = {**state.get("readings", {}), **state.get("unread", {})}
    unread = [link.paper for link in load_links(state) if link.paper.id not in tried]
    read = await reading.read_papers(runtime.context, load_topic(state), unread)
    return {"readings": read.as_state()["readings"], "unread": read.unread}
