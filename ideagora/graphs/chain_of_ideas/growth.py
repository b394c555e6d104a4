"""Construction of a chain (section 3.2): from the anchor forward along citations, backward along references.

Both sides grow in parallel, one paper per step. Going backward means reading the earliest paper, because
its reader ranks the references; all other papers are read in one parallel step at the end.
"""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.types import Send

from ideagora.agents.literature import READER, RELEVANCE_JUDGE
from ideagora.agents.views import PaperBrief, paper_brief
from ideagora.errors import IdeagoraError
from ideagora.graphs.chain_of_ideas.options import CANDIDATES, MILESTONE_CITATIONS
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    Context,
    ReadTask,
    link_ids,
    load_links,
    load_topic,
)
from ideagora.graphs.services import Services
from ideagora.models.offline.text import clip
from ideagora.schema import Entity, Link, Paper, Reading, Topic

REFERENCE_WORDS = 30
"""Words of each reference's abstract that the reader is shown."""

MAX_READ_CHARACTERS = 48_000
"""About 12,000 tokens: the most of a paper that the reader is shown."""

MAX_REFERENCES = 30
"""References that the reader is shown."""

References = list[tuple[int, str]]
"""Numbers of the references to follow, most important first, each with a reason."""


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
    """Add the citing paper closest to topic and anchor that the relevance judge accepts."""
    library, topic = runtime.context.library, load_topic(state)
    chain, anchor = load_links(state), Paper.model_validate(state["anchor"])
    tip = chain[-1].paper
    citing = [paper for paper in await library.citations(tip) if paper.id not in link_ids(state)]
    if not citing:
        return {"stopped": {"forward": f"the library has no other paper that cites {tip.title}"}}
    ranked = await library.similar(citing, f"{topic.text}. {anchor.title}. {anchor.abstract or ''}")
    shown = [scored.paper for scored in ranked[:CANDIDATES]]
    answer = await RELEVANCE_JUDGE(
        runtime.context.client,
        topic=topic.text,
        papers=tuple(paper_brief(paper) for paper in shown),
        cited=paper_brief(tip),
    )
    accepted = {judgement.paper: judgement.reason for judgement in answer.judgements if judgement.relevant}
    if not accepted:
        return {
            "stopped": {"forward": f"none of {len(shown)} papers citing {tip.title} is relevant to the topic"}
        }
    best = min(accepted)
    runtime.context.say(f"forward: {shown[best].title} ({shown[best].year})")
    link = Link(paper=shown[best], position=chain[-1].position + 1, reason=accepted[best])
    return {"links": [link.model_dump(mode="json")]}


async def extend_backward(state: BranchState, runtime: Context) -> BranchState:
    """Read the earliest paper and add the reference that its reader ranks first."""
    first = load_links(state)[0]
    tip = first.paper
    if (tip.citation_count or 0) > MILESTONE_CITATIONS:
        return {"stopped": {"backward": f"{tip.title} is a milestone (over {MILESTONE_CITATIONS} citations)"}}
    references = [
        paper for paper in await runtime.context.library.references(tip) if paper.id not in link_ids(state)
    ]
    if not references:
        return {"stopped": {"backward": f"the library has no other reference of {tip.title}"}}
    if len(references) > MAX_REFERENCES:
        ranked = await runtime.context.library.similar(references, f"{load_topic(state).text}. {tip.title}")
        references = [scored.paper for scored in ranked[:MAX_REFERENCES]]
    update, follow = await _try_read(runtime.context, load_topic(state), tip, references)
    if "unread" in update:
        return {**update, "stopped": {"backward": f"{tip.title} could not be read"}}
    if not follow:
        return {**update, "stopped": {"backward": f"no reference of {tip.title} is relevant to the topic"}}
    number, reason = follow[0]
    chosen = references[number]
    runtime.context.say(f"backward: {chosen.title} ({chosen.year})")
    link = Link(paper=chosen, position=first.position - 1, reason=reason)
    return {**update, "links": [link.model_dump(mode="json")]}


def grow(state: BranchState) -> BranchState:
    """Join both sides after a step; ``next_growth`` decides what comes next."""
    return {}


def next_growth(state: BranchState, runtime: Context) -> list[Hashable | Send]:
    """Extend both sides while there is room (forward first for the last place), then read all papers."""
    room = runtime.context.options.length - len(state["links"])
    sides = [side for side in ("forward", "backward") if side not in state.get("stopped", {})]
    if runtime.context.options.chain and room > 0 and sides:
        return [f"extend_{side}" for side in sides[:room]]
    tried = {**state.get("readings", {}), **state.get("unread", {})}
    unread = [link.paper for link in load_links(state) if link.paper.id not in tried]
    tasks = [ReadTask(topic=state["topic"], paper=paper.model_dump(mode="json")) for paper in unread]
    return [Send("read_paper", task) for task in tasks] or ["analyse_trend"]


async def read_paper(state: ReadTask, runtime: Context) -> BranchState:
    """Read one paper of the chain that was not read for its references."""
    paper = Paper.model_validate(state["paper"])
    update, _ = await _try_read(runtime.context, load_topic(state), paper, [])
    return update


async def _try_read(
    context: Services, topic: Topic, paper: Paper, references: list[Paper]
) -> tuple[BranchState, References]:
    """The state update with the reading, or with the reason why the paper could not be read."""
    try:
        reading, follow = await _read(context, topic, paper, references)
    except IdeagoraError as error:
        if error.fatal:
            raise
        context.say(f"not read: {paper.title} ({error})")
        return {"unread": {paper.id: str(error)}}, []
    return {"readings": {paper.id: reading.model_dump(mode="json")}}, follow


async def _read(
    context: Services, topic: Topic, paper: Paper, references: list[Paper]
) -> tuple[Reading, References]:
    text, kind = await context.library.read(paper)
    answer = await READER(
        context.client,
        topic=topic.text,
        title=paper.title,
        kind=kind,
        text=text[:MAX_READ_CHARACTERS],
        references=tuple(_reference_view(reference) for reference in references),
    )
    reading = Reading(
        problem=answer.problem,
        method=answer.method,
        finding=answer.finding,
        limitation=answer.limitation,
        experiment=answer.experiment,
        entities=tuple(Entity(name=e.name, description=e.description, kind=e.kind) for e in answer.entities),
        read_from=kind,
    )
    return reading, [(reference.paper, reference.reason) for reference in answer.references]


def _reference_view(paper: Paper) -> PaperBrief:
    abstract = clip(paper.abstract, REFERENCE_WORDS) if paper.abstract else None
    return PaperBrief(title=paper.title, year=paper.year, abstract=abstract)
