"""Plots of a leaderboard with matplotlib, as SVG and PNG.

All text is plain text, since names are untrusted.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from ideagora.report.text_cleaning import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ideagora.evaluators.arena.leaderboard.records import LeaderboardRow

INK, SOFT, ACCENT, SECOND, LINE = "#20242b", "#555d69", "#0e5a66", "#9c5a1c", "#dfdbd1"
LONGEST_NAME = 34
_INCHES_A_ROW = 0.36
_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "text.parse_math": False,  # a name with two dollars is not a formula
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "xtick.color": SOFT,
    "ytick.color": INK,
    "svg.fonttype": "path",
    "svg.hashsalt": "ideagora",  # the same figures give the same bytes
}


def ratings_plot(rows: Sequence[LeaderboardRow], kind: Literal["svg", "png"] = "svg") -> bytes:
    """Ratings, best on top, each with its interval where there is one."""
    with _figure(len(rows)) as (figure, axes):
        for place, row in enumerate(rows):
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [place, place], color=ACCENT, lw=2, alpha=0.55)
            if row.rating is not None:
                axes.plot(row.rating, place, "o", color=ACCENT, ms=6)
        _names(axes, [row.agent for row in rows])
        axes.set_xlabel("rating")
        return _render(figure, kind)


def criteria_plot(
    criteria: Mapping[str, Sequence[LeaderboardRow]], kind: Literal["svg", "png"] = "svg"
) -> bytes:
    """One panel per criterion, with agents in the order of the first panel."""
    names = [row.agent for row in next(iter(criteria.values()))]
    with _figure(len(names), panels=len(criteria)) as (figure, _):
        for panel, (criterion, rows) in zip(figure.axes, criteria.items(), strict=True):
            found = {row.agent: row for row in rows}
            for place, name in enumerate(names):
                row = found.get(name)
                if row is None or row.rating is None:
                    continue
                if row.low is not None and row.high is not None:
                    panel.plot([row.low, row.high], [place, place], color=ACCENT, lw=2, alpha=0.55)
                panel.plot(row.rating, place, "o", color=ACCENT, ms=5)
            _names(panel, names if panel is figure.axes[0] else [""] * len(names))
            panel.set_title(clean(criterion).replace("_", " "), fontsize=10, color=INK)
        return _render(figure, kind)


def win_rate_plot(
    agents: Sequence[str], matrix: Sequence[Sequence[float | None]], kind: Literal["svg", "png"] = "svg"
) -> bytes:
    """Share of verdicts in which the row beat the column (ties count half); empty if they never met."""
    import numpy as np

    shares = np.array([[np.nan if share is None else share for share in row] for row in matrix], dtype=float)
    with _figure(len(agents), square=True) as (figure, axes):
        axes.imshow(shares, vmin=0, vmax=1, cmap="BrBG", aspect="equal")
        for (row, column), share in np.ndenumerate(shares):
            if not np.isnan(share):
                dark = abs(share - 0.5) > 0.32
                ink = "white" if dark else INK
                axes.text(column, row, f"{share:.2f}", ha="center", va="center", color=ink, fontsize=9)
        axes.set_xticks(range(len(agents)), [_short(name, 16) for name in agents], rotation=35, ha="left")
        axes.set_yticks(range(len(agents)), [_short(name, 24) for name in agents])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        return _render(figure, kind)


@contextmanager
def _figure(rows: int, panels: int = 1, square: bool = False) -> Iterator[tuple[Figure, Axes]]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    height = 1.1 + _INCHES_A_ROW * rows * (1.6 if square else 1.0)
    width = height + 3.6 if square else (7.2 if panels == 1 else 3.4 + 1.9 * panels)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.subplots(1, panels)
        yield figure, figure.axes[0]


def _names(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color=LINE, lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _short(name: str, longest: int = LONGEST_NAME) -> str:
    shown = " ".join(clean(name).split())
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _render(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
