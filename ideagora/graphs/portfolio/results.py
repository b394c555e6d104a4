"""The map of all ideas and the overview, from the final state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ideagora.graphs.portfolio.members import known_ideas, parts, surpassed
from ideagora.graphs.portfolio.records import (
    Fate,
    MapPoint,
    OverviewRecord,
    PortfolioRecord,
    QuestionOfIdea,
)
from ideagora.graphs.run_fields import TaskFields
from ideagora.schema import serialize

if TYPE_CHECKING:
    from ideagora.graphs.portfolio.state import PortfolioState


def results(state: PortfolioState) -> TaskFields:
    """The field ``portfolio`` of ``run.json``; nothing if the run ended before the ranking."""
    if "map" not in state:
        return {}
    count, similarity = len(state["chosen"]), state["similarity"]
    distances = [1 - similarity[first][second] for second in range(count) for first in range(second)]
    record = PortfolioRecord(
        points=tuple(_point(state, position) for position in range(len(state["members"]))),
        overview=_overview(state),
        nearest=round(min(distances), 4) if distances else None,
        mean=round(sum(distances) / len(distances), 4) if distances else None,
        rounds=state.get("rounds", 0),
    )
    return {"portfolio": serialize(record)}


def _point(state: PortfolioState, position: int) -> MapPoint:
    member, chosen = state["members"][position], state["chosen"]
    removed = next((one for one in state.get("removed", []) if one["position"] == position), None)
    fate, why = (removed["kind"], removed["why"]) if removed else _fate(state, position)
    return MapPoint.model_validate(
        {
            "title": member["idea"]["title"],
            "summary": parts(member)["summary"],
            **{name: member[name] for name in ("operation", "agent", "parents")},
            "x": state["map"][position][0],
            "y": state["map"][position][1],
            "fate": fate,
            "place": chosen.index(position) + 1 if fate == "chosen" else None,
            "why": why,
        }
    )


def _fate(state: PortfolioState, position: int) -> tuple[Fate, str | None]:
    """What became of an idea that was not removed, and why it was not chosen."""
    if position in state["chosen"]:
        return "chosen", None
    if position in known_ideas(state):
        return "known", "too close to a paper"
    child = surpassed(state).get(position)
    if child is None:
        return "left over", "closer to the chosen ideas than they are to one another"
    return "surpassed", f"“{state['members'][child]['idea']['title']}”, made from it, won in both orders"


def _overview(state: PortfolioState) -> OverviewRecord | None:
    overview = state.get("overview")
    if overview is None:
        return None
    titles = [state["members"][position]["idea"]["title"] for position in state["chosen"]]
    return OverviewRecord(
        common=overview["common"],
        differences=overview["differences"],
        questions=tuple(
            QuestionOfIdea(title=titles[entry["idea"]], question=entry["question"])
            for entry in sorted(overview["questions"], key=lambda entry: int(entry["idea"]))
        ),
    )
