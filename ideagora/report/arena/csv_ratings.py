"""All ratings of a leaderboard as CSV."""

from __future__ import annotations

from collections.abc import Iterator

from ideagora.evaluators.arena.leaderboard.records import Leaderboard, LeaderboardRow, Rows, Standings
from ideagora.report.csv_text import csv_text

FIELDS = (
    "agent", "rating", "low", "high", "rank", "rank_low", "rank_high", "joint_rank_low", "joint_rank_high",
    "matches", "won", "tied", "lost", "unscored",
)  # fmt: skip


def csv_ratings(board: Leaderboard) -> str:
    """One row per table and contestant; ``table`` is the criterion or the method, as on the page."""
    parts = {"ideas": board, "experiments": board.experiments}
    return csv_text(
        ["judged", "table", *FIELDS],
        (
            (judged, table, *(getattr(row, name) for name in FIELDS))
            for judged, standings in parts.items()
            if standings is not None
            for table, rows in _tables(standings)
            for row in rows
        ),
    )


def _tables(standings: Standings) -> Iterator[tuple[str, Rows]]:
    yield "overall", standings.ranking
    yield from standings.criteria.items()
    if standings.runs:
        number = max(one.runs for one in standings.runs)
        yield (
            f"best of {number} runs",
            tuple(
                LeaderboardRow(agent=one.agent, rating=one.best, low=one.best_low, high=one.best_high)
                for one in standings.runs
                if one.runs > 1
            ),
        )
    if standings.voted is not None:
        yield "by people: verdicts corrected by votes", standings.voted.ranking
        yield "by people: votes alone", standings.voted.votes_alone
    yield from other_rankings(standings)


def other_rankings(standings: Standings) -> Iterator[tuple[str, Rows]]:
    """Ratings of the same verdicts by other methods, where there are any."""
    tables = {
        "corrected for position, length and judge": standings.bias_aware,
        "as in the paper (Elo)": standings.paper and standings.paper.ranking,
    }
    yield from ((name, rows) for name, rows in tables.items() if rows)
