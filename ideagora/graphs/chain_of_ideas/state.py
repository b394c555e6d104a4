"""States and task payloads of Chain-of-Ideas.

A checkpoint holds plain JSON values only, so states keep records serialized; ``loading.py`` validates them.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any, TypedDict, cast

from langgraph.runtime import Runtime

from ideagora.agents.idea_inputs import TakenIdea
from ideagora.errors import IdeagoraError
from ideagora.graphs.agent import Failure
from ideagora.graphs.chain_of_ideas.records import (
    Anchor,
    ChainDraft,
    Cure,
    Duel,
    Lead,
    LeadPair,
    PlannedExperiment,
    Proposal,
    RankedBranch,
    Redraft,
    Twin,
)
from ideagora.graphs.reducers import concatenate, merge
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.relevance import Grades
from ideagora.models.usage import usage_label
from ideagora.schema import (
    Direction,
    DroppedDraft,
    Link,
    NoveltyCheck,
    Paper,
    Reading,
    Serialized,
    Topic,
    Transition,
    deserialize,
    serialize,
)

Context = Runtime[Services]


def merge_links(links: list[Serialized[Link]], more: list[Serialized[Link]]) -> list[Serialized[Link]]:
    """Append links to new papers; both sides of a chain may find the same paper in one step."""
    known = {link["paper"]["id"] for link in links}
    return [*links, *(link for link in more if link["paper"]["id"] not in known)]


class BranchState(TypedDict, total=False):
    """State of one branch."""

    topic: Serialized[Topic]
    branch: int
    query: str
    anchor: Serialized[Paper]
    links: Annotated[list[Serialized[Link]], merge_links]
    readings: Annotated[dict[str, Serialized[Reading]], merge]
    unread: Annotated[dict[str, str], merge]
    """Why a paper could not be read, by paper id."""
    stopped: Annotated[dict[str, str], merge]
    pool: list[str]
    """Ids of papers near the chain, which its idea is compared with; each once."""
    grades: Annotated[Grades, merge]
    """The relevance judge's judgements next to the chain."""
    proposed: dict[str, list[Proposal]]
    """Papers that may extend the chain, best first, by side."""
    transitions: list[Serialized[Transition]]
    cures: list[Cure]
    direction: Serialized[Direction] | None
    pairs: list[LeadPair]
    """Limitations with mechanisms that may address them, best first; only when leads are made."""
    neighbours: list[Serialized[Paper]]
    draft: ChainDraft
    novelty_check: Serialized[NoveltyCheck]
    dropped: list[Serialized[DroppedDraft]]
    """Drafts that were too close to a paper, with those papers."""
    taken: list[Serialized[TakenIdea]]
    """Ideas of other branches that the next draft must not repeat."""
    avoided: list[Serialized[Paper]]
    """The papers that a draft was too close to, in the order in which they were found."""
    topic_similarity: float
    """Mean cosine of the chain's papers to the topic, -1 to 1; only of a branch that is done."""


def merge_chains(chains: dict[str, BranchState], updates: dict[str, BranchState]) -> dict[str, BranchState]:
    """Apply updates of chains: links are appended, readings and reasons added, other values replaced."""
    merged = dict(chains)
    for number, update in updates.items():
        chain = cast(dict[str, Any], merged.get(number, {}))
        new = {**chain, **update}
        if "links" in update:
            new["links"] = merge_links(chain.get("links", []), update["links"])
        new["pool"] = list(dict.fromkeys([*chain.get("pool", []), *update.get("pool", [])]))
        for name in ("readings", "unread", "stopped", "grades"):
            new[name] = {**chain.get(name, {}), **cast(dict[str, Any], update).get(name, {})}
        merged[number] = cast(BranchState, new)
    return merged


class BranchLabel(TypedDict):
    """What the events of a branch's steps are labelled with."""

    branch: int
    query: str


class ChainTask(TypedDict):
    """Payload of the steps of one branch."""

    topic: Serialized[Topic]
    anchored: BranchLabel
    chain: BranchState


class GrowthTask(ChainTask):
    """Payload of ``extend_chain``."""

    sides: list[str]
    """The sides to extend: ``forward``, ``backward``."""
    taken: list[str]
    """Ids of the papers that are in a chain."""
    grades: Grades
    """The judgements of the run so far."""


class DraftPair(TypedDict):
    """Two branches with their drafts, in the order in which the judge sees them."""

    first: BranchState
    second: BranchState


class PairTask(TypedDict):
    """Payload of ``judge_pair``."""

    topic: Serialized[Topic]
    pair: DraftPair


class LeadTask(TypedDict):
    """Payload of ``make_lead``."""

    topic: Serialized[Topic]
    pair: LeadPair


class TwinTask(TypedDict):
    """Payload of ``redraft_twin``."""

    topic: Serialized[Topic]
    twin: BranchState
    """The branch whose idea repeats that of an earlier one."""
    same_as: str
    """Title of the repeated idea."""
    taken: list[Serialized[TakenIdea]]
    """The ideas of all other branches."""


class ExperimentTask(TypedDict):
    """Payload of ``plan_experiment``."""

    topic: Serialized[Topic]
    place: int
    """Place of the idea in the ranking, from 0."""
    idea: BranchState
    """The branch of the idea."""


def merge_branches(branches: list[BranchState], more: list[BranchState]) -> list[BranchState]:
    """The branches by number; a branch that was drafted again replaces the earlier one."""
    merged = {branch["branch"]: branch for branch in (*branches, *more)}
    return [merged[number] for number in sorted(merged)]


class IdeationState(TypedDict, total=False):
    """State of the whole agent."""

    topic: Serialized[Topic]
    queries: list[str]
    anchors: list[Anchor]
    unjudged: list[str]
    """Titles of search results that the relevance judge left out, even when asked again."""
    grades: Grades
    """The judgements of the search results."""
    chains: Annotated[dict[str, BranchState], merge_chains]
    """The chains by branch number, as a string."""
    branches: Annotated[list[BranchState], merge_branches]
    failures: Annotated[list[Failure], concatenate]
    duels: Annotated[list[Duel], concatenate]
    twins: list[Twin]
    redrafted: Annotated[list[Redraft], concatenate]
    ranking: list[RankedBranch]
    """The branches, best first."""
    experiments: Annotated[list[PlannedExperiment], concatenate]
    pairs: list[LeadPair]
    leads: Annotated[list[Lead], concatenate]


def new_chain(anchor: Anchor) -> BranchState:
    """The chain of a branch, with nothing but its anchor."""
    paper = deserialize(Paper, anchor["paper"])
    link = Link(paper=paper, position=0, reason=anchor["reason"])
    return BranchState(
        branch=anchor["branch"],
        query=anchor["query"],
        anchor=anchor["paper"],
        links=[serialize(link)],
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
