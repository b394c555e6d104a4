"""The map of all ideas and the overview, from the final state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ideagora.graphs.portfolio.members import known_ideas
from ideagora.graphs.portfolio.records import (
    MapPoint,
    OverviewRecord,
    PortfolioRecord,
    QuestionOfIdea,
)

_WHY = {"known": "too close to a paper", "left over": "close to an idea that was chosen", "chosen": None}


def results(state: Mapping[str, Any]) -> dict[str, Any]:
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
    return {"portfolio": record.model_dump(mode="json")}


def _point(state: Mapping[str, Any], position: int) -> MapPoint:
    member, chosen = state["members"][position], state["chosen"]
    removed = next((one for one in state.get("removed", []) if one["position"] == position), None)
    known = "known" if position in known_ideas(state) else "left over"
    fate = removed["kind"] if removed else "chosen" if position in chosen else known
    return MapPoint.model_validate(
        {
            "title": member["idea"]["title"],
            **{name: member[name] for name in ("operation", "agent", "parents")},
            "x": state["map"][position][0],
            "y": state["map"][position][1],
            "fate": fate,
            "place": chosen.index(position) + 1 if fate == "chosen" else None,
            "why": removed["why"] if removed else _WHY[fate],
        }
    )


def _overview(state: Mapping[str, Any]) -> OverviewRecord | None:
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
