"""One branch of Chain-of-Ideas: a chain around an anchor, its trend, and an idea (sections 3.2, 3.3).

The chain grows forward and backward side by side, one paper a step on each side. Reading is put off
to one side-by-side step, except where the way back needs it: the references come from reading.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.idea_inputs import DirectionView, EarlierDraft, TooClose
from ideagora.agents.ideator import FORECASTER, IDEATOR, Pairing
from ideagora.agents.literature import READER, RELEVANCE_JUDGE
from ideagora.agents.offline_leads.difficulties import find_difficulty_name
from ideagora.agents.offline_leads.leads import NEAREST_ONLY
from ideagora.agents.text.quotes import is_quoted, verify_quote
from ideagora.agents.trend import TREND_ANALYST
from ideagora.agents.views import PaperBrief, ShownPaper, chain_paper, change_view, entity_views, paper_brief
from ideagora.errors import IdeagoraError, NoPaperRead
from ideagora.graphs.chain_of_ideas.leads import NEIGHBOURS as LEAD_NEIGHBOURS
from ideagora.graphs.chain_of_ideas.leads import who_cites
from ideagora.graphs.chain_of_ideas.novelty import check_novelty
from ideagora.graphs.chain_of_ideas.options import CANDIDATES, MILESTONE_CITATIONS
from ideagora.graphs.chain_of_ideas.topic_similarity import related_to_topic
from ideagora.graphs.services import Services
from ideagora.models.offline.text import clip
from ideagora.schema import (
    Direction,
    DroppedDraft,
    Entity,
    Link,
    NoveltyCheck,
    Paper,
    Reading,
    Source,
    Topic,
    Transition,
)

OWN_WORDS = 2_500
"""Characters of a paper's own text that the ideator is shown beside its retelling."""

REFERENCE_WORDS = 30
"""Words of each reference's abstract that the reader is shown."""

READ_CHARACTERS = 48_000
"""Some 12,000 tokens: what the reader is shown of a paper at most."""

SHOWN_REFERENCES = 30
NEIGHBOURS = 4

ENTITIES = 20


def with_new(links: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The links with those of further papers: both sides may come upon one paper in the same step."""
    known = {link["paper"]["id"] for link in links}
    return [*links, *(link for link in more if link["paper"]["id"] not in known)]


class BranchState(TypedDict, total=False):
    """Plain values only: this is what a checkpoint holds."""

    topic: dict[str, Any]
    branch: int
    query: str
    anchor: dict[str, Any]
    anchor_reason: str
    links: Annotated[list[dict[str, Any]], with_new]
    readings: Annotated[dict[str, Any], operator.or_]
    unread: Annotated[dict[str, str], operator.or_]
    """Why a paper could not be read, by its id."""
    stopped: Annotated[dict[str, str], operator.or_]
    transitions: list[dict[str, Any]]
    direction: dict[str, Any] | None
    pairs: list[dict[str, Any]]
    """Limitations with mechanisms that may meet them, best first, when leads are wanted."""
    neighbours: list[dict[str, Any]]
    draft: dict[str, Any]
    novelty_check: dict[str, Any]
    dropped: list[dict[str, Any]]
    """Drafts that were too close to a paper, with the papers."""
    avoided: list[dict[str, Any]]
    """The papers that a draft was too close to, in the order in which they were met."""
    paper: dict[str, Any]
    """Set only in the input of a ``read_paper`` task."""


Context = Runtime[Services]


async def place_anchor(state: BranchState, runtime: Context) -> BranchState:
    """The anchor opens the chain; without the chain (ablation) the retrieved papers stand beside it."""
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
        runtime.context.client,
        topic=topic.text,
        papers=tuple(paper_brief(paper) for paper in shown),
        cited=paper_brief(tip),
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
    found, follow = await _read(runtime.context, _topic(state), tip, references)
    if "unread" in found:
        return {**found, "stopped": {"backward": f"{tip.title} could not be read"}}
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
    tried = {**state.get("readings", {}), **state.get("unread", {})}
    unread = [link for link in _chain(state) if link.paper.id not in tried]
    if not unread:
        return ["analyse_trend"]
    paper = [link.paper.model_dump(mode="json") for link in unread]
    bare = {**state, "links": [], "readings": {}, "unread": {}}
    return [Send("read_paper", {**bare, "paper": one}) for one in paper]


async def read_paper(state: BranchState, runtime: Context) -> BranchState:
    """Read one paper of the chain that nobody had to read for its references."""
    paper = Paper.model_validate(state["paper"])
    found, _ = await _read(runtime.context, _topic(state), paper, [])
    return found


async def _read(
    context: Services, topic: Topic, paper: Paper, references: list[Paper]
) -> tuple[BranchState, list[tuple[int, str]]]:
    """The reading of a paper and which references to follow; what fails costs this reading only."""
    try:
        reading, follow = await _reading(context, topic, paper, references)
    except IdeagoraError as error:
        if error.fatal:
            raise
        context.say(f"not read: {paper.title} ({error})")
        return {"unread": {paper.id: str(error)}}, []
    return {"readings": {paper.id: reading.model_dump(mode="json")}}, follow


async def _reading(
    context: Services, topic: Topic, paper: Paper, references: list[Paper]
) -> tuple[Reading, list[tuple[int, str]]]:
    text, kind = await context.library.read(paper)
    answer = await READER(
        context.client,
        topic=topic.text,
        title=paper.title,
        kind=kind,
        text=text[:READ_CHARACTERS],
        references=tuple(_reference(reference) for reference in references),
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
    return reading, [(r.paper, r.reason) for r in answer.references]


def _reference(paper: Paper) -> PaperBrief:
    abstract = clip(paper.abstract, REFERENCE_WORDS) if paper.abstract else None
    return PaperBrief(title=paper.title, year=paper.year, abstract=abstract)


async def analyse_trend(state: BranchState, runtime: Context) -> BranchState:
    """What changed between each two neighbours (Table 12); one call for the whole chain."""
    chain = _chain(state)
    if not any(link.reading for link in chain):
        raise NoPaperRead(" ".join(dict.fromkeys(state.get("unread", {}).values())))
    if not runtime.context.options.chain or len(chain) < 2:
        return {"transitions": []}
    answer = await TREND_ANALYST(
        runtime.context.client,
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
    found["pairs"] = []
    if not runtime.context.options.trend and not runtime.context.makes_leads:
        return {**found, "direction": None}
    answer = await FORECASTER(
        runtime.context.client,
        topic=_topic(state).text,
        papers=tuple(chain_paper(link) for link in chain),
        changes=tuple(change_view(transition) for transition in _transitions(state)),
        entities=_entities(state, runtime.context),
        neighbours=tuple(paper_brief(paper) for paper in neighbours),
    )
    ids = [link.paper.id for link in chain] + [paper.id for paper in neighbours]
    direction = Direction(
        text=answer.direction,
        limitation=answer.limitation,
        limitation_from=ids[answer.limitation_from],
        mechanism=answer.mechanism,
        mechanism_from=ids[answer.mechanism_from],
    )
    if runtime.context.makes_leads:
        found["pairs"] = [await _pair(runtime.context, chain, neighbours, one) for one in answer.pairings]
    return {**found, "direction": direction.model_dump(mode="json")}


async def _pair(
    context: Services, chain: list[Link], neighbours: list[Paper], pairing: Pairing
) -> dict[str, Any]:
    """A limitation and a mechanism, with what a lead is made of."""
    weak, strong = pairing.limitation_from, pairing.mechanism_from
    papers = [*(link.paper for link in chain), *neighbours]
    readings = [*(link.reading for link in chain), *(None for _ in neighbours)]
    reading, other = readings[weak], readings[strong]
    return {
        "weak": papers[weak].id,
        "strong": papers[strong].id,
        "limitation": reading.limitation if reading else None,
        "method": other.method if other else None,
        "limitation_paper": papers[weak].model_dump(mode="json"),
        "mechanism_paper": papers[strong].model_dump(mode="json"),
        "chain": [link.paper.model_dump(mode="json") for link in chain],
        "good": pairing.why != NEAREST_ONLY,
        "kind": find_difficulty_name(pairing.why),
        "cites": await who_cites(context, papers[weak], papers[strong]),
    }


def after_direction(state: BranchState, runtime: Context) -> str:
    """Leads are made of the pairs of all branches together, so here a branch ends."""
    return END if runtime.context.makes_leads else "draft_idea"


async def _neighbours(state: BranchState, context: Services) -> list[Paper]:
    """Papers outside the chain: near to what its late papers leave open, and near to the topic, in turn."""
    read = [link.reading for link in _chain(state) if link.reading is not None]
    left_open = [reading.limitation or reading.problem or "" for reading in read]
    most = LEAD_NEIGHBOURS if context.makes_leads else NEIGHBOURS
    count = most + len(state["links"])
    asked = (
        [_topic(state).text, *left_open]
        if context.makes_leads
        else [" ".join(left_open[-2:]).strip(), _topic(state).text]
    )
    queries = [query for query in asked if query]
    lists = [await context.library.search(query, count) for query in queries]
    met = _ids(state)
    found: dict[str, Paper] = {}
    for place in range(count):
        for ranked in lists:
            if place < len(ranked) and ranked[place].paper.id not in met:
                found.setdefault(ranked[place].paper.id, ranked[place].paper)
    return (await related_to_topic(context.library, _topic(state), list(found.values())))[:most]


async def draft_idea(state: BranchState, runtime: Context) -> BranchState:
    """Motivation, method, novelty, idea (Tables 14 and 15); a rewrite is told what was too close."""
    shown = await _shown_papers(state, runtime.context)
    numbers = {paper_id: number for number, paper_id in enumerate(shown)}
    papers = tuple(shown.values())
    answer = await IDEATOR(
        runtime.context.client,
        topic=_topic(state).text,
        papers=papers,
        chain_length=len(state["links"]),
        changes=tuple(change_view(transition) for transition in _transitions(state)),
        entities=_entities(state, runtime.context),
        direction=_direction_view(state, numbers),
        earlier=_earlier(state),
        too_close=_too_close(state, numbers),
    )
    runtime.context.say(f"idea: {answer.title}")
    sources = [_source(s.part, list(shown)[s.paper], s.quote, papers[s.paper]) for s in answer.sources]
    draft = answer.model_dump(mode="json", exclude={"sources"})
    return {"draft": {**draft, "sources": [source.model_dump(mode="json") for source in sources]}}


def _earlier(state: BranchState) -> EarlierDraft | None:
    drafts = state.get("dropped", [])
    return EarlierDraft(title=drafts[-1]["title"], summary=drafts[-1]["summary"]) if drafts else None


def _too_close(state: BranchState, numbers: dict[str, int]) -> tuple[TooClose, ...]:
    """Every paper that a draft was too close to, once."""
    close = {one["paper_id"]: one for draft in state.get("dropped", []) for one in draft["too_close"]}
    return tuple(
        TooClose(paper=numbers[paper_id], title=one["title"], overlap=one["overlap"])
        for paper_id, one in close.items()
    )


def _source(part: str, paper_id: str, quote: str, paper: ShownPaper) -> Source:
    text = f"{paper.title} {paper.abstract or ''}"
    return Source(
        part=part, paper_id=paper_id, quote=verify_quote(quote, text), verbatim=is_quoted(quote, text)
    )


async def _shown_papers(state: BranchState, context: Services) -> dict[str, ShownPaper]:
    """By id: the chain with its retellings, the neighbours, the papers that a draft was too close to."""
    chain = _chain(state)
    retold = {link.paper.id: chain_paper(link).text for link in chain}
    beside = [Paper.model_validate(paper) for paper in (*state["neighbours"], *state.get("avoided", []))]
    shown: dict[str, ShownPaper] = {}
    for paper in (*(link.paper for link in chain), *beside):
        text, kind = await context.library.text(paper)
        own = None if kind == "title" else text[:OWN_WORDS]
        shown.setdefault(
            paper.id,
            ShownPaper(title=paper.title, year=paper.year, abstract=own, retelling=retold.get(paper.id)),
        )
    return shown


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
    """Compare the draft with its own sources and with what the library holds on it (Table 16)."""
    dropped = tuple(DroppedDraft.model_validate(draft) for draft in state.get("dropped", []))
    known = await _sources_of(state, runtime.context)
    check = await check_novelty(runtime.context, _topic(state), state["draft"], known, dropped)
    told = {"novel": "no paper too close", "too_close": "too close to a paper", "unchecked": "unchecked"}
    runtime.context.say(f"novelty: {told[check.status]}")
    return {"novelty_check": check.model_dump(mode="json")}


async def _sources_of(state: BranchState, context: Services) -> list[Paper]:
    """The papers that the draft rests on, and those that an earlier draft was too close to."""
    direction = state["direction"]
    pair = [direction["limitation_from"], direction["mechanism_from"]] if direction else []
    named = [source["paper_id"] for source in state["draft"]["sources"]]
    avoided = [paper["id"] for paper in state.get("avoided", [])]
    return await _papers(dict.fromkeys([*pair, *named, *avoided]), context)


async def _papers(ids: Iterable[str], context: Services) -> list[Paper]:
    found = [await context.library.paper(paper_id) for paper_id in ids]
    return [paper for paper in found if paper is not None]


async def drop_draft(state: BranchState, runtime: Context) -> BranchState:
    """Put a draft that was too close aside, with the papers, for the rewrite and for the report."""
    check = NoveltyCheck.model_validate(state["novelty_check"])
    close = tuple(one for one in check.closest if one.too_close)
    draft = DroppedDraft(title=state["draft"]["title"], summary=state["draft"]["summary"], too_close=close)
    avoided = state.get("avoided", [])
    met = {paper["id"] for paper in avoided}
    papers = await _papers((one.paper_id for one in close if one.paper_id not in met), runtime.context)
    return {
        "dropped": [*state.get("dropped", []), draft.model_dump(mode="json")],
        "avoided": [*avoided, *(paper.model_dump(mode="json") for paper in papers)],
    }


def after_novelty(state: BranchState, runtime: Context) -> str:
    """Rewrite while a paper is too close and the bound allows."""
    check = state["novelty_check"]
    again = check["status"] == "too_close" and check["rounds"] < runtime.context.options.rewrites
    return "drop_draft" if again else END


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
        drop_draft,
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
    graph.add_conditional_edges("predict_direction", after_direction, ["draft_idea", END])
    graph.add_edge("draft_idea", "judge_novelty")
    graph.add_conditional_edges("judge_novelty", after_novelty, ["drop_draft", END])
    graph.add_edge("drop_draft", "draft_idea")
    return graph
