"""The arena's page: what ``leaderboard.json`` says, as ``report.md``, ``report.html`` and plots.

It computes no figure; a figure that is missing is shown as missing, with its reason where one is given.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ideagora.errors import FolderUnusable, RunError
from ideagora.report.arena.matches import TopicMatches, in_full, matches_by_topic
from ideagora.report.arena.plots import criteria_plot, ratings_plot, win_rate_plot
from ideagora.report.run.load import load, strings
from ideagora.report.run.write import HTML_FILE, MARKDOWN_FILE, html_page, markdown_page, write_file
from ideagora.report.text_cleaning import clean, without_folders
from ideagora.schema import Idea

LEADERBOARD_FILE = "leaderboard.json"
PLOTS = "plots"
KINDS: tuple[Literal["svg", "png"], ...] = ("svg", "png")
Row = Mapping[str, Any]
MISSING = "–"

AUDIT = {
    "flip_rate": "verdicts that change when the order is swapped",
    "first_slot_rate": "wins of whatever was shown first (one half is fair)",
    "length_correlation": "correlation of winning with being longer",
    "own_family_preference": "preference of judges for their own model family",
    "agreement_percent": "agreement between judges",
    "cohen_kappa": "agreement between judges, Cohen's kappa",
    "krippendorff_alpha": "agreement between judges, Krippendorff's alpha",
    "intransitive_triples": "triples of agents that beat each other in a circle",
}
"""What the figures of the audit mean, in the order in which they are shown; others follow."""


@dataclass(frozen=True)
class Plot:
    """A plot: the name of its files, what it shows, and how it is drawn."""

    name: str
    shows: str
    draw: Callable[[Literal["svg", "png"]], bytes]


@dataclass(frozen=True)
class LeaderboardView:
    """A ranking to be shown: what it is called, its rows, its criteria, its plots."""

    name: str
    ranking: Sequence[Row]
    criteria: Mapping[str, Sequence[Row]]
    plots: Sequence[Plot]


@dataclass(frozen=True)
class ArenaPage:
    """All that the arena's templates show."""

    held: Mapping[str, Any]
    boards: Sequence[LeaderboardView]
    audit: Sequence[tuple[str, Mapping[str, Any]]]
    sides: Sequence[tuple[str, Sequence[Row]]]
    """Other ratings of the same verdicts, to be set beside the ranking."""
    entries: Mapping[str, Sequence[Idea]]
    """Ideas by topic."""
    in_full: frozenset[str]
    """Ids of the ideas whose text the page has room for."""
    matches: Mapping[str, TopicMatches]
    """Topic -> its matches; a topic without a readable verdict is not in it."""

    @property
    def is_smoke_test(self) -> bool:
        """Whether the offline model alone judged, so that nothing is ranked."""
        return bool(self.held.get("smoke_test"))


def write_arena_report(folder: Path) -> tuple[Path, Path]:
    """Write report.md, report.html and plots/ beside the leaderboard of a run.

    Raises:
        RunError: the folder has no readable leaderboard.
        FolderUnusable: a file cannot be written.
    """
    page = _page(folder)
    for plot in (plot for board in page.boards for plot in board.plots):
        for kind in KINDS:
            _write_bytes(folder / PLOTS / f"{plot.name}.{kind}", plot.draw(kind))
    write_file(folder / MARKDOWN_FILE, markdown_page("arena.md", page=page))
    write_file(folder / HTML_FILE, html_page("arena.html", page=page, image=_image))
    return folder / MARKDOWN_FILE, folder / HTML_FILE


def _page(folder: Path) -> ArenaPage:
    held, found = _leaderboard(folder), load(folder)
    ranked = [_board("Ideas", "ideas", held)]
    if held.get("experiments"):
        ranked.append(_board("Experiment designs", "experiments", held["experiments"]))
    topics = dict.fromkeys(idea.topic for idea in found.ideas)
    names = [row["agent"] for row in held.get("ranking") or []]
    return ArenaPage(
        held=held,
        boards=ranked,
        audit=_audit(held.get("audit") or {}),
        sides=[(name, rows) for name, rows in _sides(held) if rows],
        entries={topic: [idea for idea in found.ideas if idea.topic == topic] for topic in topics},
        in_full=in_full(found.ideas),
        matches=matches_by_topic(folder, found.ideas, names),
    )


def _leaderboard(folder: Path) -> Mapping[str, Any]:
    try:
        held = json.loads((folder / LEADERBOARD_FILE).read_text(encoding="utf-8"))
        if not isinstance(held, dict):
            raise ValueError("it is no JSON object")
    except (OSError, ValueError, RecursionError):
        raise RunError(
            f"{folder} has no readable {LEADERBOARD_FILE}. Run the arena again with the same command."
        ) from None
    told: dict[str, Any] = strings(held, lambda text: without_folders(clean(text)))
    return told


def _sides(held: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Row]]]:
    """Ratings of the same verdicts by other rules."""
    yield "corrected for position, length and judge", held.get("bias_aware") or []
    yield "as the paper has it (Elo)", (held.get("paper") or {}).get("ranking") or []


def _board(name: str, file: str, held: Mapping[str, Any]) -> LeaderboardView:
    ranking, criteria = held.get("ranking") or [], held.get("criteria") or {}
    return LeaderboardView(
        name, ranking, criteria, list(_plots(file, ranking, criteria, held.get("win_rates")))
    )


def _plots(
    file: str,
    ranking: Sequence[Row],
    criteria: Mapping[str, Sequence[Row]],
    rates: Mapping[str, Any] | None,
) -> Iterator[Plot]:
    """The plots that these figures are enough for."""
    rated = {name: rows for name, rows in criteria.items() if rows}
    if any(row["rating"] is not None for row in ranking):
        bounded = any(row.get("low") is not None for row in ranking)
        told = (
            "Ratings with their 95 % intervals, which say how they would move with other topics."
            if bounded
            else "Ratings, without intervals."
        )
        yield Plot(f"{file}-ratings", told, partial(ratings_plot, ranking))
    if len(rated) > 1:
        yield Plot(f"{file}-criteria", "Ratings by criterion.", partial(criteria_plot, rated))
    if rates and len(rates["agents"]) > 1:
        told = "Share of points of the row against the column; a tie is half a point."
        yield Plot(f"{file}-win-rates", told, partial(win_rate_plot, rates["agents"], rates["matrix"]))


def _audit(held: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    known = [(told, held[name]) for name, told in AUDIT.items() if name in held]
    return known + [
        (name.replace("_percent", "").replace("_", " "), held[name]) for name in held if name not in AUDIT
    ]


def _image(drawn: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"


def _write_bytes(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise FolderUnusable(
            f"{path} cannot be written ({error.strerror}): check rights and space."
        ) from None
