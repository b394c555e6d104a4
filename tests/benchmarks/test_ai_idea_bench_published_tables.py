"""The aggregation reproduces the arithmetic of the published tables of AI Idea Bench 2025.

Source of the figures: arXiv 2504.14191, Table 2, and section 3.1 for the number of targets.
"""

from __future__ import annotations

from ideagora.benchmarks.ai_idea_bench.with_other_references.competition import (
    best_ranks,
    mean_ranks,
    swiss_points,
)
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND

TARGETS = 3495
AGENTS = ("AI-Researcher", "AI-Scientist", "SCIPIP", "VIRSC")
TOTAL_SCORE = {"VIRSC": 23787, "AI-Researcher": 29345, "AI-Scientist": 19195, "SCIPIP": 11553}
TOTAL_RANK = {"VIRSC": 7211, "AI-Researcher": 4475, "AI-Scientist": 9537, "SCIPIP": 13362}
FEASIBILITY = {
    "VIRSC": (0.133, 8.290e-3),
    "AI-Researcher": (0.168, 9.728e-3),
    "AI-Scientist": (0.121, 17.003e-3),
}
"""FA and FPS."""

INITIALS = {"V": "VIRSC", "R": "AI-Researcher", "S": "AI-Scientist", "P": "SCIPIP"}
RESULTS = {
    "RV VS VP RS RP SP": 2564,
    "VR VS VP SR RP SP": 420,
    "RV SV PV RS RP SP": 366,
    "VR SV VP RS RP SP": 61,
    "VR VS PV RS PR SP": 43,
    "VR SV PV RS PR SP": 27,
    "VR VS PV RS RP PS": 14,
}
"""Who beats whom -> number of targets: our solution of Table 2's eight equations, one of many."""


def outcomes(matches: str) -> dict[tuple[str, str], float | None]:
    """The outcomes, in both orders, of matches given as winner and loser."""
    outcome_of_pair: dict[tuple[str, str], float | None] = {}
    for winner, loser in ((INITIALS[match[0]], INITIALS[match[1]]) for match in matches.split()):
        outcome_of_pair[winner, loser], outcome_of_pair[loser, winner] = FIRST, SECOND
    return outcome_of_pair


def test_scores_are_six_matches_of_three_points_and_one_per_target() -> None:
    assert sum(TOTAL_SCORE.values()) == 24 * TARGETS
    wins = {agent: (score - 3 * TARGETS) / 2 for agent, score in TOTAL_SCORE.items()}
    assert all(value.is_integer() for value in wins.values())
    assert sum(wins.values()) == 6 * TARGETS


def test_the_competition_reproduces_scores_and_ranks_of_table_2() -> None:
    assert sum(RESULTS.values()) == TARGETS
    total_score, total_rank, total_mean_rank = (dict.fromkeys(AGENTS, 0.0) for _ in range(3))
    for matches, targets in RESULTS.items():
        points = swiss_points(outcomes(matches))
        tables = (
            (points, total_score),
            (best_ranks(points), total_rank),
            (mean_ranks(points), total_mean_rank),
        )
        for values, total in tables:
            for agent in AGENTS:
                total[agent] += targets * (values[agent] or 0.0)
    assert total_score == TOTAL_SCORE
    assert total_rank == TOTAL_RANK
    # shared mean ranks always add up to 10 per target, and the published ones do not
    assert sum(total_mean_rank.values()) == 10 * TARGETS > sum(TOTAL_RANK.values())


def test_fps_is_fa_divided_by_a_plausible_number_of_steps() -> None:
    steps = {agent: round(fa / fps, 1) for agent, (fa, fps) in FEASIBILITY.items()}
    assert steps == {"VIRSC": 16.0, "AI-Researcher": 17.3, "AI-Scientist": 7.1}
