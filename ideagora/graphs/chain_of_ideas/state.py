"""State and task payloads of Chain-of-Ideas, and the records they hold.

A checkpoint holds plain JSON values only, so states keep records as dicts; the functions here
validate them where a step needs the record.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, TypedDict, cast

from langgraph.runtime import Runtime

from ideagora.agents.views import EntityView, entity_views
from ideagora.errors import IdeagoraError
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schema import Chain, Direction, Link, Paper, Topic, Transition

Context = Runtime[Services]

MAX_ENTITIES = 8
"""Entities that the trend analyst, the forecaster and the ideator are shown."""


class Anchor(TypedDict):
    """The paper that a branch starts from."""

    branch: int
    query: str
    """The query that found the paper."""
    paper: dict[str, Any]
    reason: str


def merge_links(links: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Append links to new papers; both sides of a chain may find the same paper in one step."""
    known = {link["paper"]["id"] for link in links}
    return [*links, *(link for link in more if link["paper"]["id"] not in known)]


class BranchState(TypedDict, total=False):
    """State of one branch."""

    topic: dict[str, Any]
    branch: int
    query: str
    anchor: dict[str, Any]
    links: Annotated[list[dict[str, Any]], merge_links]
    readings: Annotated[dict[str, Any], operator.or_]
    unread: Annotated[dict[str, str], operator.or_]
    """Why a paper could not be read, by paper id."""
    stopped: Annotated[dict[str, str], operator.or_]
    pool: list[str]
    """Ids of papers near the chain, which its idea is compared with; each once."""
    proposed: dict[str, list[dict[str, Any]]]
    """Papers that may extend the chain, best first, by side."""
    transitions: list[dict[str, Any]]
    cures: list[dict[str, Any]]
    """Searches for mechanisms that could answer what is open."""
    direction: dict[str, Any] | None
    pairs: list[dict[str, Any]]
    """Limitations with mechanisms that may address them, best first; only when leads are made."""
    neighbours: list[dict[str, Any]]
    draft: dict[str, Any]
    novelty_check: dict[str, Any]
    dropped: list[dict[str, Any]]
    """Drafts that were too close to a paper, with those papers."""
    taken: list[dict[str, Any]]
    """Ideas of other branches that the next draft must not repeat (``TakenIdea``)."""
    avoided: list[dict[str, Any]]
    """The papers that a draft was too close to, in the order in which they were found."""


def merge_chains(chains: dict[str, BranchState], updates: dict[str, BranchState]) -> dict[str, BranchState]:
    """Apply updates of chains: links are appended, readings and reasons added, other values replaced."""
    merged = dict(chains)
    for number, update in updates.items():
        chain = cast(dict[str, Any], merged.get(number, {}))
        new = {**chain, **update}
        if "links" in update:
            new["links"] = merge_links(chain.get("links", []), update["links"])
        new["pool"] = list(dict.fromkeys([*chain.get("pool", []), *update.get("pool", [])]))
        for name in ("readings", "unread", "stopped"):
            new[name] = {**chain.get(name, {}), **cast(dict[str, Any], update).get(name, {})}
        merged[number] = cast(BranchState, new)
    return merged


class BranchLabel(TypedDict):
    """What the events of a branch's steps are labelled with."""

    branch: int
    query: str


class ChainTask(TypedDict):
    """Payload of the steps of one branch."""

    topic: dict[str, Any]
    anchored: BranchLabel
    chain: BranchState


class GrowthTask(ChainTask):
    """Payload of ``extend_chain``."""

    sides: list[str]
    """The sides to extend: ``forward``, ``backward``."""
    taken: list[str]
    """Ids of the papers that stand in a chain."""


class DraftPair(TypedDict):
    """Two branches with their drafts, in the order in which the judge sees them."""

    first: dict[str, Any]
    second: dict[str, Any]


class PairTask(TypedDict):
    """Payload of ``judge_pair``."""

    topic: dict[str, Any]
    pair: DraftPair


class LeadTask(TypedDict):
    """Payload of ``make_lead``."""

    topic: dict[str, Any]
    pair: dict[str, Any]
    """A limitation and a mechanism, with their papers."""


class TwinTask(TypedDict):
    """Payload of ``redraft_twin``."""

    topic: dict[str, Any]
    twin: dict[str, Any]
    """The branch whose idea repeats that of an earlier one."""
    same_as: str
    """Title of the repeated idea."""
    taken: list[dict[str, Any]]
    """The ideas of all other branches (``TakenIdea``)."""


class ExperimentTask(TypedDict):
    """Payload of ``plan_experiment``."""

    topic: dict[str, Any]
    place: int
    """Place of the idea in the ranking, from 0."""
    idea: dict[str, Any]
    """The branch of the idea."""


def merge_branches(branches: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The branches by number; a branch that was drafted again replaces the earlier one."""
    merged = {branch["branch"]: branch for branch in (*branches, *more)}
    return [merged[number] for number in sorted(merged)]


class IdeationState(TypedDict, total=False):
    """State of the whole agent."""

    topic: dict[str, Any]
    queries: list[str]
    anchors: list[Anchor]
    unjudged: list[str]
    """Titles of search results that the relevance judge left out, even when asked again."""
    chains: Annotated[dict[str, BranchState], merge_chains]
    """The chains by branch number, as a string."""
    branches: Annotated[list[dict[str, Any]], merge_branches]
    failures: Annotated[list[dict[str, Any]], operator.add]
    duels: Annotated[list[dict[str, Any]], operator.add]
    twins: list[dict[str, Any]]
    """Branches whose idea repeats that of an earlier one."""
    redrafted: Annotated[list[dict[str, Any]], operator.add]
    """Twins that were drafted again, and whether that gave another idea."""
    ranking: list[dict[str, Any]]
    experiments: Annotated[list[dict[str, Any]], operator.add]
    """Experiments with the places of their ideas in the ranking, from 0."""
    pairs: list[dict[str, Any]]
    leads: Annotated[list[dict[str, Any]], operator.add]


def load_topic(state: Mapping[str, Any]) -> Topic:
    """The topic of a state or payload."""
    return Topic.model_validate(state["topic"])


def new_chain(anchor: Anchor) -> BranchState:
    """The chain of a branch, with nothing but its anchor."""
    paper = Paper.model_validate(anchor["paper"])
    link = Link(paper=paper, position=0, reason=anchor["reason"])
    return BranchState(
        branch=anchor["branch"],
        query=anchor["query"],
        anchor=anchor["paper"],
        links=[link.model_dump(mode="json")],
    )


def live_chains(state: IdeationState) -> list[BranchState]:
    """The chains of the branches that have not failed, in order."""
    failed = {failure["branch"] for failure in state.get("failures", [])}
    chains = sorted(state["chains"].values(), key=lambda chain: chain["branch"])
    return [chain for chain in chains if chain["branch"] not in failed]


def chain_task(state: IdeationState, chain: BranchState) -> ChainTask:
    """The payload of a step of one branch."""
    label = BranchLabel(branch=chain["branch"], query=chain["query"])
    return ChainTask(topic=state["topic"], anchored=label, chain=chain)


def load_links(branch: Mapping[str, Any]) -> list[Link]:
    """The links of a branch from early to late, each with its reading if the paper was read."""
    readings = branch.get("readings", {})
    links = [
        Link.model_validate({**link, "reading": readings.get(link["paper"]["id"])})
        for link in branch["links"]
    ]
    return sorted(links, key=lambda link: link.position)


def load_transitions(branch: Mapping[str, Any]) -> list[Transition]:
    """The transitions between neighbours of the chain."""
    return [Transition.model_validate(transition) for transition in branch["transitions"]]


def load_chain(branch: Mapping[str, Any], direction: Direction | None) -> Chain:
    """The chain of a finished branch."""
    return Chain(
        query=branch["query"],
        anchor=branch["anchor"]["id"],
        links=tuple(load_links(branch)),
        transitions=tuple(load_transitions(branch)),
        direction=direction,
        stopped=branch.get("stopped", {}),
        topic_similarity=branch.get("topic_similarity"),
    )


def load_entities(branch: Mapping[str, Any], context: Services) -> tuple[EntityView, ...]:
    """The entities of the chain's papers; empty when entities are switched off (ablation)."""
    if not context.options.entities:
        return ()
    readings = (link.reading for link in load_links(branch))
    return tuple(entity_views(entity for reading in readings if reading for entity in reading.entities))


def shown_entities(branch: Mapping[str, Any], context: Services) -> tuple[EntityView, ...]:
    """The first entities of the chain's papers, as many as a prompt shows."""
    return load_entities(branch, context)[:MAX_ENTITIES]


def link_ids(branch: Mapping[str, Any]) -> set[str]:
    """Ids of the papers in the chain."""
    return {link["paper"]["id"] for link in branch["links"]}


async def branch_update(task: ChainTask, context: Services, step: Awaitable[BranchState]) -> IdeationState:
    """Do a step of one branch; its failure is recorded and the others continue."""
    number, query = task["anchored"]["branch"], task["anchored"]["query"]
    with usage_label(f"branch {number}"):
        try:
            return {"chains": {str(number): await step}}
        except IdeagoraError as error:
            if error.fatal:  # it concerns the whole run
                raise
            context.say(f"failed: {error}")
            return {"failures": [{"branch": number, "query": query, "error": str(error)}]}
