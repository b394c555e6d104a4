"""Writes a benchmark's result into its folder: ``report.md``, ``report.html``, tables and plots.

It computes no figures; missing figures are shown as missing, with their reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ideagora.benchmarks.results.records import AgentFigure, BenchmarkResult, Comparison, read_results
from ideagora.errors import FolderUnusable
from ideagora.report.bench.categories import CategoryTable, category_tables, length_text
from ideagora.report.bench.cells import (
    BEST,
    OFFLINE,
    SMOKE_TEST,
    STATUS,
    Columns,
    better_first,
    headline,
    interval,
    legend,
    number,
    p_value,
    page_columns,
    parts,
    ranks,
    reasons,
    shown,
    usage,
)
from ideagora.report.bench.plots import (
    MOST_PANELS,
    category_plot,
    length_plot,
    means_plot,
    trade_off_plot,
)
from ideagora.report.bench.table_exports import (
    csv_categories,
    csv_comparisons,
    csv_table,
    latex_table,
    markdown_rows,
)
from ideagora.report.drawings.plots import Plot, draw_nothing, image_url
from ideagora.report.run.write import (
    HTML_FILE,
    MARKDOWN_FILE,
    html_page,
    load_templates,
    markdown_page,
    write_file,
)

PLOTS = "plots"
MOST_COMPARISONS = 60
"""Comparisons of a measure on the page; comparisons.csv has all of them."""


@dataclass(frozen=True)
class ComparisonRow:
    """One comparison as text; the agent with the better mean is the first."""

    first: str
    second: str
    difference: str
    interval: str
    p: str
    p_holm: str
    n: int
    significant: bool


@dataclass(frozen=True)
class MeasureView:
    """Ranks and comparisons on one measure."""

    title: str
    unit: str
    ranks: tuple[tuple[str, str], ...]
    """(agent, ranks), best first; agents without a mean are last."""
    comparisons: tuple[ComparisonRow, ...]
    left_out: int
    """Further comparisons, which are not shown."""
    detectable: str
    detectable_alone: str


@dataclass(frozen=True)
class ResultView:
    """One protocol's result as the templates show it."""

    result: BenchmarkResult
    headline: str
    status: str | None
    columns: tuple[Columns, ...]
    markdown: tuple[str, ...]
    """The same as Markdown, escaped."""
    legend: tuple[str, ...]
    plots: tuple[Plot, ...]
    measures: tuple[MeasureView, ...]
    """Those with something to compare."""
    reasons: tuple[tuple[str, str, int], ...]
    usage: str | None
    categories: tuple[CategoryTable, ...]


def load_libraries() -> None:
    """Import what figures and page are made with, so that writing them takes less time afterwards."""
    import pylatexenc.latexencode  # noqa: F401
    import scipy.special  # noqa: F401

    import ideagora.benchmarks.results.summary  # noqa: F401

    draw_nothing()
    load_templates("bench.html", "bench.md")


def write_benchmark_report(folder: Path) -> tuple[Path, Path]:
    """Write the report of the results in a folder (``write_report``).

    Raises:
        RunError: the folder has no readable results.
        FolderUnusable: a file cannot be written.
    """
    return write_report(folder, *read_results(folder))


def write_report(folder: Path, *results: BenchmarkResult) -> tuple[Path, Path]:
    """Write report.md, report.html, results.csv, comparisons.csv, categories.csv, results.tex and plots/.

    Args:
        folder: where to.
        results: one per protocol.

    Returns:
        The paths of report.md and report.html.

    Raises:
        FolderUnusable: a file cannot be written.
    """
    views = [_view(shown(result)) for result in results]
    _write_plots(folder / PLOTS, [plot for view in views for plot in view.plots])
    write_file(folder / "results.csv", _joined([csv_table(result) for result in results]))
    write_file(folder / "comparisons.csv", _joined([csv_comparisons(result) for result in results]))
    write_file(folder / "results.tex", "\n".join(latex_table(result) for result in results))
    if any(result.categories for result in results):
        write_file(folder / "categories.csv", _joined([csv_categories(result) for result in results]))
    words = {"smoke_test": SMOKE_TEST, "offline": OFFLINE, "best": BEST}
    write_file(folder / MARKDOWN_FILE, markdown_page("bench.md", views=views, **words))
    write_file(folder / HTML_FILE, html_page("bench.html", views=views, image=image_url, **words))
    return folder / MARKDOWN_FILE, folder / HTML_FILE


def _view(result: BenchmarkResult) -> ResultView:
    columns = page_columns(result)
    return ResultView(
        result=result,
        headline=headline(result),
        status=STATUS.get(result.status),
        columns=columns,
        markdown=tuple("\n".join(markdown_rows(part)) for part in columns),
        legend=tuple(legend(result)),
        plots=tuple(_plots(result)),
        measures=tuple(_measures(result)),
        reasons=tuple(reasons(result)),
        usage=usage(result),
        categories=tuple(category_tables(result)),
    )


def _plots(result: BenchmarkResult) -> Iterator[Plot]:
    """Plots of the measures that have figures, a few side by side."""
    scored = {one.measure for one in result.figures if one.mean is not None}
    measures = [measure for measure in result.measures if measure.name in scored]
    agents = [row.agent for row in result.agents]
    for part, places in enumerate(parts(measures, MOST_PANELS), 1):
        panels = [measures[place] for place in places]
        drawn = means_plot(agents, panels, result.figures)
        shows = (
            f"{', '.join(measure.title for measure in panels)}. Means with 95 % intervals over "
            f"{result.wording.sample}s. A hollow circle is a mean without an interval."
        )
        yield Plot(f"means-{result.protocol}-{part}", shows, drawn)
    by_name = {measure.name: measure for measure in measures}
    for measure in measures:
        if measure.against in by_name and len(agents) > 1:
            across = by_name[measure.against]
            drawn = trade_off_plot(agents, across, measure, result.figures)
            shows = (
                f"{measure.title} against {across.title}, as means. The dashed line and its points are the "
                "Pareto front. Names that find no room are in the table."
            )
            yield Plot(f"trade-off-{result.protocol}-{measure.name}", shows, drawn)
    for measure in measures:
        if measure.is_summary and result.categories:
            drawn = category_plot(agents, measure, result.categories)
            yield Plot(f"categories-{result.protocol}-{measure.name}", f"{measure.title} by category.", drawn)
    if result.lengths is not None:
        drawn = length_plot(agents, result.lengths.ideas, measures[0].unit if measures else "")
        yield Plot(f"lengths-{result.protocol}", " ".join(length_text(result.lengths)), drawn)


def _measures(result: BenchmarkResult) -> Iterator[MeasureView]:
    sensitivity = {one.measure: one for one in result.sensitivity}
    for measure in result.measures:
        figures = [one for one in result.figures if one.measure == measure.name]
        rows = [one for one in result.comparisons if one.measure == measure.name and one.n]
        if not rows:
            continue
        compared = sorted((better_first(one, measure) for one in rows), key=_by_p)
        of_measure = sensitivity.get(measure.name)
        yield MeasureView(
            title=measure.title,
            unit=measure.unit + ("" if measure.higher_is_better else ", lower is better"),
            ranks=tuple((one.agent, ranks(one)) for one in sorted(figures, key=_by_rank)),
            comparisons=tuple(
                ComparisonRow(
                    first=one.first,
                    second=one.second,
                    difference=number(one.difference, measure, sign=True),
                    interval=interval(one.low, one.high, measure, sign=True),
                    p=p_value(one.p),
                    p_holm=p_value(one.p_holm),
                    n=one.n,
                    significant=one.significant,
                )
                for one in compared[:MOST_COMPARISONS]
            ),
            left_out=max(0, len(compared) - MOST_COMPARISONS),
            detectable=number(of_measure.detectable_corrected if of_measure else None, measure),
            detectable_alone=number(of_measure.detectable if of_measure else None, measure),
        )


def _by_p(one: Comparison) -> tuple[float, float]:
    return (2.0 if one.p is None else one.p, -abs(one.difference or 0.0))


def _by_rank(one: AgentFigure) -> tuple[bool, int]:
    return (one.rank is None, one.rank or 0)


def _joined(tables: Sequence[str]) -> str:
    """Tables with the same header as one."""
    return "".join(table if place == 0 else table.split("\n", 1)[1] for place, table in enumerate(tables))


def _write_plots(folder: Path, plots: Sequence[Plot]) -> None:
    """Replace the plots, including those of measures that are no longer computed."""
    try:
        for old in folder.glob("*"):
            old.unlink()
        if plots:
            folder.mkdir(exist_ok=True)
        for plot in plots:
            for kind, content in plot.files.items():
                (folder / f"{plot.name}.{kind}").write_bytes(content)
    except OSError as error:
        raise FolderUnusable(
            f"{folder} cannot be written ({error.strerror}): "
            "check the folder's permissions and the free space."
        ) from None
