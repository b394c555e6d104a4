"""Terminal view of an arena: the leaderboard with audit and notes.

Everything from a model, a file or a plug-in is printed as plain text.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ideagora.evaluators.arena.leaderboard.records import (
    Ablation,
    AuditFigure,
    Leaderboard,
    Rows,
    RunFigures,
    Standings,
    VotedRatings,
)
from ideagora.report.console import cell, plain
from ideagora.report.figure_table import FigureTable

LONGEST_NAME = 40
MISSING = "–"
UNBOUNDED = "*"
UNBOUNDED_MEANS = (
    "won or lost every comparison on this criterion: the rating shows the direction, not the distance"
)
SMOKE_TEST = "Smoke test, not a ranking"
RUN_NOTES = (
    "Varies by: standard deviation of a rating from a single run of each agent on these topics; of variance: "
    "the part of the rating's variance that more runs would reduce (the rest takes more topics).",
    "Best: if judges chose the best idea of each topic, rated against ordinary ideas of the others; not part "
    "of the ratings above. Distance and near duplicates: an agent's ideas on a topic, by embeddings.",
)


def show_leaderboard(console: Console, board: Leaderboard, folder: str, page: str | None, both: bool) -> None:
    """Print the ranking with intervals, the audit of the judges and the notes."""
    topics = "1 topic" if board.n_topics == 1 else f"{board.n_topics} topics"
    judges = ", ".join(short_name(judge) for judge in board.judges)
    head = f"Ideas on {topics}, judged by {judges} ({board.protocol} protocol)"
    console.print(Text(f"{SMOKE_TEST}: {head}" if board.smoke_test else head, style="bold"))
    _show_standings(console, board, both)
    if board.experiments is not None:
        console.print(Text("Experiment designs", style="bold"))
        _show_standings(console, board.experiments, both)
    for note in board.notes:
        console.print(Text(f"• {cell(note)}", style="dim"), soft_wrap=False)
    if page is not None:
        console.print(Text(f"Report with plots: {page}", overflow="fold"), soft_wrap=True)
    files = f"All figures: {folder}/leaderboard.json; verdicts: {folder}/verdicts.jsonl"
    console.print(Text(files, overflow="fold"), soft_wrap=True)


def _show_standings(console: Console, standings: Standings, both: bool) -> None:
    if standings.ranking:
        console.print(_ranking(standings, both))
        console.print(_by_criterion(standings))
        if any(row.unbounded for rows in standings.criteria.values() for row in rows):
            console.print(Text(f"{UNBOUNDED} {UNBOUNDED_MEANS}", style="dim"))
    if standings.bias_aware:
        console.print(_side_by_side(standings.bias_aware, standings.ranking))
    if standings.runs:
        _show_runs(console, standings.runs)
    if standings.voted:
        _show_voted(console, standings.voted, standings.ranking)
    if standings.ablation:
        console.print(_ablation(standings.ablation))
    if any(figure.value is not None for figure in standings.audit.values()):
        console.print(_audit(standings))


def _ranking(standings: Standings, both: bool) -> FigureTable:
    paper = {}
    if both and standings.paper is not None:
        paper = {row.agent: row.rating for row in standings.paper.ranking}
    has_unscored = any(row.unscored for row in standings.ranking)
    is_bounded = any(row.low is not None for row in standings.ranking)
    titles = ["rank", "contestant", "rating", *(["95 %", "ranks", "all ranks"] * is_bounded), "w-t-l"]
    titles += ["unscored"] * has_unscored + ["Elo (paper)", "differs by"] * bool(paper)
    rows = []
    for row in standings.ranking:
        cells = [_number(row.rank), short_name(row.agent), _number(row.rating)]
        ranks = (row.rank_low, row.rank_high), (row.joint_rank_low, row.joint_rank_high)
        bounds = [_range(row.low, row.high), *(_range(*each) for each in ranks)]
        cells += bounds * is_bounded
        cells += [f"{row.won}-{row.tied}-{row.lost}", *([str(row.unscored)] * has_unscored)]
        if paper:
            cells += [_number(paper[row.agent]), _difference(row.rating, paper[row.agent])]
        rows.append(cells)
    return FigureTable(titles, rows, names=2)


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.0f}"


def _difference(rating: float | None, other: float | None) -> str:
    return MISSING if rating is None or other is None else f"{rating - other:+.0f}"


def _by_criterion(standings: Standings) -> FigureTable:
    """Ratings by criterion, in the order of the ranking."""
    any_marked = any(row.unbounded for rows in standings.criteria.values() for row in rows)
    unmarked = " " * any_marked
    ratings = {
        name: {row.agent: _number(row.rating) + (UNBOUNDED if row.unbounded else unmarked) for row in rows}
        for name, rows in standings.criteria.items()
    }
    rows = [
        [short_name(row.agent), *(ratings[name].get(row.agent, MISSING) for name in ratings)]
        for row in standings.ranking
    ]
    return FigureTable(["contestant", *(name.replace("_", " ") for name in ratings)], rows)


def _side_by_side(corrected: Rows, ranking: Rows) -> FigureTable:
    is_bounded = any(row.low is not None for row in corrected)
    titles = ["contestant", "rating", "corrected for position, length and judge", *["95 %"] * is_bounded]
    plain_rating = {row.agent: row.rating for row in ranking}
    rows = [
        [
            short_name(row.agent),
            _number(plain_rating[row.agent]),
            _number(row.rating),
            *[_range(row.low, row.high)] * is_bounded,
        ]
        for row in corrected
    ]
    return FigureTable(titles, rows)


def _show_runs(console: Console, runs: Sequence[RunFigures]) -> None:
    """How much runs vary, the best of them, and how different their ideas are."""
    number = max(one.runs for one in runs)
    is_bounded = any(one.best_low is not None for one in runs)
    titles = ["between runs", "varies by", "of variance", f"best of {number}", *["95 %"] * is_bounded]
    titles += ["distance", "near duplicates"]
    rows = [
        [
            short_name(one.agent),
            MISSING if one.spread is None else f"±{one.spread:.0f}",
            MISSING if one.variance_share is None else f"{one.variance_share:.0%}",
            _number(one.best),
            *[_range(one.best_low, one.best_high)] * is_bounded,
            MISSING if one.distance is None else f"{one.distance:.2f}",
            MISSING if one.twins is None else f"{one.twins} of {one.pairs}",
        ]
        for one in runs
    ]
    console.print(FigureTable(titles, rows))
    for note in (*RUN_NOTES, *missing_run_figures(runs)):
        console.print(Text(cell(note), style="dim"))


def missing_run_figures(runs: Sequence[RunFigures]) -> list[str]:
    """One line per reason why figures between runs are missing."""
    agents: dict[str, list[str]] = {}
    for one in runs:
        for reason in one.reasons:
            agents.setdefault(reason, []).append(one.agent)
    return [f"No figure (–) for {', '.join(names)}: {reason}" for reason, names in agents.items()]


def _show_voted(console: Console, voted: VotedRatings, ranking: Rows) -> None:
    """Ratings by people beside those by judges and by the votes alone."""
    voters = ", ".join(short_name(name) for name in voted.voters)
    title = f"Ratings by people ({voters}): {voted.pairs} of {voted.judged} pairs have votes"
    console.print(Text(f"\n{title}", style="bold"))
    if voted.ranking:
        judges, alone = ({row.agent: row for row in rows} for rows in (ranking, voted.votes_alone))
        rows = [
            [
                short_name(row.agent), _number(row.rating), _range(row.low, row.high),
                *([_number(alone[row.agent].rating), _range(alone[row.agent].low, alone[row.agent].high)]
                  if alone else [MISSING, MISSING]),
                _number(judges[row.agent].rating),
            ]
            for row in voted.ranking
        ]  # fmt: skip
        titles = ["contestant", "joined", "95 %", "votes alone", "95 %", "judges alone"]
        console.print(FigureTable(titles, rows))
        note = (
            f"Joined: the judges' verdicts corrected by the votes; weight of the verdicts {voted.weight:.2f}."
        )
        console.print(Text(note, style="dim"))
    if voted.reason:
        console.print(Text(cell(voted.reason), style="dim"))


def _ablation(ablation: Ablation) -> FigureTable:
    rows = [
        [short_name(row.agent), MISSING if row.average is None else f"{row.average:.1f}", str(row.full)]
        for row in ablation.rows
    ]
    return FigureTable([f"against {short_name(ablation.of)}", "score", "of"], rows)


def _audit(standings: Standings) -> FigureTable:
    """The audit: each judge's figures if there are several, the pooled figure last."""
    is_bounded = any(figure.low is not None for figure in standings.audit.values())
    rows = []
    for name, figure in standings.audit.items():
        title = name.replace("_percent", "").replace("_", " ")
        by_judge = [
            (one.judge, one.figures[name])
            for one in standings.audit_breakdown
            if one.criterion is None and name in one.figures
        ]
        rows += [_audit_row(f"{title}, {short_name(judge)}", own, is_bounded) for judge, own in by_judge]
        rows.append(_audit_row(f"{title}, all judges" if by_judge else title, figure, is_bounded))
    return FigureTable(["audit of the judges", "value", *["95 %"] * is_bounded, "n"], rows)


def _audit_row(title: str, figure: AuditFigure, is_bounded: bool) -> list[Text | str]:
    if figure.value is None:
        name = Text(title).append(f" ({plain(figure.reason or '')})", "dim")
        return [name, MISSING, *[""] * is_bounded, ""]
    span = [_range(figure.low, figure.high, "{:.2f}")] * is_bounded
    return [title, f"{figure.value:.2f}", *span, str(figure.n)]


def _range(low: float | None, high: float | None, form: str = "{:.0f}") -> str:
    if low is None or high is None:
        return MISSING
    return f"{form.format(low)} to {form.format(high)}"


def short_name(name: object) -> str:
    """The name on one line, shortened."""
    text = cell(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
