"""Terminal views of an arena: live progress, and the leaderboard with audit and notes.

Everything from a model, a file or a plug-in is printed as plain text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
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
from ideagora.report.live_view import LiveView
from ideagora.report.run.terminal import RunProgress

TOP = 5
"""Contestants that the live view shows."""
SHOWN_RUNS = 12
"""Agents' runs that the live view shows while ideas are generated."""
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
    "Best: if judges chose the best idea of each topic, rated against ordinary ideas of the others; it is no "
    "part of the ratings above. Distance and near twins: the ideas of an agent on a topic, by embeddings.",
)


class ArenaProgress(LiveView):
    """Progress of the runs that generate ideas; then the verdicts per judge and the standing."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        super().__init__(console, quiet)
        self._console = console
        self._totals = RunProgress(console, quiet=True)  # of all runs; only its footer is drawn
        self._runs: dict[int, tuple[str, RunProgress]] = {}
        self._stage = ""
        self._total = 0
        self._judges: Counter[str] = Counter()
        self._unscored = 0
        self._standing: Sequence[tuple[str, float, int]] = ()

    def update(self, event: Mapping[str, Any]) -> None:
        """Update the view from one event of the arena, or of an agent's run."""
        if event.get("event") == "arena":
            self._begin(event)
        elif event.get("event") == "verdict":
            self._judges[str(event["judge"])] += 1
            self._unscored += event["status"] == "unscored"
            self._standing = event["standing"]
        else:
            self._totals.update(event)
            if event.get("run") in self._runs:
                self._runs[event["run"]][1].update(event)

    def set_status(self, text: str) -> None:
        """Show what the arena waits for as the headline."""
        self._stage = text

    def _begin(self, event: Mapping[str, Any]) -> None:
        if event["stage"] == "ideas":
            self._stage = f"ideas: {event['done']} of {event['total']} runs done"
            title = f"{_short(event['agent'])} on “{plain(str(event['topic']))[:LONGEST_NAME]}”"
            self._runs.pop(event["number"], None)
            if event["status"] == "started":
                self._runs[event["number"]] = title, RunProgress(self._console, quiet=True)
        else:
            self._runs.clear()
            self._total = int(event["total"])
            self._judges = Counter(dict.fromkeys(event["judges"], 0))
            self._stage = "judging"

    def __rich__(self) -> Group:
        head = Text(plain(self._stage), style="bold")
        if not self._total:
            return Group(head, *self._running(), self._totals.footer())
        done = sum(self._judges.values())
        lines = [Text(f"{done} of at most {self._total} verdicts in {self.seconds} s")]
        if self._unscored:
            lines.append(Text(f"{self._unscored} unscored", style="yellow"))
        lines += [Text(f"  {_short(judge)}: {count}", style="dim") for judge, count in self._judges.items()]
        return Group(head, *lines, self._top(), self._totals.footer())

    def _running(self) -> list[RenderableType]:
        """The branches of a single run, or one row for each of several."""
        if len(self._runs) == 1:
            ((title, run),) = self._runs.values()
            return [Text(title), run.rows()]
        table = Table.grid(padding=(0, 2))
        for title, run in list(self._runs.values())[:SHOWN_RUNS]:
            table.add_row(Text(title, style="bold"), Text(run.last_step, style="cyan"))
        more = len(self._runs) - SHOWN_RUNS
        return [table, Text(f"and {more} more", style="dim")] if more > 0 else [table]

    def _top(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for name, share, count in self._standing[:TOP]:
            table.add_row(
                Text(_short(name)),
                Text(f"{share:.0%} of points", style="cyan"),
                Text(f"{count}", style="dim"),
            )
        return table


def show_leaderboard(console: Console, board: Leaderboard, folder: str, page: str | None, both: bool) -> None:
    """Print the ranking with intervals, the audit of the judges and the notes."""
    topics = "1 topic" if board.n_topics == 1 else f"{board.n_topics} topics"
    judges = ", ".join(_short(judge) for judge in board.judges)
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
        cells = [_number(row.rank), _short(row.agent), _number(row.rating)]
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
        [_short(row.agent), *(ratings[name].get(row.agent, MISSING) for name in ratings)]
        for row in standings.ranking
    ]
    return FigureTable(["contestant", *(name.replace("_", " ") for name in ratings)], rows)


def _side_by_side(corrected: Rows, ranking: Rows) -> FigureTable:
    is_bounded = any(row.low is not None for row in corrected)
    titles = ["contestant", "rating", "corrected for position, length and judge", *["95 %"] * is_bounded]
    plain_rating = {row.agent: row.rating for row in ranking}
    rows = [
        [
            _short(row.agent),
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
    titles += ["distance", "near twins"]
    rows = [
        [
            _short(one.agent),
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
    voters = ", ".join(_short(name) for name in voted.voters)
    title = f"Ratings by people ({voters}): {voted.pairs} of {voted.judged} pairs have votes"
    console.print(Text(f"\n{title}", style="bold"))
    if voted.ranking:
        judges, alone = ({row.agent: row for row in rows} for rows in (ranking, voted.votes_alone))
        rows = [
            [
                _short(row.agent), _number(row.rating), _range(row.low, row.high),
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
        [_short(row.agent), MISSING if row.average is None else f"{row.average:.1f}", str(row.full)]
        for row in ablation.rows
    ]
    return FigureTable([f"against {_short(ablation.of)}", "score", "of"], rows)


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
        rows += [_audit_row(f"{title}, {_short(judge)}", own, is_bounded) for judge, own in by_judge]
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


def _short(name: object) -> str:
    text = cell(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
