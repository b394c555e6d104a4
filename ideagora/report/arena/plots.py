"""Plots of a leaderboard with matplotlib, as SVG and PNG.

All text is plain text, since names are untrusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ideagora.report.drawings.plots import (
    ACCENT,
    INK,
    Files,
    name_rows,
    plot_figure,
    render_files,
    short_name,
)
from ideagora.report.text_cleaning import clean

if TYPE_CHECKING:
    from ideagora.evaluators.arena.leaderboard.records import LeaderboardRow


def ratings_plot(rows: Sequence[LeaderboardRow]) -> Files:
    """Ratings, best on top, each with its interval where there is one."""
    with plot_figure(len(rows)) as (figure, axes):
        for place, row in enumerate(rows):
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [place, place], color=ACCENT, lw=2, alpha=0.55)
            if row.rating is not None:
                axes.plot(row.rating, place, "o", color=ACCENT, ms=6)
        name_rows(axes, [row.agent for row in rows])
        axes.set_xlabel("rating")
        return render_files(figure)


def criteria_plot(criteria: Mapping[str, Sequence[LeaderboardRow]]) -> Files:
    """One panel per criterion, with agents in the order of the first panel."""
    names = [row.agent for row in next(iter(criteria.values()))]
    with plot_figure(len(names), panels=len(criteria)) as (figure, _):
        for panel, (criterion, rows) in zip(figure.axes, criteria.items(), strict=True):
            by_agent = {row.agent: row for row in rows}
            for place, name in enumerate(names):
                row = by_agent.get(name)
                if row is None or row.rating is None:
                    continue
                if row.low is not None and row.high is not None:
                    panel.plot([row.low, row.high], [place, place], color=ACCENT, lw=2, alpha=0.55)
                panel.plot(row.rating, place, "o", color=ACCENT, ms=5)
            name_rows(panel, names if panel is figure.axes[0] else [""] * len(names))
            panel.set_title(clean(criterion).replace("_", " "), fontsize=10, color=INK)
        return render_files(figure)


def win_rate_plot(agents: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> Files:
    """Share of verdicts in which the row beat the column (ties count half); empty if they never met."""
    import numpy as np

    shares = np.array([[np.nan if share is None else share for share in row] for row in matrix], dtype=float)
    with plot_figure(len(agents), square=True) as (figure, axes):
        axes.imshow(shares, vmin=0, vmax=1, cmap="BrBG", aspect="equal")
        for (row, column), share in np.ndenumerate(shares):
            if not np.isnan(share):
                dark = abs(share - 0.5) > 0.32
                ink = "white" if dark else INK
                axes.text(column, row, f"{share:.2f}", ha="center", va="center", color=ink, fontsize=9)
        axes.set_xticks(range(len(agents)), [short_name(name, 16) for name in agents], rotation=35, ha="left")
        axes.set_yticks(range(len(agents)), [short_name(name, 24) for name in agents])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        return render_files(figure)
