"""Plots of a benchmark's means with their intervals over samples, with matplotlib, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from textwrap import wrap
from typing import TYPE_CHECKING

from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.results.records import AgentFigure, IdeaLength
from ideagora.report.bench.label_placement import Label, place_labels
from ideagora.report.drawings.plots import (
    ACCENT,
    INK,
    SECOND,
    SOFT,
    Files,
    name_rows,
    plot_figure,
    render_files,
    short_name,
)
from ideagora.report.text_cleaning import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

MOST_PANELS = 4
"""Measures side by side."""
_COLORS = (ACCENT, SECOND, "#6b4c9a", "#3f7d20", "#b03060", "#20242b", "#c9a227", "#5b8db8")
"""Of the agents in a plot of single ideas; with more agents, all have one."""
_TITLE_WIDTH = 22
"""Characters of a panel's title, and of its unit, in one line."""


def means_plot(agents: Sequence[str], measures: Sequence[Measure], figures: Sequence[AgentFigure]) -> Files:
    """One panel per measure, agents in table order; a mean without an interval is a hollow circle."""
    with plot_figure(len(agents), panels=len(measures)) as (figure, first):
        figure.set_figheight(figure.get_figheight() + 0.5)  # titles and units of two lines
        for panel, measure in zip(figure.axes, measures, strict=True):
            found = {one.agent: one for one in figures if one.measure == measure.name}
            _draw(panel, measure, [found.get(agent) for agent in agents])
            name_rows(panel, agents)
            if panel is not first:
                panel.set_yticks([])
            _label(panel, measure, any(one.mean is not None for one in found.values()))
        return render_files(figure)


def trade_off_plot(
    agents: Sequence[str], across: Measure, up: Measure, figures: Sequence[AgentFigure]
) -> Files:
    """Two measures of each agent, higher being better on both, and a line along the Pareto front."""
    means = {(one.agent, one.measure): one.mean for one in figures}
    points = []
    for agent in agents:
        x, y = means.get((agent, across.name)), means.get((agent, up.name))
        if x is not None and y is not None:
            points.append((agent, x, y))
    with plot_figure(14) as (figure, panel):
        front = pareto_front(points)
        panel.plot([x for _, x, _ in front], [y for *_, y in front], color=SECOND, lw=1, ls="--")
        for some, color in ((points, ACCENT), (front, SECOND)):
            panel.plot([x for _, x, _ in some], [y for *_, y in some], "o", color=color, ms=6)
        panel.set_xlabel(_lines(f"{across.title} ({across.unit})"), fontsize=9)
        panel.set_ylabel(_lines(f"{up.title} ({up.unit})"), fontsize=9)
        panel.margins(x=0.2, y=0.15)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # labels are placed in the final layout
        others = [point for point in points if point not in front]
        labels = [Label(short_name(agent, 24), x, y) for agent, x, y in (*front, *others)]
        place_labels(panel, labels, [(x, y) for _, x, y in front])
        return render_files(figure)


def category_plot(
    agents: Sequence[str], measure: Measure, categories: Mapping[str, Sequence[AgentFigure]]
) -> Files:
    """A heat map of the means of one measure: agents as rows, categories as columns."""
    means = {
        (one.agent, name): one.mean
        for name, figures in categories.items()
        for one in figures
        if one.measure == measure.name
    }
    rows = [[means.get((agent, name)) for name in categories] for agent in agents]
    values = [[nan if value is None else value for value in row] for row in rows]
    with plot_figure(len(agents)) as (figure, panel):
        figure.set_size_inches(3.4 + 0.42 * len(categories), 2.2 + 0.36 * len(agents))
        image = panel.imshow(values, cmap="cividis", aspect="auto")
        panel.set_yticks(range(len(agents)), [short_name(agent) for agent in agents])
        panel.set_xticks(
            range(len(categories)), [short_name(name, 26) for name in categories], rotation=60, ha="right",
            rotation_mode="anchor", fontsize=8,
        )  # fmt: skip
        panel.tick_params(length=0)
        for side in panel.spines.values():
            side.set_visible(False)
        _write_values(panel, image, rows)
        figure.colorbar(image, ax=panel, shrink=0.9, pad=0.02).set_label(_lines(measure.title), fontsize=9)
        return render_files(figure)


def _write_values(panel: Axes, image: AxesImage, rows: Sequence[Sequence[float | None]]) -> None:
    """The values in the cells, dark on light and light on dark; a point where there is none."""
    low, high = image.get_clim()
    middle = low + 0.55 * (high - low)
    for up, row in enumerate(rows):
        for across, value in enumerate(row):
            text = "·" if value is None else f"{value:.1f}"
            color = INK if value is None or value > middle else "white"
            panel.text(across, up, text, ha="center", va="center", fontsize=7, color=color)


def length_plot(agents: Sequence[str], ideas: Sequence[IdeaLength], unit: str) -> Files:
    """The mean rating of each idea against its length in words, on a logarithmic scale if it spans much."""
    with plot_figure(14) as (figure, panel):
        for place, agent in enumerate(agents):
            own = [one for one in ideas if one.agent == agent]
            color = _COLORS[place] if len(agents) <= len(_COLORS) else ACCENT
            label = short_name(agent, 24) if len(agents) <= len(_COLORS) else None
            across, up = [one.words for one in own], [one.rating for one in own]
            panel.plot(across, up, "o", ms=4, alpha=0.6, mew=0, color=color, label=label)
        words = [one.words for one in ideas]
        if max(words) > 8 * max(1, min(words)):
            panel.set_xscale("log")
            panel.xaxis.set_major_formatter("{x:g}")
        panel.set_xlabel("words of the idea", fontsize=9)
        panel.set_ylabel(_lines(f"mean rating ({unit})"), fontsize=9)
        if len(agents) <= len(_COLORS):
            figure.legend(loc="outside right upper", fontsize=8, frameon=False)
        return render_files(figure)


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


def _draw(panel: Axes, measure: Measure, figures: Sequence[AgentFigure | None]) -> None:
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
    if measure.has_bars and measure.lowest is not None:
        lengths = [mean - measure.lowest for _, mean, *_ in known]
        panel.barh(
            [place for place, *_ in known], lengths, left=measure.lowest, height=0.6, color=ACCENT, alpha=0.25
        )
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
