"""Rows of the leaderboard: rating, interval, rank and record of each contestant, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.ratings import Ratings, win_matrix

Rows = list[dict[str, Any]]
DIGITS = 2
"""Of a rating in points; one more would be noise."""
RECORD = ("won", "tied", "lost")


def record(counted: Comparisons) -> dict[str, dict[str, int]]:
    """``{agent: {"matches", "won", "tied", "lost"}}``."""
    told = {agent: dict.fromkeys(("matches", *RECORD), 0) for agent in counted.agents}
    sides = ((counted.first, counted.outcome), (counted.second, 1.0 - counted.outcome))
    for place, agent in enumerate(counted.agents):
        won = np.concatenate([outcome[side == place] for side, outcome in sides])
        counts = {"matches": len(won), "won": int((won == 1.0).sum()), "tied": int((won == 0.5).sum())}
        told[agent] |= counts | {"lost": int((won == 0.0).sum())}
    return told


def rated_rows(
    ratings: Ratings, counted: Comparisons, unscored: Mapping[str, int], spread: Any | None
) -> Rows:
    """One row a contestant, best first; equal ratings share a rank; no interval where there is none."""
    records = record(counted)
    rated = {agent: _rounded(ratings[agent]) for agent in ratings.ranking}
    order = list(rated.values())
    rows = []
    for agent, rating in rated.items():
        low, high, rank_low, rank_high = (None,) * 4 if spread is None else spread.of(agent)
        rows.append(
            {
                "agent": agent,
                "rating": rating,
                "low": _rounded(low),
                "high": _rounded(high),
                "rank": 1 + order.index(rating),
                "rank_low": rank_low,
                "rank_high": rank_high,
                **records[agent],
                "unscored": int(unscored.get(agent, 0)),
            }
        )
    return rows


def unrated_rows(counted: Comparisons, unscored: Mapping[str, int]) -> Rows:
    """Rows of contestants that cannot be put on one scale: their records, and no rating."""
    unknown = dict.fromkeys(("rating", "low", "high", "rank", "rank_low", "rank_high"))
    records = record(counted)
    return [
        {"agent": agent, **unknown, **records[agent], "unscored": int(unscored.get(agent, 0))}
        for agent in sorted(counted.agents)
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), DIGITS)


def win_rates(counted: Comparisons, order: Sequence[str]) -> dict[str, Any]:
    """Share of points of the row's agent against the column's, best first; ``None``: they never met."""
    share = win_matrix(counted)
    places = [counted.agents.index(agent) for agent in order]
    cells = [
        [None if np.isnan(share[one, other]) else round(float(share[one, other]), 4) for other in places]
        for one in places
    ]
    return {"agents": list(order), "matrix": cells}
