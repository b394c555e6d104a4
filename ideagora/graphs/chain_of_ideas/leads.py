"""Leads, which replace drafts, choice and experiment when the offline model is used.

Every chain yields pairs of a limitation and a mechanism (``predict_direction``). The best pairs across all
chains become leads, each with a different limitation and a different mechanism. There is no choice among
leads, and each gets only a cheap first test.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, cast

from ideagora.agents.chain_of_ideas.ideator import IDEATOR
from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.idea_inputs import DirectionView
from ideagora.agents.offline_leads.facts import short_paper_name
from ideagora.agents.views import ShownPaper, idea_to_test
from ideagora.graphs.agent import Origin
from ideagora.graphs.chain_of_ideas.loading import load_chain
from ideagora.graphs.chain_of_ideas.records import ChainDraft, Lead, LeadPair
from ideagora.graphs.chain_of_ideas.state import BranchState, IdeationState
from ideagora.graphs.services import Services
from ideagora.graphs.sources import quoted_source
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.novelty_requests import requests_left
from ideagora.models.usage import usage_label
from ideagora.schema import (
    Candidate,
    Direction,
    Experiment,
    Idea,
    NoveltyCheck,
    Paper,
    Serialized,
    Source,
    Topic,
    Usage,
    deserialize,
    serialize,
    stable_id,
)

ENOUGH_LEADS = 3
"""A run with fewer leads explains why."""
MAX_LEADS = 5
MAX_CANDIDATES = 3
"""Mechanisms that are reported as weighed for one limitation."""
NEIGHBOURS = 30
"""Papers outside a chain whose mechanisms may be used; reading them is free for the offline model."""


def without_pairs(branches: Sequence[BranchState], texts: Sequence[str]) -> list[BranchState]:
    """The branches without the pairs whose limitation and mechanism one of the texts already joins."""

    def is_new(pair: LeadPair) -> bool:
        parts = [part for part in (pair["limitation"], pair["method"]) if part]
        return not parts or not any(all(part in text for part in parts) for text in texts)

    return [{**branch, "pairs": [pair for pair in branch["pairs"] if is_new(pair)]} for branch in branches]


def select_pairs(branches: Sequence[BranchState], most: int) -> list[LeadPair]:
    """Select pairs from all chains, the best of each in turn; each limitation and mechanism once.

    Pairs in which neither paper cites the other come first: a paper that cites the other has probably
    answered it already, or has adopted what it needed. If no pair is good, only the first of the nearest
    ones is returned.
    """
    ordered = sorted(branches, key=lambda branch: int(branch["branch"]))
    interleaved: list[LeadPair] = [
        {**pair, "branch": branch["branch"]}
        for row in zip_longest(*(branch["pairs"] for branch in ordered))
        for branch, pair in zip(ordered, row, strict=True)
        if pair is not None and pair["weak"] != pair["strong"]
    ]
    if not any(pair["good"] for pair in interleaved):
        return interleaved[:1]
    interleaved = [pair for pair in interleaved if pair["good"]]
    chosen: list[LeadPair] = []
    while len(chosen) < most and (free := [pair for pair in interleaved if _is_free(pair, chosen)]):
        chosen.append(min(free, key=lambda pair: _rank(pair, chosen)))
    unlinked = [pair for pair in chosen if pair["cites"] is None]
    selected = unlinked if len(unlinked) >= ENOUGH_LEADS else chosen
    return [{**pair, "candidates": _candidates(pair, interleaved)} for pair in selected]


def _candidates(chosen: LeadPair, pairs: Sequence[LeadPair]) -> list[Serialized[Candidate]]:
    """The mechanisms that fit the chosen pair's limitation, best first.

    A pair is obvious if one paper cites the other: their readers have seen them together.
    """
    fitting = {pair["strong"]: pair for pair in pairs if pair["weak"] == chosen["weak"]}
    others = [pair for pair in fitting.values() if pair["strong"] != chosen["strong"]][: MAX_CANDIDATES - 1]
    return [_candidate(pair, pair["strong"] == chosen["strong"]) for pair in (chosen, *others)]


def _candidate(pair: LeadPair, is_chosen: bool) -> Serialized[Candidate]:
    weak, strong = (
        deserialize(Paper, paper) for paper in (pair["limitation_paper"], pair["mechanism_paper"])
    )
    names = [short_paper_name(paper.title, paper.abstract or "") for paper in (strong, weak)]
    return serialize(
        Candidate(
            text="{} for the limitation of {}".format(*names),
            status="developed" if is_chosen else "too obvious" if pair["cites"] else "not developed",
        )
    )


def _is_free(pair: LeadPair, chosen: Sequence[LeadPair]) -> bool:
    """Whether no chosen pair has this limitation or mechanism, or is this pair reversed."""
    return all(
        pair["weak"] != other["weak"]
        and pair["strong"] != other["strong"]
        and (pair["weak"], pair["strong"]) != (other["strong"], other["weak"])
        for other in chosen
    )


def _rank(pair: LeadPair, chosen: Sequence[LeadPair]) -> tuple[bool, bool, int]:
    """Sort key: a pair comes later if one paper cites the other, if neither is in its chain, or if its kind
    of difficulty was chosen.
    """
    chain = {paper["id"] for paper in pair.get("chain", ())}
    return (
        pair["cites"] is not None,
        chain.isdisjoint((pair["weak"], pair["strong"])),
        sum(pair["kind"] == other["kind"] for other in chosen),
    )


def describe_positions(chain: Sequence[Paper], weak: Paper, strong: Paper, cites: str | None) -> str:
    """One sentence on how two papers relate to the chain and to each other."""
    ids = [paper.id for paper in chain]
    one, other = (short_paper_name(paper.title, paper.abstract or "") for paper in (weak, strong))
    positions = [
        f"{name} is paper {ids.index(paper.id) + 1} of {len(ids)} in the chain"
        if paper.id in ids
        else f"{name} is not in it"
        for name, paper in ((one, weak), (other, strong))
    ]
    if weak.id not in ids:
        positions = positions[::-1] if strong.id in ids else [f"{one} and {other} are not in the chain"]
    where = " and ".join(positions)
    if weak.id in ids and strong.id in ids:
        places = f"{ids.index(weak.id) + 1} and {ids.index(strong.id) + 1}"
        where = f"{one} and {other} are papers {places} of the {len(ids)} in the chain"
    if cites == "strong":
        return f"{where}; {other} cites {one}: first check whether it already addresses the limitation."
    if cites == "weak":
        return f"{where}; {one} cites {other}, so its authors knew about it."
    return f"{where}; neither cites the other."


async def find_citation(context: Services, weak: Paper, strong: Paper) -> Literal["weak", "strong"] | None:
    """Which of two papers cites the other according to the library: ``weak``, ``strong`` or ``None``."""
    if any(paper.id == weak.id for paper in await context.library.references(strong)):
        return "strong"
    if any(paper.id == strong.id for paper in await context.library.references(weak)):
        return "weak"
    return None


async def make_lead(context: Services, topic: Topic, pair: LeadPair) -> Lead:
    """Write a pair as a lead, compare it with the literature, and add a cheap first test."""
    chain = [deserialize(Paper, paper) for paper in pair["chain"]]
    weak = deserialize(Paper, pair["limitation_paper"])
    strong = deserialize(Paper, pair["mechanism_paper"])
    with usage_label(f"lead {pair['number']}"):
        draft = await _draft(context, topic, pair, describe_positions(chain, weak, strong, pair["cites"]))
        check = await check_novelty(
            context,
            topic,
            draft,
            [weak, strong],
            pool=[paper.id for paper in chain],
            requests=requests_left(context, pair["number"] - 1, MAX_LEADS),
        )
        plan = await EXPERIMENT_DESIGNER(
            context.client,
            topic=topic.text,
            idea=idea_to_test(draft),
            evaluation=draft["evaluation"],
            past=(),
            related=(),
            entities=(),
        )
    context.say(f"lead {pair['number']}: {draft['title']}")
    return {
        "number": pair["number"],
        "branch": pair["branch"],
        "weak": pair["weak"],
        "strong": pair["strong"],
        "candidates": pair.get("candidates", []),
        "draft": draft,
        "novelty_check": serialize(check),
        "plan": serialize(plan),
    }


async def _draft(context: Services, topic: Topic, pair: LeadPair, positions: str) -> ChainDraft:
    """The text of a lead with its sources; ``positions`` says how its papers relate to the chain."""
    papers = [deserialize(Paper, pair[name]) for name in ("limitation_paper", "mechanism_paper")]
    weak, strong = papers
    shown = (await _show(context, weak, None), await _show(context, strong, pair["method"]))
    answer = await IDEATOR(
        context.client,
        topic=topic.text,
        papers=shown,
        chain_length=1,
        changes=(),
        entities=(),
        direction=DirectionView(
            text=positions,
            limitation=pair["limitation"] or "",
            limitation_from=0,
            mechanism=pair["method"] or strong.abstract or strong.title,
            mechanism_from=1,
        ),
        earlier=None,
        too_close=(),
        focus=topic.focus,
        candidates=0,
    )
    texts = [f"{paper.title} {paper.abstract or ''}" for paper in shown]
    sources = [
        quoted_source(source.part, papers[source.paper].id, source.quote, texts[source.paper])
        for source in answer.sources
    ]
    draft = cast("ChainDraft", answer.model_dump(mode="json"))
    return {**draft, "sources": [serialize(source) for source in sources]}


async def _show(context: Services, paper: Paper, retelling: str | None) -> ShownPaper:
    text, kind = await context.library.text(paper)
    return ShownPaper(
        title=paper.title,
        year=paper.year,
        abstract=None if kind == "title" else text,
        retelling=retelling,
    )


def load_leads(state: IdeationState, origin: Origin) -> list[Idea]:
    """The leads of a finished run, best first, without those that are too close to a paper."""
    branches = {branch["branch"]: branch for branch in state["branches"]}
    made = sorted(state.get("leads", []), key=lambda lead: int(lead["number"]))
    free = [lead for lead in made if lead["novelty_check"]["status"] != "too_close"]
    topic = deserialize(Topic, state["topic"]).text
    return [_idea(lead, branches[lead["branch"]], topic, origin) for lead in free[:MAX_LEADS]]


def _idea(lead: Lead, branch: BranchState, topic: str, origin: Origin) -> Idea:
    draft, label = lead["draft"], f"lead {lead['number']}"
    direction = Direction(
        text=draft["novelty"],
        limitation=draft["purpose"],
        limitation_from=lead["weak"],
        mechanism=draft["mechanism"],
        mechanism_from=lead["strong"],
    )
    sources = tuple(deserialize(Source, source) for source in draft["sources"])
    return Idea(
        id=stable_id(origin.agent, topic, str(lead["number"]), draft["title"], draft["method"]),
        topic=topic,
        agent=origin.agent,
        kind="lead",
        title=draft["title"],
        motivation=draft["motivation"],
        novelty=draft["novelty"],
        method=draft["method"],
        summary=draft["summary"],
        experiment=Experiment.model_validate(lead["plan"]),
        references=tuple(dict.fromkeys(source.paper_id for source in sources if source.verbatim)),
        sources=sources,
        neighbours=tuple(deserialize(Paper, paper) for paper in branch["neighbours"]),
        chain=load_chain(branch, direction),
        novelty_check=deserialize(NoveltyCheck, lead["novelty_check"]),
        facets={name: draft[name] for name in ("purpose", "mechanism", "evaluation")},
        candidates=tuple(deserialize(Candidate, candidate) for candidate in lead["candidates"]),
        claim=draft["claim"],
        might_fail=draft["might_fail"],
        branch=lead["branch"],
        model=origin.model,
        usage=origin.usage.get(label, Usage()),
        created=origin.answered.get(label),
    )


def explain_few_leads(state: IdeationState) -> list[str]:
    """A note on why there are fewer leads than usual; empty if there are enough."""
    if "pairs" not in state:
        return []
    made = [lead for lead in state.get("leads", []) if lead["novelty_check"]["status"] != "too_close"]
    dropped = len(state.get("leads", [])) - len(made)
    if len(made) >= ENOUGH_LEADS:
        return []
    left_out = f" Left out because a paper already says the same: {dropped}." if dropped else ""
    return [
        f"{len(made)} lead{'s' * (len(made) != 1)}; three to five are usual. Among the "
        f"{_count_papers(state)} papers in the chains, no further limitation is close enough to a mechanism "
        f"of another paper.{left_out}"
    ]


def _count_papers(state: IdeationState) -> int:
    return len({link["paper"]["id"] for branch in state["branches"] for link in branch["links"]})
