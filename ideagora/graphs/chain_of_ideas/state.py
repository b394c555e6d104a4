"""State and task payloads of Chain-of-Ideas, and the records they hold.

A checkpoint holds plain JSON values only, so states keep records serialized; the functions here validate
them where a step needs the record.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from langgraph.runtime import Runtime

from ideagora.agents.experiment import Plan
from ideagora.agents.idea_inputs import TakenIdea
from ideagora.agents.views import EntityView, entity_views
from ideagora.errors import IdeagoraError
from ideagora.graphs.agent import Failure
from ideagora.graphs.drafts import Draft
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.relevance import Grades
from ideagora.models.usage import usage_label
from ideagora.schema import (
    Candidate,
    Chain,
    Direction,
    DroppedDraft,
    Experiment,
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

Choice = Literal["first", "second", "tie"]

MAX_ENTITIES = 8
"""Entities that the trend analyst, the forecaster and the ideator are shown."""


class Proposal(TypedDict):
    """A paper that may extend a chain."""

    paper: Serialized[Paper]
    reason: str


class Anchor(Proposal):
    """The paper that a branch starts from."""

    branch: int
    query: str
    """The query that found the paper."""


class Cure(TypedDict):
    """A search for a mechanism that could answer what a chain leaves open (``CureSearch``)."""

    problem: str
    field: str
    query: str
    found: NotRequired[list[str]]
    """Ids of the papers that it found."""


class ChainDraft(Draft):
    """A draft with what its author weighed first (``IdeaDraft``)."""

    candidates: list[str]
    obvious: int | None
    chosen: int | None
    """Numbers of candidates."""
    claim: str
    might_fail: str


class LeadPair(TypedDict):
    """A limitation and a mechanism that may address it, with everything that ``make_lead`` needs."""

    weak: str
    strong: str
    """Ids of the paper with the limitation and of the paper with the mechanism."""
    limitation: str | None
    method: str | None
    """What their readings say; ``None`` for a paper that was not read."""
    limitation_paper: Serialized[Paper]
    mechanism_paper: Serialized[Paper]
    chain: list[Serialized[Paper]]
    good: bool
    """Whether more than their similarity speaks for the pair."""
    kind: str | None
    """The kind of difficulty that the pairing names."""
    cites: Literal["weak", "strong"] | None
    """Which of the two papers cites the other."""
    branch: NotRequired[int]
    number: NotRequired[int]
    """The chain's branch, and the lead's number from 1, of a pair that was selected."""
    candidates: NotRequired[list[Serialized[Candidate]]]


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
    readings: Annotated[dict[str, Serialized[Reading]], operator.or_]
    unread: Annotated[dict[str, str], operator.or_]
    """Why a paper could not be read, by paper id."""
    stopped: Annotated[dict[str, str], operator.or_]
    pool: list[str]
    """Ids of papers near the chain, which its idea is compared with; each once."""
    grades: Annotated[Grades, operator.or_]
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
    """Ids of the papers that stand in a chain."""
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


class Duel(TypedDict):
    """The verdict on two drafts in one order."""

    first: int
    second: int
    """The branches, in the order shown."""
    judge: str
    criteria: dict[str, Choice] | None
    """What the judge prefers, by criterion; ``None``: there is no readable verdict."""
    overall: Choice | None
    reason: str


class Twin(TypedDict):
    """A branch whose idea repeats that of an earlier one."""

    branch: int
    same_as: int
    reason: str | None


class Redraft(TypedDict):
    """A twin that was drafted again, and whether that gave another idea."""

    branch: int
    changed: bool


class RankedBranch(TypedDict):
    """The result of one branch in the choice (``Score``)."""

    branch: int
    won: int
    tied: int
    lost: int
    unscored: int
    points: int
    told: str
    """The result in words."""


class PlannedExperiment(TypedDict):
    """An experiment with the place of its idea in the ranking, from 0."""

    place: int
    experiment: Serialized[Experiment]


class Lead(TypedDict):
    """A lead with its novelty check and its first test."""

    number: int
    branch: int
    weak: str
    strong: str
    candidates: list[Serialized[Candidate]]
    draft: ChainDraft
    novelty_check: Serialized[NoveltyCheck]
    plan: Serialized[Plan]


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
    failures: Annotated[list[Failure], operator.add]
    duels: Annotated[list[Duel], operator.add]
    twins: list[Twin]
    redrafted: Annotated[list[Redraft], operator.add]
    ranking: list[RankedBranch]
    """The branches, best first."""
    experiments: Annotated[list[PlannedExperiment], operator.add]
    pairs: list[LeadPair]
    leads: Annotated[list[Lead], operator.add]


def load_topic(state: Mapping[str, Any]) -> Topic:
    """The topic of a state or payload."""
    return Topic.model_validate(state["topic"])


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
