"""Records of a branch from its state, validated where a step needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ideagora.agents.views import EntityView, entity_views
from ideagora.graphs.chain_of_ideas.state import BranchState
from ideagora.graphs.services import Services
from ideagora.schema import Chain, Direction, Link, Topic, Transition, deserialize

MAX_ENTITIES = 8
"""Entities that the trend analyst, the forecaster and the ideator are shown."""


def load_topic(state: Mapping[str, Any]) -> Topic:
    """The topic of a state or payload."""
    return Topic.model_validate(state["topic"])


def load_links(branch: BranchState) -> list[Link]:
    """The links of a branch from early to late, each with its reading if the paper was read."""
    readings = branch.get("readings", {})
    links = [
        Link.model_validate({**link, "reading": readings.get(link["paper"]["id"])})
        for link in branch["links"]
    ]
    return sorted(links, key=lambda link: link.position)


def load_transitions(branch: BranchState) -> list[Transition]:
    """The transitions between neighbours of the chain."""
    return [deserialize(Transition, transition) for transition in branch["transitions"]]


def load_chain(branch: BranchState, direction: Direction | None) -> Chain:
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


def load_entities(branch: BranchState, context: Services) -> tuple[EntityView, ...]:
    """The entities of the chain's papers; empty when entities are switched off (ablation)."""
    if not context.options.entities:
        return ()
    readings = (link.reading for link in load_links(branch))
    return tuple(entity_views(entity for reading in readings if reading for entity in reading.entities))


def shown_entities(branch: BranchState, context: Services) -> tuple[EntityView, ...]:
    """The first entities of the chain's papers, as many as a prompt shows."""
    return load_entities(branch, context)[:MAX_ENTITIES]


def link_ids(branch: BranchState) -> set[str]:
    """Ids of the papers in the chain."""
    return {link["paper"]["id"] for link in branch["links"]}
