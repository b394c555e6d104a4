"""Each child is compared with its parents; one that loses does not survive."""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.types import Send

from ideagora.graphs.portfolio.members import outcome
from ideagora.graphs.portfolio.state import PortfolioState, RemovedIdea
from ideagora.graphs.portfolio.steps.ranking import comparisons


def gather_children(state: PortfolioState) -> PortfolioState:
    """Join the variations; their comparisons start from here."""
    return {}


def start_comparisons(state: PortfolioState) -> list[Hashable | Send]:
    """Each child against each parent, in both orders."""
    pairs = parent_pairs(state)
    return [*comparisons(state, "compare_with_parent", pairs, state["rounds"])] or ["select_children"]


def select_children(state: PortfolioState) -> PortfolioState:
    """A child that loses to a parent does not survive."""
    return {"removed": lost_children(state)}


def children_of_round(state: PortfolioState) -> list[int]:
    """Positions of the children of the current round."""
    members = state["members"]
    return [n for n in range(len(members)) if members[n]["round"] == state["rounds"] and state["rounds"]]


def parent_pairs(state: PortfolioState) -> list[tuple[int, int]]:
    """Each child of the round with each of its parents, in both orders."""
    pairs = [
        (child, parent) for child in children_of_round(state) for parent in state["members"][child]["parents"]
    ]
    return [order for pair in pairs for order in (pair, pair[::-1])]


def lost_children(state: PortfolioState) -> list[RemovedIdea]:
    """The children of the round that a parent beats, or that no readable verdict compares with a parent."""
    lost: list[RemovedIdea] = []
    for child in children_of_round(state):
        for parent in state["members"][child]["parents"]:
            results, title = (
                outcome(state.get("games", []), child, parent),
                state["members"][parent]["idea"]["title"],
            )
            if not results:
                why = f"no readable verdict compares it with “{title}”"
            elif sum(results) < 0:
                why = f"lost to “{title}”, which it was made from"
            else:
                continue
            lost.append({"position": child, "kind": "lost", "why": why})
            break
    return lost
