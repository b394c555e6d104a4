"""One branch of Chain-of-Ideas: a chain around an anchor, its trend, and an idea (sections 3.2, 3.3).

The chain grows forward and backward side by side, one paper a step on each side. Reading is put off
to one side-by-side step, except where the way back needs it: the references come from reading.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.idea_telling import DirectionView, TooClose
from ideagora.agents.ideator import FORECASTER, IDEATOR
from ideagora.agents.literature import READER, RELEVANCE_JUDGE
from ideagora.agents.quotes import honest_quote
from ideagora.agents.trend import TREND_ANALYST
from ideagora.agents.views import PaperBrief, brief, chain_paper, change, entity_views
from ideagora.graphs.chain_of_ideas.novelty import check_novelty
from ideagora.graphs.chain_of_ideas.options import CANDIDATES, MILESTONE_CITATIONS
from ideagora.graphs.services import Services
from ideagora.schema import Direction, Entity, Link, Paper, Reading, Source, Topic, Transition

READ_CHARACTERS = 48_000
"""Some 12,000 tokens: what the reader is shown of a paper at most."""

SHOWN_REFERENCES = 40
NEIGHBOURS = 4
ENTITIES = 20


class BranchState(TypedDict, total=False):
    """Plain values only: this is what a checkpoint holds."""

    topic: dict[str, Any]
    branch: int
    query: str
    anchor: dict[str, Any]
    links: Annotated[list[dict[str, Any]], operator.add]
    readings: Annotated[dict[str, Any], operator.or_]
    stopped: Annotated[dict[str, str], operator.or_]
    transitions: list[dict[str, Any]]
    direction: dict[str, Any] | None
    neighbours: list[dict[str, Any]]
    draft: dict[str, Any]
    novelty_check: dict[str, Any]
    too_close: list[dict[str, str]]
    paper: dict[str, Any]
    """Set only in the input of a ``read_paper`` task."""


Context = Runtime[Services]


async def place_anchor(state: BranchState, runtime: Context) -> BranchState:
    """The anchor opens the chain; without the chain (ablation) the retrieved papers stand beside it."""
    anchor = Paper.model_validate(state["anchor"])
    runtime.context.say(f"anchor: {anchor.title} ({anchor.year})")
    links = [Link(paper=anchor, position=0, reason=f"best match of the query “{state['query']}”")]
    if not runtime.context.options.chain:
        found = await runtime.context.library.search(state["query"], runtime.context.options.length + 1)
        others = [scored.paper for scored in found if scored.paper.id != anchor.id]
        links += [
            Link(paper=paper, position=place, reason="retrieved by the query, in no chain")
            for place, paper in enumerate(others[: runtime.context.options.length - 1], 1)
        ]
    return {"links": [link.model_dump(mode="json") for link in links]}


async def extend_forward(state: BranchState, runtime: Context) -> BranchState:
    """The citing paper nearest to topic and anchor that the relevance judge accepts."""
    library, topic = runtime.context.library, _topic(state)
    chain, anchor = _chain(state), Paper.model_validate(state["anchor"])
    tip = chain[-1].paper
    citing = [paper for paper in await library.citations(tip) if paper.id not in _ids(state)]
    if not citing:
        return {"stopped": {"forward": f"the library knows no further paper that cites {tip.title}"}}
    ranked = await library.similar(citing, f"{topic.text}. {anchor.title}. {anchor.abstract or ''}")
    shown = [scored.paper for scored in ranked[:CANDIDATES]]
    answer = await RELEVANCE_JUDGE(
        runtime.context.door, topic=topic.text, papers=tuple(brief(paper) for paper in shown)
    )
    accepted = {judgement.paper: judgement.reason for judgement in answer.judgements if judgement.relevant}
    if not accepted:
        return {"stopped": {"forward": f"none of {len(shown)} papers citing {tip.title} bears on the topic"}}
    best = min(accepted)
    runtime.context.say(f"forward: {shown[best].title} ({shown[best].year})")
    link = Link(paper=shown[best], position=chain[-1].position + 1, reason=accepted[best])
    return {"links": [link.model_dump(mode="json")]}


async def extend_backward(state: BranchState, runtime: Context) -> BranchState:
    """Read the earliest paper and go to the reference that its reader holds most important."""
    first = _chain(state)[0]
    tip = first.paper
    if (tip.citation_count or 0) > MILESTONE_CITATIONS:
        return {"stopped": {"backward": f"{tip.title} is a milestone (over {MILESTONE_CITATIONS} citations)"}}
    references = [
        paper for paper in await runtime.context.library.references(tip) if paper.id not in _ids(state)
    ]
    if not references:
        return {"stopped": {"backward": f"the library knows no further reference of {tip.title}"}}
    if len(references) > SHOWN_REFERENCES:
        ranked = await runtime.context.library.similar(references, f"{_topic(state).text}. {tip.title}")
        references = [scored.paper for scored in ranked[:SHOWN_REFERENCES]]
    reading, follow = await _read(runtime.context, _topic(state), tip, references)
    found: BranchState = {"readings": {tip.id: reading.model_dump(mode="json")}}
    if not follow:
        return {**found, "stopped": {"backward": f"no reference of {tip.title} bears on the topic"}}
    number, reason = follow[0]
    chosen = references[number]
    runtime.context.say(f"backward: {chosen.title} ({chosen.year})")
    link = Link(paper=chosen, position=first.position - 1, reason=reason)
    return {**found, "links": [link.model_dump(mode="json")]}


def grow(state: BranchState) -> BranchState:
    """Where both sides meet after a step; what comes next is decided on the edge."""
    return {}


def next_growth(state: BranchState, runtime: Context) -> list[Hashable | Send]:
    """Both sides go on while there is room (forward first for the last place), then all is read."""
    room = runtime.context.options.length - len(state["links"])
    sides = [side for side in ("forward", "backward") if side not in state.get("stopped", {})]
    if runtime.context.options.chain and room > 0 and sides:
        return [f"extend_{side}" for side in sides[:room]]
    unread = [link for link in _chain(state) if link.paper.id not in state.get("readings", {})]
    if not unread:
        return ["analyse_trend"]
    paper = [link.paper.model_dump(mode="json") for link in unread]
    return [Send("read_paper", {**state, "links": [], "readings": {}, "paper": one}) for one in paper]


async def read_paper(state: BranchState, runtime: Context) -> BranchState:
    """Read one paper of the chain that nobody had to read for its references."""
    paper = Paper.model_validate(state["paper"])
    reading, _ = await _read(runtime.context, _topic(state), paper, [])
    return {"readings": {paper.id: reading.model_dump(mode="json")}}


async def _read(
    context: Services, topic: Topic, paper: Paper, references: list[Paper]
) -> tuple[Reading, list[tuple[int, str]]]:
    text, kind = await context.library.text(paper)
    answer = await READER(
        context.door,
        topic=topic.text,
        title=paper.title,
        text=text[:READ_CHARACTERS],
        references=tuple(f"{reference.title} ({reference.year})" for reference in references),
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
    return reading, [(r.paper, f"{r.relation}: {r.reason}") for r in answer.references]


async def analyse_trend(state: BranchState, runtime: Context) -> BranchState:
    """What changed between each two neighbours (Table 12); one call for the whole chain."""
    chain = _chain(state)
    if not runtime.context.options.chain or len(chain) < 2:
        return {"transitions": []}
    answer = await TREND_ANALYST(
        runtime.context.door,
        topic=_topic(state).text,
        papers=tuple(chain_paper(link) for link in chain),
        entities=_entities(state, runtime.context),
    )
    transitions = [
        Transition(
            earlier=chain[found.earlier].paper.id,
            later=chain[found.earlier + 1].paper.id,
            entered=found.entered,
            left=found.left,
            text=found.text,
        )
        for found in answer.changes
    ]
    return {"transitions": [transition.model_dump(mode="json") for transition in transitions]}


async def predict_direction(state: BranchState, runtime: Context) -> BranchState:
    """The future direction (Table 13): an open limitation, and a mechanism from chain or neighbours."""
    chain, neighbours = _chain(state), await _neighbours(state, runtime.context)
    found: BranchState = {"neighbours": [paper.model_dump(mode="json") for paper in neighbours]}
    if not runtime.context.options.trend:
        return {**found, "direction": None}
    answer = await FORECASTER(
        runtime.context.door,
        topic=_topic(state).text,
        papers=tuple(chain_paper(link) for link in chain),
        changes=tuple(change(transition) for transition in _transitions(state)),
        entities=_entities(state, runtime.context),
        neighbours=tuple(brief(paper) for paper in neighbours),
    )
    ids = [link.paper.id for link in chain] + [paper.id for paper in neighbours]
    direction = Direction(
        text=answer.direction,
        limitation=answer.limitation,
        limitation_from=ids[answer.limitation_from],
        mechanism=answer.mechanism,
        mechanism_from=ids[answer.mechanism_from],
    )
    return {**found, "direction": direction.model_dump(mode="json")}


async def _neighbours(state: BranchState, context: Services) -> list[Paper]:
    """Papers outside the chain that are near to what its late papers leave open."""
    late = [link.reading for link in _chain(state)[-2:] if link.reading is not None]
    wanted = " ".join(reading.limitation or reading.problem or "" for reading in late) or _topic(state).text
    found = await context.library.search(wanted, NEIGHBOURS + len(state["links"]))
    return [scored.paper for scored in found if scored.paper.id not in _ids(state)][:NEIGHBOURS]


async def draft_idea(state: BranchState, runtime: Context) -> BranchState:
    """Motivation, novelty, method, idea (Tables 14 and 15); a rewrite is told what was too close."""
    papers, numbers = _shown_papers(state)
    answer = await IDEATOR(
        runtime.context.door,
        topic=_topic(state).text,
        papers=papers,
        chain_length=len(state["links"]),
        changes=tuple(change(transition) for transition in _transitions(state)),
        entities=_entities(state, runtime.context),
        direction=_direction_view(state, numbers),
        earlier_title=state["draft"]["title"] if state.get("too_close") else None,
        too_close=tuple(TooClose(**close) for close in state.get("too_close", [])),
    )
    ids = list(numbers)
    sources = [
        Source(
            part=s.part, paper_id=ids[s.paper], quote=honest_quote(s.quote, papers[s.paper].abstract or "")
        )
        for s in answer.sources
    ]
    runtime.context.say(f"idea: {answer.title}")
    draft = answer.model_dump(mode="json", exclude={"sources"})
    return {"draft": {**draft, "sources": [source.model_dump(mode="json") for source in sources]}}


def _shown_papers(state: BranchState) -> tuple[tuple[PaperBrief, ...], dict[str, int]]:
    """The chain as read, then the neighbours; with the number of each id."""
    chain = _chain(state)
    neighbours = [Paper.model_validate(paper) for paper in state["neighbours"]]
    told = [PaperBrief(title=p.title, year=p.year, abstract=p.text) for p in map(chain_paper, chain)]
    ids = [link.paper.id for link in chain] + [paper.id for paper in neighbours]
    return (*told, *map(brief, neighbours)), {paper_id: number for number, paper_id in enumerate(ids)}


def _direction_view(state: BranchState, numbers: dict[str, int]) -> DirectionView | None:
    found = state["direction"]
    if found is None:
        return None
    direction = Direction.model_validate(found)
    return DirectionView(
        text=direction.text,
        limitation=direction.limitation,
        limitation_from=numbers[direction.limitation_from],
        mechanism=direction.mechanism,
        mechanism_from=numbers[direction.mechanism_from],
    )


async def judge_novelty(state: BranchState, runtime: Context) -> BranchState:
    """Compare the draft with what the library holds on it and on its facets (Table 16)."""
    before = state.get("novelty_check") or {"rounds": -1}
    rounds = int(before["rounds"]) + 1
    check, too_close = await check_novelty(runtime.context, _topic(state), state["draft"], rounds)
    told = {
        "novel": "no paper too close",
        "too_close": f"too close to {len(too_close)}",
        "unchecked": "unchecked",
    }
    runtime.context.say(f"novelty: {told[check.status]}")
    known = state.get("too_close", [])
    fresh = [close for close in too_close if close["title"] not in {old["title"] for old in known}]
    return {"novelty_check": check.model_dump(mode="json"), "too_close": [*known, *fresh]}


def after_novelty(state: BranchState, runtime: Context) -> str:
    """Rewrite while a paper is too close and the bound allows."""
    check = state["novelty_check"]
    again = check["status"] == "too_close" and check["rounds"] < runtime.context.options.rewrites
    return "draft_idea" if again else END


def _topic(state: BranchState) -> Topic:
    return Topic.model_validate(state["topic"])


def _ids(state: BranchState) -> set[str]:
    return {link["paper"]["id"] for link in state["links"]}


def _chain(state: BranchState) -> list[Link]:
    """The links from early to late, each with its reading where there is one."""
    readings = state.get("readings", {})
    links = [
        Link.model_validate({**link, "reading": readings.get(link["paper"]["id"])}) for link in state["links"]
    ]
    return sorted(links, key=lambda link: link.position)


def _transitions(state: BranchState) -> list[Transition]:
    return [Transition.model_validate(transition) for transition in state["transitions"]]


def _entities(state: BranchState, context: Services) -> tuple[Any, ...]:
    """Entities of the chain's papers; none with the switch off (ablation)."""
    if not context.options.entities:
        return ()
    found = [entity for link in _chain(state) if link.reading for entity in link.reading.entities]
    return tuple(entity_views(found)[:ENTITIES])


def build_branch() -> StateGraph[BranchState, Services, BranchState, BranchState]:
    """The state machine of one branch."""
    graph = StateGraph(BranchState, context_schema=Services)
    for node in (
        place_anchor,
        extend_forward,
        extend_backward,
        grow,
        read_paper,
        analyse_trend,
        predict_direction,
        draft_idea,
        judge_novelty,
    ):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "place_anchor")
    graph.add_edge("place_anchor", "grow")
    graph.add_conditional_edges(
        "grow", next_growth, ["extend_forward", "extend_backward", "read_paper", "analyse_trend"]
    )
    graph.add_edge("extend_forward", "grow")
    graph.add_edge("extend_backward", "grow")
    graph.add_edge("read_paper", "analyse_trend")
    graph.add_edge("analyse_trend", "predict_direction")
    graph.add_edge("predict_direction", "draft_idea")
    graph.add_edge("draft_idea", "judge_novelty")
    graph.add_conditional_edges("judge_novelty", after_novelty, ["draft_idea", END])
    return graph
