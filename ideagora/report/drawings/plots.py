"""What all plots share: style, figures with a row per agent, names as plain text, files with stable bytes."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ideagora.report.text_cleaning import clean, cut_middle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["svg", "png"]
Files = Mapping[Kind, bytes]
"""A plot's content by format."""
INK, SOFT, ACCENT, SECOND, LINE = "#20242b", "#555d69", "#0e5a66", "#9c5a1c", "#dfdbd1"
LONGEST_NAME = 34
_INCHES_A_ROW = 0.36
_DOTS_PER_INCH = 160
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


@dataclass(frozen=True)
class Plot:
    """A plot: file name, caption and files."""

    name: str
    shows: str
    files: Files


def image_url(svg: bytes) -> str:
    """The picture as a URL that contains it, for a page without other files."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


@contextmanager
def plot_figure(rows: int, panels: int = 1, square: bool = False) -> Iterator[tuple[Figure, Axes]]:
    """A figure with a row per agent, and its first panel; ``square`` for matrices."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    height = 1.1 + _INCHES_A_ROW * rows * (1.6 if square else 1.0)
    width = height + 3.6 if square else (7.2 if panels == 1 else 3.4 + 1.9 * panels)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.subplots(1, panels)
        yield figure, figure.axes[0]


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows, the first one on top."""
    axes.set_yticks(range(len(names)), [short_name(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color=LINE, lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name without control characters, cut to the longest length."""
    shown = " ".join(clean(name).split())
    return cut_middle(shown, longest)


def render_files(figure: Figure) -> Files:
    """The figure in every format, all with the layout of the first; the same figure gives the same bytes.

    ``Figure.savefig`` would draw it twice for each format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    svg, png = io.BytesIO(), io.BytesIO()
    with warnings.catch_warnings():  # a name may have characters that the font lacks
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        FigureCanvasSVG(figure).print_svg(svg, metadata={"Date": None})  # type: ignore[no-untyped-call]
        figure.set_layout_engine("none")
        figure.set_dpi(_DOTS_PER_INCH)
        FigureCanvasAgg(figure).print_png(png)  # type: ignore[no-untyped-call]
    return {"svg": svg.getvalue(), "png": png.getvalue()}


def draw_nothing() -> None:
    """Draw an empty figure, so that libraries and fonts are loaded when the first plot is drawn."""
    with plot_figure(1) as (figure, axes):
        name_rows(axes, [""])
        render_files(figure)
