"""The trend of a chain and the direction it points to (sections 3.2 and 3.3, Tables 12 and 13)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import cast

from ideagora.agents.chain_of_ideas.forecaster import FORECASTER, Forecast, MechanismSearch, Pairing
from ideagora.agents.chain_of_ideas.trend import TREND_ANALYST
from ideagora.agents.offline_leads.difficulties import find_difficulty_name
from ideagora.agents.offline_leads.leads import NEAREST_ONLY
from ideagora.agents.views import chain_paper, change_view, paper_brief
from ideagora.errors import NoPaperRead
from ideagora.graphs.chain_of_ideas.leads import NEIGHBOURS as LEAD_NEIGHBOURS
from ideagora.graphs.chain_of_ideas.leads import find_citation
from ideagora.graphs.chain_of_ideas.loading import (
    link_ids,
    load_links,
    load_topic,
    load_transitions,
    shown_entities,
)
from ideagora.graphs.chain_of_ideas.records import Cure, LeadPair
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    ChainTask,
    Context,
    IdeationState,
    branch_update,
    live_chains,
)
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.reading import read_papers
from ideagora.graphs.steps.literature.topic_similarity import related_to_topic
from ideagora.graphs.steps.near_search import NEAR_MECHANISM, search_near
from ideagora.graphs.steps.steering import nearest_records
from ideagora.schema import (
    ConsideredLimitation,
    ConsideredPairing,
    Direction,
    Link,
    Paper,
    Topic,
    Transition,
    deserialize,
    serialize,
)

NEIGHBOURS = 4
"""Papers outside the chain that the forecaster and the ideator are shown."""
RECALLED = 3
"""Papers that the search for a mechanism stated from memory adds for the ideator."""
OWN_NOTES = 2
"""Of these, the user's own ideas and notes that are shown if there are any (--like)."""


async def study_chain(state: ChainTask, runtime: Context) -> IdeationState:
    """Read the papers of a chain, and describe what changed from each to the next (Tables 10 to 12)."""
    return await branch_update(state, runtime.context, _study(state, runtime.context))


async def _study(task: ChainTask, context: Services) -> BranchState:
    chain, topic = task["chain"], load_topic(task)
    tried = {**chain.get("readings", {}), **chain.get("unread", {})}
    unread = [link.paper for link in load_links(chain) if link.paper.id not in tried]
    read = await read_papers(context, topic, unread)
    update: BranchState = {"readings": read.serialized, "unread": read.unread}
    studied: BranchState = {
        **chain,
        "readings": {**chain.get("readings", {}), **update["readings"]},
        "unread": {**chain.get("unread", {}), **update["unread"]},
    }
    update |= await _analyse_trend(studied, topic, context)
    if not context.makes_leads:
        queries = cure_queries(update, context)
        context.library.prefetch(searches=queries, k=_most_found(chain))  # while other chains are studied
    return update


async def _analyse_trend(chain: BranchState, topic: Topic, context: Services) -> BranchState:
    """What changed between neighbours of the chain, and searches for what could come next, in one call."""
    links = load_links(chain)
    if not any(link.reading for link in links):
        raise NoPaperRead(" ".join(dict.fromkeys(chain.get("unread", {}).values())))
    if not context.options.chain or len(links) < 2:
        return {"transitions": [], "cures": []}
    answer = await TREND_ANALYST(
        context.client,
        topic=topic.text,
        papers=tuple(chain_paper(link) for link in links),
        entities=shown_entities(chain, context),
    )
    transitions = [
        Transition(
            earlier=links[change.earlier].paper.id,
            later=links[change.earlier + 1].paper.id,
            entered=change.entered,
            left=change.left,
            text=change.text,
        )
        for change in answer.changes
    ]
    return {
        "transitions": [serialize(transition) for transition in transitions],
        "cures": [cast("Cure", cure.model_dump()) for cure in answer.cures],
    }


async def find_cures(state: IdeationState, runtime: Context) -> IdeationState:
    """Search for mechanisms that could answer what each chain leaves open.

    Papers that another branch has, in its chain or from these searches, come last; leads are made across
    branches, so they leave the order as it is.
    """
    chains, makes_leads = live_chains(state), runtime.context.makes_leads
    in_chains = {str(chain["branch"]): link_ids(chain) for chain in chains}
    found = await asyncio.gather(*(find_neighbours(state, chain, runtime.context) for chain in chains))
    most = LEAD_NEIGHBOURS if makes_leads else NEIGHBOURS
    shown: set[str] = set()
    updates: dict[str, BranchState] = {}
    for (number, own), hits in zip(in_chains.items(), found, strict=True):
        papers = _alternate(hits.values())
        elsewhere = shown.union(*(ids for other, ids in in_chains.items() if other != number))
        notes = await _own_notes(state, state["chains"][number], runtime.context)
        free = [paper for paper in papers if paper.id not in {*own, *(note.id for note in notes)}]
        last = () if makes_leads else elsewhere
        free = sorted(free, key=lambda paper: paper.id in last)
        chosen = [*(note for note in notes if note.id not in own), *free][:most]
        shown |= {paper.id for paper in chosen}
        updates[number] = {
            "neighbours": [serialize(paper) for paper in chosen],
            "pool": [paper.id for paper in papers],
            "cures": [
                {**cure, "found": [paper.id for paper in hits.get(cure["query"], ())]}
                for cure in state["chains"][number].get("cures", [])
            ],
        }
    return {"chains": updates}


async def _own_notes(state: IdeationState, chain: BranchState, context: Services) -> list[Paper]:
    """The user's own notes that are closest to a chain: they stand beside every chain."""
    about = " ".join([chain["query"], *(link.paper.title for link in load_links(chain))])
    return await nearest_records(context, load_topic(state).own, about, OWN_NOTES)


def cure_queries(chain: BranchState, context: Services) -> list[str]:
    """The searches for mechanisms of a chain."""
    return [cure["query"] for cure in chain.get("cures", []) if context.options.cures]


def _most_found(chain: BranchState) -> int:
    """Papers that a search for a mechanism returns; the chain's own are left out afterwards."""
    return 2 * NEIGHBOURS + len(chain["links"])


async def find_neighbours(
    state: IdeationState, chain: BranchState, context: Services
) -> dict[str, list[Paper]]:
    """Papers by query: what the searches for mechanisms find that is close to them.

    A chain without such searches, and the offline model, search for the topic and the open limitations too.
    """
    topic = load_topic(state)
    readings = [link.reading for link in load_links(chain) if link.reading is not None]
    limitations = [reading.limitation or reading.problem or "" for reading in readings]
    queries = cure_queries(chain, context)
    count = LEAD_NEIGHBOURS + len(chain["links"]) if context.makes_leads else _most_found(chain)
    if queries and not context.makes_leads:
        near = await asyncio.gather(
            *(search_near(context.library, query, count, NEAR_MECHANISM) for query in queries)
        )
        return dict(zip(queries, near, strict=True))
    others = (
        [topic.text, *limitations, *queries]
        if context.makes_leads
        else [" ".join(limitations[-2:]).strip(), topic.text]
    )
    queries = list(filter(None, others))
    lists = await asyncio.gather(*(context.library.search(query, count) for query in queries))
    found = {query: [scored.paper for scored in row] for query, row in zip(queries, lists, strict=True)}
    if not context.makes_leads:
        return found
    return {query: await related_to_topic(context.library, topic, papers) for query, papers in found.items()}


def _alternate(lists: Iterable[Sequence[Paper]]) -> list[Paper]:
    """The papers of all lists, each once, the best of every list in turn."""
    found = {paper.id: paper for row in zip_longest(*lists) for paper in row if paper is not None}
    return list(found.values())


async def predict_direction(state: BranchState, runtime: Context) -> BranchState:
    """The future direction (Table 13): an open limitation, and a mechanism that could address it."""
    chain = load_links(state)
    neighbours = [deserialize(Paper, paper) for paper in state["neighbours"]]
    if not runtime.context.options.trend and not runtime.context.makes_leads:
        return {"direction": None, "pairs": []}
    options = runtime.context.options
    ids = [link.paper.id for link in chain] + [paper.id for paper in neighbours]
    searches = _searches(state, ids) if options.cures else ()
    answer = await FORECASTER(
        runtime.context.client,
        topic=load_topic(state).text,
        papers=tuple(chain_paper(link) for link in chain),
        changes=tuple(change_view(transition) for transition in load_transitions(state)),
        entities=shown_entities(state, runtime.context),
        neighbours=tuple(paper_brief(paper) for paper in neighbours),
        searches=searches,
        focus=load_topic(state).focus,
        memory=options.memory,
    )
    pairs = []
    if runtime.context.makes_leads:
        pairs = [await _lead_pair(runtime.context, chain, neighbours, pairing) for pairing in answer.pairings]
    direction = direction_record(answer, ids, searches)
    recalled = await _search_recalled(runtime.context, direction)
    direction = direction.model_copy(update={"mechanism_found": tuple(paper.id for paper in recalled)})
    new = [paper for paper in recalled if paper.id not in ids]
    return {
        "direction": serialize(direction),
        "neighbours": [*state["neighbours"], *(serialize(paper) for paper in new)],
        "pairs": pairs,
    }


def _searches(state: BranchState, ids: Sequence[str]) -> tuple[MechanismSearch, ...]:
    """The searches for mechanisms, with the numbers of the papers that they found among those shown."""
    return tuple(
        MechanismSearch(
            query=cure["query"],
            found=tuple(number for number, paper_id in enumerate(ids) if paper_id in cure.get("found", ())),
        )
        for cure in state.get("cures", [])
    )


async def _search_recalled(context: Services, direction: Direction) -> list[Paper]:
    """Papers that have the mechanism, if it was stated from memory: the ideator is shown them."""
    if direction.mechanism_query is None:
        return []
    papers = await search_near(context.library, direction.mechanism_query, RECALLED, NEAR_MECHANISM)
    context.say(f"from memory: {direction.mechanism_query} ({len(papers)} papers found)")
    return papers


def direction_record(answer: Forecast, ids: Sequence[str], searches: Sequence[MechanismSearch]) -> Direction:
    """The forecast with the ids of papers in place of their numbers."""

    def paper_id(number: int | None) -> str | None:
        return ids[number] if number is not None and 0 <= number < len(ids) else None

    return Direction(
        text=answer.direction,
        limitation=answer.limitation,
        limitation_from=ids[answer.limitation_from],
        mechanism=answer.mechanism,
        mechanism_from=paper_id(answer.mechanism_from),
        limitations=tuple(
            ConsideredLimitation(
                paper=ids[weak.paper],
                limitation=weak.limitation,
                answered_by=paper_id(weak.answered_by),
            )
            for weak in answer.limitations
            if paper_id(weak.paper)
        ),
        pairings=tuple(
            ConsideredPairing(
                limitation_from=ids[pairing.limitation_from],
                mechanism=pairing.mechanism,
                mechanism_from=paper_id(pairing.mechanism_from),
                way=pairing.way,
                why=pairing.why,
            )
            for pairing in answer.pairings
        ),
        searches=tuple(search.query for search in searches),
        nothing_found=tuple(search.query for search in searches if not search.found),
        mechanism_query=(answer.mechanism_query or answer.mechanism)
        if answer.mechanism_from is None
        else None,
    )


async def _lead_pair(
    context: Services, chain: list[Link], neighbours: list[Paper], pairing: Pairing
) -> LeadPair:
    """A limitation and a mechanism, with everything that ``make_lead`` needs."""
    weak, strong = pairing.limitation_from, pairing.mechanism_from
    assert strong is not None, "the offline model has no memory"
    papers = [*(link.paper for link in chain), *neighbours]
    readings = [*(link.reading for link in chain), *(None for _ in neighbours)]
    weak_reading, strong_reading = readings[weak], readings[strong]
    return {
        "weak": papers[weak].id,
        "strong": papers[strong].id,
        "limitation": weak_reading.limitation if weak_reading else None,
        "method": strong_reading.method if strong_reading else None,
        "limitation_paper": serialize(papers[weak]),
        "mechanism_paper": serialize(papers[strong]),
        "chain": [serialize(link.paper) for link in chain],
        "good": pairing.why != NEAREST_ONLY,
        "kind": find_difficulty_name(pairing.why),
        "cites": await find_citation(context, papers[weak], papers[strong]),
    }
