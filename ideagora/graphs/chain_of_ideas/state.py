"""State and task payloads of Chain-of-Ideas, and the records they hold.

A checkpoint holds plain JSON values only, so states keep records as dicts; the functions here
validate them where a step needs the record.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from langgraph.runtime import Runtime

from ideagora.agents.views import EntityView, entity_views
from ideagora.graphs.services import Services
from ideagora.schema import Chain, Direction, Link, Topic, Transition

Context = Runtime[Services]

MAX_ENTITIES = 20
"""Entities that the trend analyst, the forecaster and the ideator are shown."""


class Anchor(TypedDict):
    """The paper that a branch starts from."""

    branch: int
    query: str
    """The query that found the paper."""
    paper: dict[str, Any]
    reason: str


class BranchTask(TypedDict):
    """Payload of ``explore_branch``."""

    topic: dict[str, Any]
    anchored: Anchor


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
    anchor_reason: str
    links: Annotated[list[dict[str, Any]], merge_links]
    readings: Annotated[dict[str, Any], operator.or_]
    unread: Annotated[dict[str, str], operator.or_]
    """Why a paper could not be read, by paper id."""
    stopped: Annotated[dict[str, str], operator.or_]
    transitions: list[dict[str, Any]]
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


def load_topic(state: Mapping[str, Any]) -> Topic:
    """The topic of a state or payload."""
    return Topic.model_validate(state["topic"])


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
