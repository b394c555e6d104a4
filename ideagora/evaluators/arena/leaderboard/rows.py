"""Rows of the leaderboard: rating, interval, rank and record of each contestant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ideagora.evaluators.arena.leaderboard.records import LeaderboardRow, Rows, WinRates
from ideagora.evaluators.statistics.comparisons import TIE, Comparisons
from ideagora.evaluators.statistics.ratings.ratings import Ratings, win_matrix

if TYPE_CHECKING:
    from ideagora.evaluators.arena.leaderboard.uncertainty import Spread

DIGITS = 2
"""Decimal places of a rating."""


class WinRecord(TypedDict):
    """Matches of one contestant, as ``LeaderboardRow`` has them."""

    matches: int
    won: int
    tied: int
    lost: int


def win_records(columns: Comparisons) -> dict[str, WinRecord]:
    """The record of each agent."""
    records: dict[str, WinRecord] = {}
    sides = ((columns.first, columns.outcome), (columns.second, 1.0 - columns.outcome))
    for place, agent in enumerate(columns.agents):
        points = np.concatenate([outcome[side == place] for side, outcome in sides])
        records[agent] = {
            "matches": len(points),
            "won": int((points > TIE).sum()),
            "tied": int((points == TIE).sum()),
            "lost": int((points < TIE).sum()),
        }
    return records


def rated_rows(
    ratings: Ratings, columns: Comparisons, unscored: Mapping[str, int], spread: Spread | None
) -> Rows:
    """One row per contestant, best first; equal ratings share a rank."""
    records = win_records(columns)
    rounded = {agent: _round(ratings[agent]) for agent in ratings.ranking}
    order = list(rounded.values())
    rows = []
    for agent, rating in rounded.items():
        bounds = {} if spread is None else spread.bounds_of(agent)._asdict()
        rows.append(
            LeaderboardRow(
                agent=agent,
                rating=rating,
                rank=1 + order.index(rating),
                **{**bounds, **{side: _round(bounds.get(side)) for side in ("low", "high")}},
                unscored=int(unscored.get(agent, 0)),
                unbounded=agent in ratings.unbounded,
                **records[agent],
            )
        )
    return tuple(rows)


def unrated_rows(columns: Comparisons, unscored: Mapping[str, int]) -> Rows:
    """Rows without ratings, for contestants that cannot be put on one scale."""
    records = win_records(columns)
    return tuple(
        LeaderboardRow(agent=agent, **records[agent], unscored=int(unscored.get(agent, 0)))
        for agent in sorted(columns.agents)
    )


def _round(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), DIGITS)


def win_rates(columns: Comparisons, order: Sequence[str]) -> WinRates:
    """Share of points of each agent against each other, in the given order."""
    share = win_matrix(columns)
    places = [columns.agents.index(agent) for agent in order]
    matrix = tuple(
        tuple(None if np.isnan(share[one, other]) else round(float(share[one, other]), 4) for other in places)
        for one in places
    )
    return WinRates(agents=tuple(order), matrix=matrix)
