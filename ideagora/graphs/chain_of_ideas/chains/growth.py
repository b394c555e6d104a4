"""Construction of the chains (section 3.2): from each anchor forward along citations,
backward along references.

All chains grow in step, one paper per side at a time, and no paper stands in two of them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from langgraph.types import Send

from ideagora.graphs.chain_of_ideas.loading import link_ids, load_links
from ideagora.graphs.chain_of_ideas.options import ChainOptions
from ideagora.graphs.chain_of_ideas.records import Proposal
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    Context,
    GrowthTask,
    IdeationState,
    chain_task,
    live_chains,
    merge_chains,
    new_chain,
)
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.relevance import Grades
from ideagora.models.usage import usage_label
from ideagora.schema import Link, Paper, Serialized, deserialize, serialize

SIDES = ("forward", "backward")


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
        "stopped": {} if is_full else dict.fromkeys(missed, "every relevant paper is in another branch"),
        "proposed": {},
    }
