"""Plots of a benchmark's means with their intervals over samples, with matplotlib, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.results.records import AgentFigure
from ideagora.report.drawings.plots import (
    ACCENT,
    INK,
    SECOND,
    SOFT,
    name_rows,
    plot_figure,
    render,
    short_name,
)
from ideagora.report.text_cleaning import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["svg", "png"]
KINDS: tuple[Kind, ...] = ("svg", "png")
MOST_PANELS = 4
"""Measures side by side."""
_TITLE_WIDTH = 22
"""Characters of a panel's title, and of its unit, in one line."""


def means_plot(
    agents: Sequence[str], measures: Sequence[Measure], figures: Sequence[AgentFigure]
) -> dict[Kind, bytes]:
    """One panel per measure, agents in table order; a mean without an interval is a hollow circle."""
    with plot_figure(len(agents), panels=len(measures)) as (figure, first):
        figure.set_figheight(figure.get_figheight() + 0.5)  # titles and units of two lines
        for panel, measure in zip(figure.axes, measures, strict=True):
            found = {one.agent: one for one in figures if one.measure == measure.name}
            _draw(panel, [found.get(agent) for agent in agents])
            name_rows(panel, agents)
            if panel is not first:
                panel.set_yticks([])
            _label(panel, measure, any(one.mean is not None for one in found.values()))
        return {kind: render(figure, kind) for kind in KINDS}


def trade_off_plot(
    agents: Sequence[str], across: Measure, up: Measure, figures: Sequence[AgentFigure]
) -> dict[Kind, bytes]:
    """Two measures of each agent, higher being better on both, and a line along the Pareto front."""
    means = {(one.agent, one.measure): one.mean for one in figures}
    points = []
    for agent in agents:
        x, y = means.get((agent, across.name)), means.get((agent, up.name))
        if x is not None and y is not None:
            points.append((agent, x, y))
    with plot_figure(12) as (figure, panel):
        front = [(x, y) for _, x, y in pareto_front(points)]
        panel.plot([x for x, _ in front], [y for _, y in front], color=SECOND, lw=1, ls="--")
        panel.plot([x for _, x, _ in points], [y for *_, y in points], "o", color=ACCENT, ms=6)
        for agent, x, y in points:
            panel.annotate(short_name(agent), (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
        panel.set_xlabel(_lines(f"{across.title} ({across.unit})"), fontsize=9)
        panel.set_ylabel(_lines(f"{up.title} ({up.unit})"), fontsize=9)
        panel.margins(x=0.15, y=0.12)
        return {kind: render(figure, kind) for kind in KINDS}


def pareto_front(points: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """The points (name, x, y) that no other one matches on both and beats on one, by x."""
    return sorted(
        (
            one
            for one in points
            if not any(other[1] >= one[1] and other[2] >= one[2] and other[1:] != one[1:] for other in points)
        ),
        key=lambda point: point[1],
    )


def _draw(panel: Axes, figures: Sequence[AgentFigure | None]) -> None:
    for place, one in enumerate(figures):
        if one is None or one.mean is None:
            panel.text(
                0.5, place, "no score", transform=panel.get_yaxis_transform(), color=SOFT, fontsize=8,
                ha="center", va="center",
            )  # fmt: skip
    known = [
        (place, one.mean, one.low, one.high)
        for place, one in enumerate(figures)
        if one is not None and one.mean is not None
    ]
    spans = [(place, low, high) for place, _, low, high in known if low is not None and high is not None]
    if spans:
        places, lows, highs = zip(*spans, strict=True)
        panel.hlines(places, lows, highs, color=ACCENT, lw=2, alpha=0.55)
    for bounded, fill in ((True, ACCENT), (False, "white")):
        dots = [(mean, place) for place, mean, low, _ in known if (low is not None) == bounded]
        panel.plot(
            [mean for mean, _ in dots], [place for _, place in dots], "o", color=ACCENT,
            markerfacecolor=fill, ms=6,
        )  # fmt: skip


def _label(panel: Axes, measure: Measure, has_scores: bool) -> None:
    direction = "" if measure.higher_is_better else ", lower is better"
    panel.set_title(_lines(measure.title), fontsize=10, color=INK)
    panel.set_xlabel(_lines(f"{measure.unit}{direction}"), fontsize=9)
    panel.margins(x=0.08)
    panel.locator_params(axis="x", nbins=4)  # numbers of neighbouring panels do not touch
    _keep_on_scale(panel, measure)
    if not has_scores:
        panel.set_xticks([])


def _keep_on_scale(panel: Axes, measure: Measure) -> None:
    """Show nothing beyond the bounds of the measure, except half a dot."""
    left, right = panel.get_xlim()
    if measure.lowest is not None and measure.highest is not None:
        edge = 0.03 * min(right - left, measure.highest - measure.lowest)
        panel.set_xlim(max(left, measure.lowest - edge), min(right, measure.highest + edge))


def _lines(text: str) -> str:
    words = " ".join(clean(text).split())
    return "\n".join(wrap(words, _TITLE_WIDTH, max_lines=2, placeholder=" …", break_on_hyphens=False))
