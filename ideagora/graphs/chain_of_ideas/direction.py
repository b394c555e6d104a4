"""The trend of a chain and the direction it points to (sections 3.2 and 3.3, Tables 12 and 13)."""

from __future__ import annotations

from typing import Any

from ideagora.agents.forecaster import FORECASTER, Pairing
from ideagora.agents.offline_leads.difficulties import find_difficulty_name
from ideagora.agents.offline_leads.leads import NEAREST_ONLY
from ideagora.agents.trend import TREND_ANALYST
from ideagora.agents.views import chain_paper, change_view, paper_brief
from ideagora.errors import NoPaperRead
from ideagora.graphs.chain_of_ideas.leads import NEIGHBOURS as LEAD_NEIGHBOURS
from ideagora.graphs.chain_of_ideas.leads import find_citation
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    Context,
    link_ids,
    load_links,
    load_topic,
    load_transitions,
    shown_entities,
)
from ideagora.graphs.services import Services
from ideagora.graphs.steps.topic_similarity import related_to_topic
from ideagora.schema import Direction, Link, Paper, Transition

NEIGHBOURS = 4
"""Papers outside the chain that the forecaster and the ideator are shown."""


async def analyse_trend(state: BranchState, runtime: Context) -> BranchState:
    """What changed between neighbours of the chain (Table 12), in one call for the whole chain."""
    chain = load_links(state)
    if not any(link.reading for link in chain):
        raise NoPaperRead(" ".join(dict.fromkeys(state.get("unread", {}).values())))
    if not runtime.context.options.chain or len(chain) < 2:
        return {"transitions": []}
    answer = await TREND_ANALYST(
        runtime.context.client,
        topic=load_topic(state).text,
        papers=tuple(chain_paper(link) for link in chain),
        entities=shown_entities(state, runtime.context),
    )
    transitions = [
        Transition(
            earlier=chain[change.earlier].paper.id,
            later=chain[change.earlier + 1].paper.id,
            entered=change.entered,
            left=change.left,
            text=change.text,
        )
        for change in answer.changes
    ]
    return {"transitions": [transition.model_dump(mode="json") for transition in transitions]}


async def predict_direction(state: BranchState, runtime: Context) -> BranchState:
    """The future direction (Table 13): an open limitation, and a mechanism from chain or neighbours."""
    chain, neighbours = load_links(state), await find_neighbours(state, runtime.context)
    update: BranchState = {"neighbours": [paper.model_dump(mode="json") for paper in neighbours]}
    update["pairs"] = []
    if not runtime.context.options.trend and not runtime.context.makes_leads:
        return {**update, "direction": None}
    answer = await FORECASTER(
        runtime.context.client,
        topic=load_topic(state).text,
        papers=tuple(chain_paper(link) for link in chain),
        changes=tuple(change_view(transition) for transition in load_transitions(state)),
        entities=shown_entities(state, runtime.context),
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
        update["pairs"] = [
            await _lead_pair(runtime.context, chain, neighbours, pairing) for pairing in answer.pairings
        ]
    return {**update, "direction": direction.model_dump(mode="json")}


async def find_neighbours(state: BranchState, context: Services) -> list[Paper]:
    """Papers outside the chain, alternately close to the chain's open limitations and to the topic."""
    topic = load_topic(state)
    readings = [link.reading for link in load_links(state) if link.reading is not None]
    limitations = [reading.limitation or reading.problem or "" for reading in readings]
    if context.makes_leads:
        most, queries = LEAD_NEIGHBOURS, [topic.text, *limitations]
    else:
        most, queries = NEIGHBOURS, [" ".join(limitations[-2:]).strip(), topic.text]
    count = most + len(state["links"])
    lists = [await context.library.search(query, count) for query in queries if query]
    in_chain = link_ids(state)
    found: dict[str, Paper] = {}
    for place in range(count):
        for ranked in lists:
            if place < len(ranked) and ranked[place].paper.id not in in_chain:
                found.setdefault(ranked[place].paper.id, ranked[place].paper)
    return (await related_to_topic(context.library, topic, list(found.values())))[:most]


async def _lead_pair(
    context: Services, chain: list[Link], neighbours: list[Paper], pairing: Pairing
) -> dict[str, Any]:
    """A limitation and a mechanism, with everything that ``make_lead`` needs."""
    weak, strong = pairing.limitation_from, pairing.mechanism_from
    papers = [*(link.paper for link in chain), *neighbours]
    readings = [*(link.reading for link in chain), *(None for _ in neighbours)]
    weak_reading, strong_reading = readings[weak], readings[strong]
    return {
        "weak": papers[weak].id,
        "strong": papers[strong].id,
        "limitation": weak_reading.limitation if weak_reading else None,
        "method": strong_reading.method if strong_reading else None,
        "limitation_paper": papers[weak].model_dump(mode="json"),
        "mechanism_paper": papers[strong].model_dump(mode="json"),
        "chain": [link.paper.model_dump(mode="json") for link in chain],
        "good": pairing.why != NEAREST_ONLY,
        "kind": find_difficulty_name(pairing.why),
        "cites": await find_citation(context, papers[weak], papers[strong]),
    }
