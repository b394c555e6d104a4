"""The chosen ideas and the notes, from the final state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ideagora.graphs.agent import Origin
from ideagora.graphs.portfolio.members import alive, known_ideas, named, outcome, own_origin
from ideagora.schema import (
    Experiment,
    Idea,
    IdeaParent,
    Lineage,
    NoveltyCheck,
    Rating,
    Serialized,
    Usage,
    stable_id,
)

if TYPE_CHECKING:
    from ideagora.graphs.portfolio.state import PortfolioState
    from ideagora.graphs.steps.swiss_ranking import Game


def chosen_ideas(state: PortfolioState, origin: Origin) -> list[Idea]:
    """The chosen ideas, best first; of a run that ended early, those that are in the portfolio so far."""
    chosen = state.get("chosen", alive(state))
    return [_idea(state, origin, position, place) for place, position in enumerate(chosen, 1)]


def _idea(state: PortfolioState, origin: Origin, position: int, place: int) -> Idea:
    member, members = state["members"][position], state["members"]
    idea, topic = Idea.model_validate(member["idea"]), state["topic"]["text"]
    plan = next((plan["plan"] for plan in state.get("plans", []) if plan["number"] == place), None)
    own = own_origin(origin, member, None if plan is None else place)
    check = next((one["check"] for one in state.get("checks", []) if one["position"] == position), None)
    ratings = state.get("ratings", [])
    rating = ratings[place - 1] if place <= len(ratings) else None
    parents = tuple(
        IdeaParent(id=_id(origin, topic, members[parent]["idea"]), title=members[parent]["idea"]["title"])
        for parent in member["parents"]
    )
    return idea.model_copy(
        update={
            "id": _id(origin, topic, member["idea"]),
            "agent": origin.agent,
            "kind": "idea",
            "experiment": Experiment.model_validate(plan) if plan else idea.experiment,
            "novelty_check": NoveltyCheck.model_validate(check) if check else idea.novelty_check,
            "wins": _wins(state.get("games", []), position),
            "lineage": Lineage(
                operation=member["operation"],
                agent=member["agent"],
                parents=parents,
                round=member["round"],
                change=member["change"],
            ),
            "rating": Rating.model_validate(rating) if rating else None,
            "branch": None,
            "comparisons": (),
            "model": origin.model,
            "usage": sum((own.usage[name] for name in sorted(own.usage)), Usage()),
            "created": max(own.answered.values(), default=None),
        }
    )


def _id(origin: Origin, topic: str, idea: Serialized[Idea]) -> str:
    return stable_id(origin.agent, topic, idea["title"], idea["method"])


def _wins(games: list[Game], position: int) -> str | None:
    gains = outcome(games, position)
    played = [game for game in games if position in game["positions"]]
    if not played:
        return None
    missing = len(played) - len(gains)
    counts = f"{gains.count(1)} won, {gains.count(0)} tied, {gains.count(-1)} lost of {len(gains)}"
    return f"{counts}, {missing} without a verdict" if missing else counts


def notes(state: PortfolioState) -> list[str]:
    """What the drafters report, which ideas were left out and why, and how many were chosen."""
    members, known = state.get("members", []), known_ideas(state)
    left_out = [
        f"Left out: {named(members[one['position']])} {one['why']}." for one in state.get("removed", [])
    ]
    few = [
        f"“{members[position]['idea']['title']}” is too close to a paper, but too few other ideas are left."
        for position in state.get("chosen", [])
        if position in known
    ]
    count = len(state.get("chosen", []))
    total = f"{count} of {len(members)} ideas were chosen, after {_rounds(state)} of variation."
    return [*state.get("notes", []), *left_out, *few, *[total] * ("map" in state)]


def _rounds(state: PortfolioState) -> str:
    rounds = state.get("rounds", 0)
    return "1 round" if rounds == 1 else f"{rounds} rounds"
