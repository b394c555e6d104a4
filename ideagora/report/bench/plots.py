"""Plots of a benchmark's means with their intervals over samples, with matplotlib, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.results import AgentFigure
from ideagora.report.drawings.plots import ACCENT, INK, SOFT, name_rows, plot_figure, render
from ideagora.report.text_cleaning import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 4
"""Measures side by side."""
_TITLE_WIDTH = 22
"""Characters of a panel's title, and of its unit, in one line."""


def means_plot(
    agents: Sequence[str],
    measures: Sequence[Measure],
    figures: Sequence[AgentFigure],
    kind: Literal["svg", "png"] = "svg",
) -> bytes:
    """One panel per measure, agents in table order; a mean without an interval is a hollow circle."""
    with plot_figure(len(agents), panels=len(measures)) as (figure, _):
        height = figure.get_figheight()
        figure.set_figheight(height + 0.5)  # titles and units of two lines
        for panel, measure in zip(figure.axes, measures, strict=True):
            found = {one.agent: one for one in figures if one.measure == measure.name}
            for place, agent in enumerate(agents):
                _draw(panel, place, found.get(agent))
            name_rows(panel, agents if panel is figure.axes[0] else [""] * len(agents))
            _label(panel, measure, any(one.mean is not None for one in found.values()))
        return render(figure, kind)


def _draw(panel: Axes, place: int, figure: AgentFigure | None) -> None:
    if figure is None or figure.mean is None:
        panel.text(
            0.5, place, "no score", transform=panel.get_yaxis_transform(), color=SOFT, fontsize=8,
            ha="center", va="center",
        )  # fmt: skip
        return
    fill = "white"
    if figure.low is not None and figure.high is not None:
        panel.plot([figure.low, figure.high], [place, place], color=ACCENT, lw=2, alpha=0.55)
        fill = ACCENT
    panel.plot(figure.mean, place, "o", color=ACCENT, markerfacecolor=fill, ms=6)


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
