"""What takes the place of drafts, choice and experiment when the offline model is at work: leads.

Every chain gives pairs of a limitation and a mechanism (``predict_direction``). Here the pairs of all
chains come together: several leads are made of them, each with another limitation and another
mechanism. Nobody chooses among leads, and none gets more than a first cheap test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ideagora.agents.experiment import EXPERIMENT_DESIGNER
from ideagora.agents.idea_inputs import DirectionView
from ideagora.agents.ideator import IDEATOR
from ideagora.agents.offline_leads.leads import short_paper_name
from ideagora.agents.text.quotes import is_quoted, verify_quote
from ideagora.agents.views import ShownPaper, idea_view
from ideagora.graphs.agent import Origin
from ideagora.graphs.chain_of_ideas.novelty import check_novelty
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schema import (
    Chain,
    Direction,
    Experiment,
    Idea,
    Link,
    NoveltyCheck,
    Paper,
    Source,
    Topic,
    Transition,
    Usage,
    stable_id,
)

WANTED = 3
"""Fewer leads than that are explained."""
MOST = 5
NEIGHBOURS = 20
"""Papers beside a chain whose mechanisms may be taken: reading them costs the offline model nothing."""


def distinct(branches: Sequence[Mapping[str, Any]], most: int) -> list[dict[str, Any]]:
    """Pairs of all chains, the best of each chain in turn; each limitation and each mechanism once.

    Pairs of papers of which neither cites the other come first: a paper that cites the other has
    probably answered it already, or has taken over what it needed. Where no pair is good, the first
    of those that are merely the nearest stands alone.
    """
    ordered = sorted(branches, key=lambda branch: int(branch["branch"]))
    in_turn = [
        {**pair, "branch": branch["branch"]}
        for row in zip_longest(*(branch["pairs"] for branch in ordered))
        for branch, pair in zip(ordered, row, strict=True)
        if pair is not None and pair["weak"] != pair["strong"]
    ]
    if not any(pair["good"] for pair in in_turn):
        return in_turn[:1]
    in_turn = [pair for pair in in_turn if pair["good"]]
    chosen: list[dict[str, Any]] = []
    while len(chosen) < most and (free := [pair for pair in in_turn if _is_free(pair, chosen)]):
        chosen.append(min(free, key=lambda pair: _after_others(pair, chosen)))
    unlinked = [pair for pair in chosen if pair["cites"] is None]
    return unlinked if len(unlinked) >= WANTED else chosen


def _is_free(pair: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no chosen pair has the limitation or the mechanism, or is this pair turned round."""
    return all(
        pair["weak"] != one["weak"]
        and pair["strong"] != one["strong"]
        and (pair["weak"], pair["strong"]) != (one["strong"], one["weak"])
        for one in chosen
    )


def _after_others(pair: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> tuple[bool, int]:
    """What puts a pair behind others: one paper cites the other; its kind of difficulty has been had."""
    return pair["cites"] is not None, sum(pair["kind"] == one["kind"] for one in chosen)


def place_of(chain: Sequence[Paper], weak: Paper, strong: Paper, cites: str | None) -> str:
    """Where two papers stand to the chain and to each other, in one sentence."""
    ids = [paper.id for paper in chain]
    one, other = (short_paper_name(paper.title, paper.abstract or "") for paper in (weak, strong))
    stands = [
        f"{name} is paper {ids.index(paper.id) + 1} of {len(ids)} in the chain"
        if paper.id in ids
        else f"{name} is not in it"
        for name, paper in ((one, weak), (other, strong))
    ]
    if weak.id not in ids:
        stands = stands[::-1] if strong.id in ids else [f"{one} and {other} are not in the chain"]
    where = " and ".join(stands)
    if cites == "strong":
        return f"{where}; {other} cites {one}: first check whether it already addresses the limitation."
    if cites == "weak":
        return f"{where}; {one} cites {other}, so its authors knew about it."
    return f"{where}; neither cites the other."


async def who_cites(context: Services, weak: Paper, strong: Paper) -> str | None:
    """Which of two papers cites the other, as the library knows: ``weak``, ``strong`` or ``None``."""
    if any(paper.id == weak.id for paper in await context.library.references(strong)):
        return "strong"
    if any(paper.id == strong.id for paper in await context.library.references(weak)):
        return "weak"
    return None


async def make_lead(context: Services, topic: Topic, pair: Mapping[str, Any]) -> dict[str, Any]:
    """A pair in words, compared with the literature, with a first cheap test."""
    chain = [Paper.model_validate(paper) for paper in pair["chain"]]
    weak = Paper.model_validate(pair["limitation_paper"])
    strong = Paper.model_validate(pair["mechanism_paper"])
    shown = [await _shown(context, paper, said) for paper, said in ((weak, None), (strong, pair["method"]))]
    direction = DirectionView(
        text=place_of(chain, weak, strong, pair["cites"]),
        limitation=pair["limitation"] or "",
        limitation_from=0,
        mechanism=pair["method"] or strong.abstract or strong.title,
        mechanism_from=1,
    )
    with usage_label(f"lead {pair['number']}"):
        answer = await IDEATOR(
            context.client,
            topic=topic.text,
            papers=tuple(shown),
            chain_length=1,
            changes=(),
            entities=(),
            direction=direction,
            earlier=None,
            too_close=(),
        )
        draft = answer.model_dump(mode="json")
        sources = [
            _source(one.part, (weak, strong)[one.paper], one.quote, shown[one.paper])
            for one in answer.sources
        ]
        draft["sources"] = [source.model_dump(mode="json") for source in sources]
        check = await check_novelty(context, topic, draft, [weak, strong], ())
        plan = await EXPERIMENT_DESIGNER(
            context.client,
            topic=topic.text,
            idea=idea_view(draft),
            evaluation=draft["evaluation"],
            past=(),
            related=(),
            entities=(),
        )
    context.say(f"lead {pair['number']}: {answer.title}")
    return {
        **{name: pair[name] for name in ("number", "branch", "weak", "strong")},
        "draft": draft,
        "novelty_check": check.model_dump(mode="json"),
        "plan": plan.model_dump(mode="json"),
    }


async def _shown(context: Services, paper: Paper, retelling: str | None) -> ShownPaper:
    text, kind = await context.library.text(paper)
    return ShownPaper(
        title=paper.title,
        year=paper.year,
        abstract=None if kind == "title" else text,
        retelling=retelling,
    )


def _source(part: str, paper: Paper, quote: str, shown: ShownPaper) -> Source:
    text = f"{paper.title} {shown.abstract or ''}"
    return Source(
        part=part, paper_id=paper.id, quote=verify_quote(quote, text), verbatim=is_quoted(quote, text)
    )


def ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    """The leads of a finished run, best first; one that a paper says already is left out."""
    branches = {branch["branch"]: branch for branch in state["branches"]}
    made = sorted(state.get("leads", []), key=lambda lead: int(lead["number"]))
    free = [lead for lead in made if lead["novelty_check"]["status"] != "too_close"]
    topic = Topic.model_validate(state["topic"]).text
    return [_idea(lead, branches[lead["branch"]], topic, origin) for lead in free[:MOST]]


def _idea(lead: Mapping[str, Any], branch: Mapping[str, Any], topic: str, origin: Origin) -> Idea:
    draft, label = lead["draft"], f"lead {lead['number']}"
    sources = tuple(Source.model_validate(source) for source in draft["sources"])
    return Idea(
        id=stable_id(origin.agent, topic, str(lead["number"]), draft["title"], draft["method"]),
        topic=topic,
        agent=origin.agent,
        kind="lead",
        **{name: draft[name] for name in ("title", "motivation", "novelty", "method", "summary")},
        experiment=Experiment.model_validate(lead["plan"]),
        references=tuple(dict.fromkeys(source.paper_id for source in sources if source.verbatim)),
        sources=sources,
        neighbours=tuple(Paper.model_validate(paper) for paper in branch["neighbours"]),
        chain=_chain(lead, branch),
        novelty_check=NoveltyCheck.model_validate(lead["novelty_check"]),
        facets={name: draft[name] for name in ("purpose", "mechanism", "evaluation")},
        branch=lead["branch"],
        model=origin.model,
        usage=origin.usage.get(label, Usage()),
        created=origin.answered.get(label),
    )


def _chain(lead: Mapping[str, Any], branch: Mapping[str, Any]) -> Chain:
    links = [
        Link.model_validate({**link, "reading": branch["readings"].get(link["paper"]["id"])})
        for link in branch["links"]
    ]
    draft = lead["draft"]
    return Chain(
        query=branch["query"],
        anchor=branch["anchor"]["id"],
        links=tuple(sorted(links, key=lambda link: link.position)),
        transitions=tuple(Transition.model_validate(found) for found in branch["transitions"]),
        direction=Direction(
            text=draft["novelty"],
            limitation=draft["purpose"],
            limitation_from=lead["weak"],
            mechanism=draft["mechanism"],
            mechanism_from=lead["strong"],
        ),
        stopped=branch.get("stopped", {}),
        topic_similarity=branch.get("topic_similarity"),
    )


def how_many(state: Mapping[str, Any]) -> list[str]:
    """Why there are fewer leads than usual, as a note; none where there are enough."""
    if "pairs" not in state:
        return []
    made = [lead for lead in state.get("leads", []) if lead["novelty_check"]["status"] != "too_close"]
    dropped = len(state.get("leads", [])) - len(made)
    if len(made) >= WANTED:
        return []
    said = f" Left out, since one paper says the same already: {dropped}." if dropped else ""
    return [
        f"{len(made)} lead{'s' * (len(made) != 1)} where three to five are usual: of the "
        f"{_papers(state)} papers in the chains, no further limitation came near enough to a mechanism of "
        f"another paper.{said}"
    ]


def _papers(state: Mapping[str, Any]) -> int:
    return len({link["paper"]["id"] for branch in state["branches"] for link in branch["links"]})
