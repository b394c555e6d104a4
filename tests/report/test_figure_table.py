"""No table on a terminal cuts a figure, however narrow the terminal is."""

from __future__ import annotations

import io

from rich.console import Console

from ideagora.commands.agreement import PairFields, _table, _table_of_pairs
from ideagora.evaluators.agreement.agreement import FigureFields
from ideagora.evaluators.arena.leaderboard.records import (
    Ablation,
    AblationRow,
    AuditBreakdown,
    AuditFigure,
    Leaderboard,
    LeaderboardRow,
    PaperRatings,
)
from ideagora.report.arena.terminal import show_leaderboard
from ideagora.report.figure_table import FigureTable

WIDTHS = (60, 80, 200)
NAMES = ("chain-of-ideas with a long name of its own", "rag", "openai/gpt-5-mini-2026-01-01")


def render(width: int, *tables: object) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    for table in tables:
        console.print(table)
    output = console.file
    assert isinstance(output, io.StringIO)
    lines = output.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return " ".join(lines).split()


def test_a_table_continues_below_where_it_does_not_fit() -> None:
    rows = [
        [name, *(f"{10_000 + 100 * row + place}.25" for place in range(9))] for row, name in enumerate(NAMES)
    ]
    table = FigureTable(["agent", *(f"measure number {place}" for place in range(9))], rows)
    for width in WIDTHS:
        words = render(width, table)
        assert {figure for row in rows for figure in row[1:]} <= set(words), width


def test_every_figure_of_a_leaderboard_is_whole() -> None:
    ranking = tuple(
        LeaderboardRow(
            agent=name,
            rating=1328.0 - 211 * place,
            low=1111.0 - place,
            high=1543.0 + place,
            rank=place + 1,
            rank_low=1,
            rank_high=3,
            matches=2345,
            won=1234 + place,
            tied=567,
            lost=890,
            unscored=4321,
        )
        for place, name in enumerate(NAMES)
    )
    figure = AuditFigure(value=0.64, low=0.61, high=0.67, n=12345)
    board = Leaderboard(
        ranking=ranking,
        criteria=dict.fromkeys(
            ("novelty", "significance", "clarity", "feasibility", "effectiveness"), ranking
        ),
        bias_aware=ranking,
        paper=PaperRatings(ranking=tuple(LeaderboardRow(agent=row.agent, rating=1000.0) for row in ranking)),
        audit={"first_slot_rate": figure, "cohen_kappa": AuditFigure(reason="One judge has no agreement.")},
        audit_breakdown=(AuditBreakdown(judge=NAMES[2], figures={"first_slot_rate": figure}),),
        ablation=Ablation(
            of=NAMES[0],
            rows=(AblationRow(agent=NAMES[1], matches=9, full=24680, criteria={}, average=13579.5),),
        ),
    )
    figures = {
        "1328",
        "1117",
        "+328",
        "+117",
        "-94",
        "1234-567-890",
        "4321",
        "0.64",
        "12345",
        "13579.5",
        "24680",
    }
    for width in WIDTHS:
        console = Console(width=width, file=io.StringIO(), color_system=None)
        show_leaderboard(console, board, "run", None, True)
        output = console.file
        assert isinstance(output, io.StringIO)
        text = output.getvalue()
        assert figures <= set(text.split()), (width, figures - set(text.split()))
        assert text.count("1111 to 1543") >= 2
        assert "0.61 to 0.67" in text


def test_every_figure_of_agreement_is_whole() -> None:
    one: FigureFields = {"value": 0.123456, "low": -0.654321, "high": 0.789, "n": 123456, "reason": None}
    criteria = {
        "a criterion with a name of many words": {
            "percent": one,
            "krippendorff_alpha": one,
            "cohen_kappa": one,
        }
    }
    pairs: list[PairFields] = [{"raters": list(NAMES[:2]), "criteria": criteria}]
    for width in WIDTHS:
        words = render(width, _table(criteria, {}), _table_of_pairs(pairs, {}))
        assert words.count("0.123") == 5
        assert words.count("-0.654") == 5
        assert words.count("123456") == 5
