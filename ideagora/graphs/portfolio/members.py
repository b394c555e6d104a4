"""The members of a portfolio while it grows: ideas with their lineage, and which of them are still in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from ideagora.graphs.agent import Origin
from ideagora.graphs.drafts import FACETS, Draft
from ideagora.schema import Idea, NoveltyCheck, Paper, Serialized, deserialize, serialize

if TYPE_CHECKING:
    from ideagora.graphs.portfolio.state import PortfolioState
    from ideagora.graphs.steps.swiss_ranking import Game
    from ideagora.retrieval.library import Library

CLOSEST_PAPERS = 3
"""Papers of a novelty check that the roles are shown."""
Operation = Literal["combined", "simplified", "inverted"]


class Member(TypedDict):
    """An idea of the portfolio, and how it came about (``Lineage``)."""

    idea: Serialized[Idea]
    queries: list[str]
    """Searches for its novelty check."""
    operation: Literal["drafted"] | Operation
    agent: str | None
    parents: list[int]
    """Positions."""
    round: int
    change: str | None
    label: str
    """The usage label of the calls that made it."""


def drafted(idea: Idea, agent: str) -> Member:
    """A member that an agent drafted."""
    return {
        "idea": serialize(idea),
        "queries": [],
        "operation": "drafted",
        "agent": agent,
        "parents": [],
        "round": 0,
        "change": None,
        "label": agent,
    }


def alive(state: PortfolioState) -> list[int]:
    """Positions of the ideas that are still in the portfolio, in order."""
    removed = {one["position"] for one in state.get("removed", [])}
    return [position for position in range(len(state.get("members", []))) if position not in removed]


def known_ideas(state: PortfolioState) -> set[int]:
    """Positions of the ideas that are too close to a paper."""
    return {one["position"] for one in state.get("checks", []) if one["check"]["status"] == "too_close"}


def surpassed(state: PortfolioState) -> dict[int, int]:
    """Ideas that a child of theirs beats in both orders, with that child; both are still in the portfolio.

    A child that is too close to a paper surpasses nothing.
    """
    members, games, living = state["members"], state.get("games", []), alive(state)
    return {
        parent: child
        for child in living
        if child not in known_ideas(state)
        for parent in members[child]["parents"]
        if parent in living and sum(outcome(games, child, parent)) > 1
    }


def named(member: Member) -> str:
    """An idea's title with the agent that drafted it, because several may draft the same title."""
    return f"“{member['idea']['title']}”" + (f" by {member['agent']}" if member["agent"] else "")


def parts(member: Member) -> Draft:
    """An idea's parts as roles read them; an imported idea without facets gives its own texts instead."""
    idea = member["idea"]
    stand_ins = {"purpose": idea["motivation"], "mechanism": idea["method"], "evaluation": "Not stated."}
    facets = {name: idea["facets"].get(name) or stand_ins[name] or idea["title"] for name in FACETS}
    texts = {name: idea[name] for name in ("title", "motivation", "novelty", "method")}
    summary = idea["summary"] or idea["method"]
    return cast("Draft", {**texts, **facets, "summary": summary, "sources": idea["sources"]})


def text_of(member: Member) -> str:
    """The text that distances between ideas are measured on."""
    idea = parts(member)
    return f"{idea['title']}. {idea['purpose']} {idea['mechanism']}"


def papers_of(member: Member) -> list[Paper]:
    """The papers that an idea cites, among those that it was shown, in order of its sources."""
    idea = deserialize(Idea, member["idea"])
    links = idea.chain.links if idea.chain else ()
    shown = {paper.id: paper for paper in (*(link.paper for link in links), *idea.neighbours)}
    cited = dict.fromkeys([*(source.paper_id for source in idea.sources), *idea.references])
    return [shown[paper_id] for paper_id in cited if paper_id in shown]


async def closest_papers(library: Library, check: Serialized[NoveltyCheck] | None) -> list[Paper]:
    """The papers that a novelty check found the closest to an idea, the closest first."""
    closest = (check or {"closest": ()})["closest"][:CLOSEST_PAPERS]
    papers = [await library.paper(one["paper_id"]) for one in closest]
    return [paper for paper in papers if paper]


def own_origin(origin: Origin, member: Member, place: int | None) -> Origin:
    """The usage of an idea: of the agent that drafted it or the calls that varied it, and its experiment."""
    label = member["label"]
    experiment = None if place is None else f"experiment {place}"
    own = [name for name in origin.usage if name in (label, experiment) or name.startswith(f"{label}, ")]
    return Origin(
        agent=origin.agent,
        model=origin.model,
        usage={name: origin.usage[name] for name in own},
        answered={name: origin.answered[name] for name in own if name in origin.answered},
    )


def outcome(games: Sequence[Game], position: int, other: int | None = None) -> list[int]:
    """The results of an idea's scored comparisons, 1, 0 or -1, with all ideas or with another one."""
    return [
        game["gain"] * (1 if game["positions"][0] == position else -1)
        for game in games
        if position in game["positions"]
        and game["gain"] is not None
        and (other is None or other in game["positions"])
    ]
