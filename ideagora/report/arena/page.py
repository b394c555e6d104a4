"""Writes the arena's page from ``leaderboard.json``: ``report.md``, ``report.html`` and plots.

It computes no figures; missing figures are shown as missing, with their reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ideagora.errors import FolderUnusable
from ideagora.evaluators.arena.entries.lineup import run_number
from ideagora.evaluators.arena.folder import read_leaderboard
from ideagora.evaluators.arena.leaderboard.records import (
    AuditFigure,
    Leaderboard,
    LeaderboardRow,
    Rows,
    Standings,
)
from ideagora.report.arena.csv_ratings import csv_ratings, other_rankings
from ideagora.report.arena.matches import TopicMatches, ids_that_fit, matches_by_topic
from ideagora.report.arena.plots import criteria_plot, ratings_plot, win_rate_plot
from ideagora.report.arena.terminal import RUN_NOTES, missing_run_figures
from ideagora.report.drawings.plots import Plot, draw_nothing, image_url
from ideagora.report.run.load import load_run, map_strings
from ideagora.report.run.write import (
    HTML_FILE,
    MARKDOWN_FILE,
    html_page,
    load_templates,
    markdown_page,
    write_file,
)
from ideagora.report.text_cleaning import clean, hide_folders
from ideagora.schema import Idea

PLOTS = "plots"
CSV_FILE = "leaderboard.csv"
MISSING = "–"

AUDIT = {
    "flip_rate": "verdicts that change when the order is swapped",
    "repeat_flip_rate": "verdicts that change when the same question is asked again",
    "first_slot_rate": "wins of the idea shown first (one half is fair)",
    "length_correlation": "correlation between winning and length",
    "own_family_preference": "preference of judges for their own model family",
    "agreement_percent": "agreement between judges",
    "cohen_kappa": "agreement between judges, Cohen's kappa",
    "krippendorff_alpha": "agreement between judges, Krippendorff's alpha",
    "intransitive_triples": "cyclic triples of agents (A beats B, B beats C, C beats A)",
}
"""Meaning of the figures of the audit, in display order; others follow."""


@dataclass(frozen=True)
class LeaderboardView:
    """A ranking with its name, rows, criteria and plots."""

    name: str
    ranking: Rows
    criteria: Mapping[str, Rows]
    plots: Sequence[Plot]


@dataclass(frozen=True)
class ArenaPage:
    """The context of the arena's templates."""

    leaderboard: Leaderboard
    boards: Sequence[LeaderboardView]
    audit: Sequence[tuple[str, AuditFigure]]
    """(meaning, figure), over all judges and criteria."""
    audit_breakdown: Sequence[tuple[str, str, AuditFigure]]
    """(meaning, whose, figure), by judge and criterion."""
    other_rankings: Sequence[tuple[str, Rows]]
    """Other ratings of the same verdicts."""
    entries: Mapping[str, Sequence[Idea]]
    """Ideas by topic."""
    in_full: frozenset[str]
    """Ids of the ideas whose text fits on the page."""
    matches: Mapping[str, TopicMatches]
    """Topic -> its matches; a topic without a readable verdict is not in it."""

    @property
    def voted(self) -> Sequence[tuple[LeaderboardRow, LeaderboardRow | None, LeaderboardRow | None]]:
        """Rows of the ratings by people: joined, from the votes alone, by the judges alone."""
        if self.leaderboard.voted is None:
            return ()
        alone, judges = (
            {row.agent: row for row in rows}
            for rows in (self.leaderboard.voted.votes_alone, self.leaderboard.ranking)
        )
        ranking = self.leaderboard.voted.ranking
        return [(row, alone.get(row.agent), judges.get(row.agent)) for row in ranking]

    @staticmethod
    def run_of(idea: Idea) -> int:
        """The run of an entry, from 1."""
        return run_number(idea)

    @property
    def run_notes(self) -> Sequence[str]:
        """What the figures between runs mean, and which are missing."""
        return (*RUN_NOTES, *missing_run_figures(self.leaderboard.runs))

    @property
    def is_smoke_test(self) -> bool:
        """Whether only the offline model judged, so that nothing is ranked."""
        return self.leaderboard.smoke_test


def load_libraries() -> None:
    """Import what ratings and page are made with, so that writing them takes less time afterwards."""
    import scipy.optimize
    import scipy.stats  # noqa: F401

    draw_nothing()
    load_templates("arena.html", "arena.md")


def write_arena_report(folder: Path) -> tuple[Path, Path]:
    """Write report.md, report.html, leaderboard.csv and plots/ beside the leaderboard of a run.

    Raises:
        RunError: the folder has no readable leaderboard.
        FolderUnusable: a file cannot be written.
    """
    page = _page(folder)
    for plot in (plot for board in page.boards for plot in board.plots):
        for kind, content in plot.files.items():
            _write_bytes(folder / PLOTS / f"{plot.name}.{kind}", content)
    write_file(folder / CSV_FILE, csv_ratings(page.leaderboard))
    write_file(folder / MARKDOWN_FILE, markdown_page("arena.md", page=page))
    write_file(folder / HTML_FILE, html_page("arena.html", page=page, image=image_url))
    return folder / MARKDOWN_FILE, folder / HTML_FILE


def _page(folder: Path) -> ArenaPage:
    board = read_leaderboard(folder, partial(map_strings, change=lambda text: hide_folders(clean(text))))
    views = [_view("Ideas", "ideas", board)]
    if board.experiments is not None:
        views.append(_view("Experiment designs", "experiments", board.experiments))
    ideas = load_run(folder).ideas
    topics = dict.fromkeys(idea.topic for idea in ideas)
    return ArenaPage(
        leaderboard=board,
        boards=views,
        audit=_audit(board.audit),
        audit_breakdown=[
            (meaning, whose, figure)
            for name, meaning in AUDIT.items()
            for whose, figure in breakdown_of(board, name)
        ],
        other_rankings=list(other_rankings(board)),
        entries={topic: [idea for idea in ideas if idea.topic == topic] for topic in topics},
        in_full=ids_that_fit(ideas),
        matches=matches_by_topic(folder, ideas, [row.agent for row in board.ranking]),
    )


def _view(name: str, file: str, standings: Standings) -> LeaderboardView:
    return LeaderboardView(name, standings.ranking, standings.criteria, list(_plots(file, standings)))


def _plots(file: str, standings: Standings) -> Iterator[Plot]:
    """The plots for which there are enough figures."""
    ranking, rates = standings.ranking, standings.win_rates
    rated = {name: rows for name, rows in standings.criteria.items() if rows}
    if any(row.rating is not None for row in ranking):
        bounded = any(row.low is not None for row in ranking)
        shows = (
            "Ratings with their 95 % intervals, which cover the variation between topics."
            if bounded
            else "Ratings, without intervals."
        )
        yield Plot(f"{file}-ratings", shows, ratings_plot(ranking))
    if len(rated) > 1:
        yield Plot(f"{file}-criteria", "Ratings by criterion.", criteria_plot(rated))
    if len(rates.agents) > 1:
        shows = "Share of points of the row against the column; a tie is half a point."
        yield Plot(f"{file}-win-rates", shows, win_rate_plot(rates.agents, rates.matrix))


def _audit(figures: Mapping[str, AuditFigure]) -> list[tuple[str, AuditFigure]]:
    known = [(meaning, figures[name]) for name, meaning in AUDIT.items() if name in figures]
    return known + [
        (name.replace("_percent", "").replace("_", " "), figure)
        for name, figure in figures.items()
        if name not in AUDIT
    ]


def breakdown_of(standings: Standings, name: str) -> list[tuple[str, AuditFigure]]:
    """(judge and criterion, figure) for one figure of the audit."""
    return [
        (one.judge if one.criterion is None else f"{one.judge}, {one.criterion.replace('_', ' ')}", figure)
        for one in standings.audit_breakdown
        if (figure := one.figures.get(name)) is not None and figure.value is not None
    ]


def _write_bytes(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise FolderUnusable(
            f"{path} cannot be written ({error.strerror}): check the folder's permissions and the free space."
        ) from None
