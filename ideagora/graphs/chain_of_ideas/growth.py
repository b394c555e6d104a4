"""Construction of the chains (section 3.2): from each anchor forward along citations,
backward along references.

All chains grow in step, one paper per side at a time, and no paper stands in two of them. Going backward
along a full text means reading the earliest paper, because its reader ranks the references; a short text does
not say how it uses them, so the relevance judge grades them with the citing papers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from langgraph.types import Send

from ideagora.agents.literature import ACCEPTED_GRADE
from ideagora.graphs.chain_of_ideas.options import MILESTONE_CITATIONS, ChainOptions
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    Context,
    GrowthTask,
    IdeationState,
    Proposal,
    branch_update,
    chain_task,
    link_ids,
    live_chains,
    load_links,
    load_topic,
    merge_chains,
    new_chain,
)
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.reading import (
    MAX_REFERENCES,
    Readings,
    has_short_text,
    read_for_references,
)
from ideagora.graphs.steps.literature.relevance import (
    GradedPapers,
    Grades,
    Neighbours,
    grade_neighbours,
)
from ideagora.models.usage import usage_label
from ideagora.schema import Link, Paper, Serialized, deserialize, serialize

SIDES = ("forward", "backward")

POOL = 20
"""The nearest papers of each list of citations or references, with which the branch's idea is compared."""
CITING_CANDIDATES, CITED_CANDIDATES = 4, 3
"""Papers that the relevance judge sees; Chain of Ideas takes the most similar citing paper unseen."""


async def place_anchors(state: IdeationState, runtime: Context) -> IdeationState:
    """Start a chain at each anchor; without chains (ablation), put the retrieved papers beside it."""
    chains = {str(anchor["branch"]): new_chain(anchor) for anchor in state["anchors"]}
    for chain in chains.values():
        anchor = deserialize(Paper, chain["anchor"])
        with usage_label(f"branch {chain['branch']}"):
            runtime.context.say(f"anchor: {anchor.title} ({anchor.year})")
        if not runtime.context.options.chain:
            chain["links"] += await _retrieved(runtime.context, chain["query"], anchor)
    runtime.context.library.prefetch(texts_of=_new_papers(chains, earliest_first=True))
    return {"chains": chains}


def _new_papers(chains: Mapping[str, BranchState], earliest_first: bool) -> list[Paper]:
    """The papers of new links: the earliest first, to follow their references, or chain by chain."""
    links = [link for chain in chains.values() for link in chain["links"]]
    if earliest_first:
        links = sorted(links, key=lambda link: int(link["position"]))
    return [Paper.model_validate(link["paper"]) for link in links]


async def _retrieved(context: Services, query: str, anchor: Paper) -> list[Serialized[Link]]:
    found = await context.library.search(query, context.options.length + 1)
    others = [scored.paper for scored in found if scored.paper.id != anchor.id][: context.options.length - 1]
    reason = "retrieved by the query, in no chain"
    links = [Link(paper=paper, position=place, reason=reason) for place, paper in enumerate(others, 1)]
    return [serialize(link) for link in links]


def next_growth(state: IdeationState, runtime: Context) -> list[Hashable | Send]:
    """Extend every chain that has room (forward first for the last place); then study all of them."""
    chains = live_chains(state)
    grades = _grades(state, chains, runtime.context)
    tasks = [
        GrowthTask(
            **chain_task(state, chain),
            sides=sides,
            taken=sorted(_taken(state, chain, runtime.context)),
            grades=grades,
        )
        for chain in chains
        if (sides := _open_sides(chain, runtime.context.options))
    ]
    if tasks:
        return [Send("extend_chain", task) for task in tasks]
    return [Send("study_chain", chain_task(state, chain)) for chain in chains] or ["find_cures"]


def _grades(state: IdeationState, chains: Sequence[BranchState], context: Services) -> Grades:
    """The judgements so far; none of the offline model, whose grades hold only among the papers of a call."""
    if context.client.settings.model_of("judge") == "offline":
        return {}
    grades = dict(state.get("grades", {}))
    for chain in chains:
        grades |= chain.get("grades", {})
    return grades


def _taken(state: IdeationState, chain: BranchState, context: Services) -> set[str]:
    """Ids of the papers that a chain must not take: its own, and with ``apart`` those of all chains."""
    others = state["chains"].values() if context.options.apart else ()
    return link_ids(chain).union(*(link_ids(other) for other in others))


def _open_sides(chain: BranchState, options: ChainOptions) -> list[str]:
    room = options.length - len(chain["links"])
    sides = [side for side in SIDES if side not in chain.get("stopped", {})]
    return sides[: max(room, 0)] if options.chain else []


async def extend_chain(state: GrowthTask, runtime: Context) -> IdeationState:
    """Propose papers for both ends of a chain, best first; ``grow`` takes them."""
    return await branch_update(state, runtime.context, _propose(state, runtime.context))


async def _propose(task: GrowthTask, context: Services) -> BranchState:
    latest, earliest = _end_papers(task)
    ends = await _grade_ends(task, context)
    stopped = {}
    if "forward" in task["sides"] and not ends.forward:
        stopped["forward"] = (
            f"none of the closest papers citing {latest.title} is relevant to the topic"
            if ends.later
            else f"the library has no other paper that cites {latest.title}"
        )
    if "backward" in task["sides"] and not ends.backward:
        stopped["backward"] = _why_no_reference(earliest, ends.earlier, ends.read)
    return {
        "proposed": {"forward": ends.forward, "backward": ends.backward},
        "grades": ends.grades,
        "stopped": stopped,
        "readings": ends.read.serialized,
        "unread": ends.read.unread,
        "pool": [paper.id for paper in (*ends.later[:POOL], *ends.earlier[:POOL])],
    }


def _end_papers(task: GrowthTask) -> tuple[Paper, Paper]:
    """The latest and the earliest paper of the chain."""
    chain = load_links(task["chain"])
    return chain[-1].paper, chain[0].paper


async def _later_papers(task: GrowthTask, context: Services) -> list[Paper]:
    """The papers that cite the latest one, those closest to topic and anchor first."""
    if "forward" not in task["sides"]:
        return []
    latest, _ = _end_papers(task)
    anchor = deserialize(Paper, task["chain"]["anchor"])
    about = f"{load_topic(task).text}. {anchor.title}. {anchor.abstract or ''}"
    return await _nearest(context, await context.library.citations(latest), task["taken"], about)


async def _earlier_papers(task: GrowthTask, context: Services) -> list[Paper]:
    """The references of the earliest paper, those closest to topic and paper first; none of a milestone."""
    _, earliest = _end_papers(task)
    if "backward" not in task["sides"] or _is_milestone(earliest):
        return []
    about = f"{load_topic(task).text}. {earliest.title}"
    return await _nearest(context, await context.library.references(earliest), task["taken"], about)


def _is_milestone(paper: Paper) -> bool:
    return (paper.citation_count or 0) > MILESTONE_CITATIONS


def _why_no_reference(paper: Paper, references: Sequence[Paper], read: Readings) -> str:
    if _is_milestone(paper):
        return f"{paper.title} is a milestone (over {MILESTONE_CITATIONS} citations)"
    if not references:
        return f"the library has no other reference of {paper.title}"
    if paper.id in read.unread:
        return f"{paper.title} could not be read"
    return f"no reference of {paper.title} is relevant to the topic"


def _not_rejected(papers: Sequence[Paper], grades: Grades) -> list[Paper]:
    """The papers that the run has accepted or not judged yet."""
    rejected = {paper_id for paper_id, judged in grades.items() if judged["grade"] < ACCEPTED_GRADE}
    return [paper for paper in papers if paper.id not in rejected]


async def _nearest(
    context: Services, papers: Sequence[Paper], taken: Collection[str], about: str
) -> list[Paper]:
    """The papers that stand in no chain, those closest to a text first."""
    free = [paper for paper in papers if paper.id not in taken]
    return [scored.paper for scored in await context.library.similar(free, about)]


@dataclass(frozen=True)
class _Ends:
    """Proposals for both ends of a chain, with the papers, judgements and reading that they rest on."""

    forward: list[Proposal]
    backward: list[Proposal]
    later: list[Paper]
    earlier: list[Paper]
    grades: Grades
    read: Readings = field(default_factory=Readings)


async def _grade_ends(task: GrowthTask, context: Services) -> _Ends:
    """Proposals for both ends; one call for both if the earliest paper has only a short text.

    Otherwise neither call waits for the papers of the other end.
    """
    known = task["grades"]
    grade = partial(grade_neighbours, context, load_topic(task), known=known)
    latest, earliest = _end_papers(task)

    def citing(later: Sequence[Paper]) -> Neighbours:
        return Neighbours(latest, _not_rejected(later, known)[:CITING_CANDIDATES])

    def cited(earlier: Sequence[Paper]) -> Neighbours:
        return Neighbours(earliest=earliest, cited=_not_rejected(earlier, known)[:CITED_CANDIDATES])

    if await has_short_text(context, earliest):
        later, earlier = await asyncio.gather(_later_papers(task, context), _earlier_papers(task, context))
        graded = await grade(replace(cited(earlier), latest=latest, citing=citing(later).citing))
        return _Ends(_accepted(graded, later), _accepted(graded, earlier), later, earlier, graded.grades())

    async def grade_later() -> tuple[list[Paper], GradedPapers]:
        later = await _later_papers(task, context)
        return later, await grade(citing(later))

    (later, forward), (earlier, read) = await asyncio.gather(grade_later(), _read_earliest(task, context))
    if read is None:
        backward = await grade(cited(earlier))
        grades = forward.grades() | backward.grades()
        return _Ends(_accepted(forward, later), _accepted(backward, earlier), later, earlier, grades)
    followed = [_proposal(followed.paper, followed.reason) for followed in read.followed]
    return _Ends(_accepted(forward, later), followed, later, earlier, forward.grades(), read)


async def _read_earliest(task: GrowthTask, context: Services) -> tuple[list[Paper], Readings | None]:
    """The references of the earliest paper, and what its reader says of those not yet rejected."""
    _, earliest = _end_papers(task)
    earlier = await _earlier_papers(task, context)
    references = _not_rejected(earlier, task["grades"])[:MAX_REFERENCES]
    if not references:
        return earlier, None
    return earlier, await read_for_references(context, load_topic(task), earliest, references)


def _accepted(graded: GradedPapers, group: Sequence[Paper]) -> list[Proposal]:
    ids = {paper.id for paper in group}
    return [_proposal(g.paper, g.reason) for g in graded.accepted if g.paper.id in ids]


def _proposal(paper: Paper, reason: str) -> Proposal:
    return {"paper": serialize(paper), "reason": reason}


async def grow(state: IdeationState, runtime: Context) -> IdeationState:
    """Extend every chain by the papers that it is given, with the reason where a side ends.

    What the next steps need of the new papers is fetched meanwhile.
    """
    chains = live_chains(state)
    given = _share_out(state, chains, runtime.context)
    updates: dict[str, BranchState] = {}
    for chain in chains:
        update = _extended(chain, given[chain["branch"]], runtime.context.options.length)
        with usage_label(f"branch {chain['branch']}"):
            for link in update["links"]:
                side = "forward" if link["position"] > 0 else "backward"
                runtime.context.say(f"{side}: {link['paper']['title']}")
        updates[str(chain["branch"])] = update
    ends = _open_ends(merge_chains(state["chains"], updates), updates, runtime.context.options)
    runtime.context.library.prefetch(
        neighbors_of=ends, texts_of=_new_papers(updates, earliest_first=bool(ends))
    )
    return {"chains": updates}


def _open_ends(
    chains: Mapping[str, BranchState], numbers: Collection[str], options: ChainOptions
) -> list[Paper]:
    """The papers at the ends that these chains will be extended at."""
    ends = []
    for number in numbers:
        papers = [link.paper for link in load_links(chains[number])]
        places = {"forward": papers[-1], "backward": papers[0]}
        ends += [places[side] for side in _open_sides(chains[number], options)]
    return ends


def _share_out(
    state: IdeationState, chains: Sequence[BranchState], context: Services
) -> dict[int, dict[str, Proposal]]:
    """The best free proposal for each side of each chain, by branch.

    The side with the fewest alternatives chooses first, so that no paper goes to a chain that has others and
    is missed by one that has none; of sides with as many, that of the shorter chain.
    """
    given: dict[int, dict[str, Proposal]] = {chain["branch"]: {} for chain in chains}
    taken = {chain["branch"]: _taken(state, chain, context) for chain in chains}
    sides = [(chain, side) for chain in chains for side in SIDES if _proposals(chain, side)]
    while sides:
        free = [
            [p for p in _proposals(chain, side) if p["paper"]["id"] not in taken[chain["branch"]]]
            for chain, side in sides
        ]
        first = min(range(len(sides)), key=lambda n: (len(free[n]), len(sides[n][0]["links"]), n))
        chain, side = sides.pop(first)
        if not free[first] or len(chain["links"]) + len(given[chain["branch"]]) >= context.options.length:
            continue
        best = given[chain["branch"]][side] = free[first][0]
        for ids in taken.values() if context.options.apart else [taken[chain["branch"]]]:
            ids.add(best["paper"]["id"])
    return given


def _proposals(chain: BranchState, side: str) -> list[Proposal]:
    return chain.get("proposed", {}).get(side, [])


def _extended(chain: BranchState, given: Mapping[str, Proposal], length: int) -> BranchState:
    ordered = load_links(chain)
    ends = {"forward": ordered[-1].position + 1, "backward": ordered[0].position - 1}
    links = [
        Link(paper=deserialize(Paper, proposal["paper"]), reason=proposal["reason"], position=ends[side])
        for side in SIDES
        if (proposal := given.get(side)) is not None
    ]
    missed = [side for side in SIDES if _proposals(chain, side) and side not in given]
    is_full = len(ordered) + len(links) >= length
    return {
        "links": [serialize(link) for link in links],
        "stopped": {} if is_full else dict.fromkeys(missed, "every relevant paper stands in another branch"),
        "proposed": {},
    }
