"""Tables, plots and page of a benchmark: every figure or why it is missing, and no foreign text at work."""

from __future__ import annotations

import base64
import csv
import io
import random
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

from markdown_it import MarkdownIt
from matplotlib.text import Text
from rich.console import Console

from ideagora.benchmarks.benchmark import Scores
from ideagora.benchmarks.results.lengths import idea_lengths
from ideagora.benchmarks.results.records import AgentSummary, BenchmarkResult, Coverage, write_results
from ideagora.report.bench.cells import parts, reasons
from ideagora.report.bench.label_placement import Label, place_labels
from ideagora.report.bench.page import write_benchmark_report, write_report
from ideagora.report.bench.table_exports import csv_comparisons, csv_table, latex_table, markdown_table
from ideagora.report.bench.terminal import terminal_table
from ideagora.report.drawings.plots import plot_figure
from ideagora.schema import Usage, Verdict
from tests.report.test_report_safety import ATTRIBUTES, TAGS
from tests.support.benchmark_results import POINTS, RANK, SHARE, built, result_of
from tests.support.report_pages import EVIL, LONG, Page

BETTER = {str(place): 3.0 + place % 3 for place in range(20)}
WORSE = {str(place): 1.0 + place % 4 for place in range(16)} | {"16": None}


def sample_result() -> BenchmarkResult:
    """Two agents on 20 samples; the first is significantly better, the second has gaps."""
    return built(
        {"points": {"first": BETTER, "second": WORSE}, "share": {"first": {"1": 1.0}, "second": {}}},
        [POINTS, SHARE],
        benchmark="bench",
        title="A benchmark",
        n_samples=20,
        judges=["model"],
        usage=Usage(calls=37, prompt_tokens=12000, completion_tokens=800, cost_usd=0.25),
        agents=[
            AgentSummary(agent="second", missing={"it raised ValueError": 3}),
            AgentSummary(agent="first"),
        ],
        coverage=[Coverage(kind="points", scored=36, unscored=1, reasons={"two letters": 1})],
    )


def terminal(result: BenchmarkResult, width: int = 100) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(terminal_table(result))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_every_format_shows_means_intervals_counts_and_the_best(tmp_path: Path) -> None:
    result = sample_result()
    assert "second has no idea on 3 samples: it raised ValueError" in terminal(result)
    first = result.figure("first", "points")
    assert first.low is not None
    assert first.high is not None
    span = f"{first.low:.2f} to {first.high:.2f}"
    shown = terminal(result)
    assert re.search(r"^first +3\.95 \*", shown, re.MULTILINE)
    markdown, latex = markdown_table(result), latex_table(result)
    assert f"| first | **3.95** ({span}) |" in markdown
    assert "first & \\textbf{3.95} &" in latex
    assert f"\\scriptsize {span} &" in latex
    page = Page(write_report(tmp_path, result)[1].read_text(encoding="utf-8"))
    assert f"3.95 {span}" in page.text
    assert (tmp_path / "report.md").read_text(encoding="utf-8").count("**3.95**") == 1
    for text in (shown, page.text):
        for words in (
            span, "2 agents on 20 samples, judged by model", "17 of 20 samples", "n = 16", "1 unscored",
            "no interval", "An interval needs at least two samples; 1 is scored.", "two letters",
            "it raised ValueError",
            "The judges' answers took 37 calls: 12,000 tokens in, 800 out, $0.2500.",
        ):  # fmt: skip
            assert words in text


def test_unasked_questions_and_their_samples_are_among_the_reasons() -> None:
    coverage = Coverage(kind="fa", unscored=3, reasons={"no paper": 3}, unasked=5, incomplete=("1", "2"))
    result = replace(sample_result(), coverage=(coverage,))
    assert reasons(result) == [
        ("fa", "not asked: the budget was spent, or a provider was down (2 samples left out)", 5),
        ("fa", "no paper", 3),
    ]


def test_csv_has_one_row_per_figure_and_per_pair(tmp_path: Path) -> None:
    result = sample_result()
    rows = list(csv.DictReader(io.StringIO(csv_table(result))))
    assert [(row["measure"], row["agent"], row["n"], row["best"]) for row in rows] == [
        ("points", "second", "16", "0"), ("points", "first", "20", "1"),
        ("share", "second", "0", "0"), ("share", "first", "1", "0"),
    ]  # fmt: skip
    assert float(rows[1]["mean"]) == 3.95
    assert rows[2]["mean"] == ""
    (pair, _) = csv.DictReader(io.StringIO(csv_comparisons(result)))
    assert (pair["first"], pair["second"], pair["n"]) == ("first", "second", "16")
    both = replace(result, protocol="paper")
    write_report(tmp_path, result, both)
    written = list(csv.DictReader(io.StringIO((tmp_path / "results.csv").read_text(encoding="utf-8"))))
    assert [row["protocol"] for row in written] == ["default"] * 4 + ["paper"] * 4


def test_where_lower_is_better_the_lower_one_wins() -> None:
    assert "Rank: second better than first by" in terminal(
        result_of({"first": BETTER, "second": WORSE}, RANK)
    )


def test_nothing_compared_scored_or_ranked_is_said(tmp_path: Path) -> None:
    cases = {
        "There is one agent, so nothing is compared.": result_of({"a": BETTER}),
        "Nothing is scored; the reasons are below.": result_of({"a": {"1": None}, "b": {"1": None}}),
        "An interval needs at least two samples; 1 is scored.": result_of({"a": {"1": 1.0}, "b": {"1": 2.0}}),
        "Smoke test, not a ranking": result_of({"a": BETTER, "b": WORSE}, judges=["offline"]),
    }
    for words, result in cases.items():
        page = Page(write_report(tmp_path, result)[1].read_text(encoding="utf-8")).text
        for text in (page, " ".join(terminal(result).split())):
            assert words in text, words
            assert not {"nan", "None", "inf"} & set(re.findall(r"\w+", text)), words
            assert "ignificant differences" not in text, words


def test_a_narrow_terminal_splits_the_table_and_cuts_nothing() -> None:
    measures = [
        POINTS.model_copy(update={"name": f"m{number}", "title": f"M{number}"}) for number in range(9)
    ]
    scores: Scores = {measure.name: {"an-agent": BETTER, LONG: WORSE} for measure in measures}
    result = built(scores, measures, benchmark="b", title="B")
    shown = terminal(result, 60)
    assert all(len(line) <= 60 for line in shown.splitlines())
    assert len(re.findall(r"3\.95", shown)) == len(measures)
    assert len(re.findall("^agent ", shown, re.MULTILINE)) > 1


def test_measures_of_a_group_stay_together_where_they_fit() -> None:
    groups = "a a b b b c d d d d d d d".split()
    measures = [POINTS.model_copy(update={"group": group}) for group in groups]
    assert parts(measures, 5) == [[0, 1, 2, 3, 4], [5], [6, 7, 8], [9, 10, 11, 12]]
    assert parts(measures, 4) == [[0, 1], [2, 3, 4, 5], [6, 7, 8], [9, 10, 11, 12]]
    assert parts([], 4) == []


def test_plots_are_files_and_stand_in_the_page(tmp_path: Path) -> None:
    write_results(tmp_path, [sample_result()])
    page = Page(write_benchmark_report(tmp_path)[1].read_text(encoding="utf-8"))
    (image,) = [attrs for tag, attrs in page.tags if tag == "img"]
    svg = (tmp_path / "plots" / "means-default-1.svg").read_bytes()
    assert base64.b64decode((image["src"] or "").removeprefix("data:image/svg+xml;base64,")) == svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert (tmp_path / "plots" / "means-default-1.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "plots" / "means-default-2.svg").write_bytes(b"of an earlier result")
    write_benchmark_report(tmp_path)
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {
        "means-default-1.svg", "means-default-1.png",
    }  # fmt: skip
    once = [path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    write_benchmark_report(tmp_path)
    assert once == [path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()]


def test_hostile_names_reasons_and_notes_stay_text(tmp_path: Path) -> None:
    names = (EVIL, "$x^2$ \\input{/etc/passwd} \x1b[31m", "=1+1\x00\u202e", "模型")
    result = built(
        {"points": dict.fromkeys(names, BETTER)},
        [POINTS.model_copy(update={"title": EVIL, "unit": EVIL})],
        benchmark=EVIL,
        title=EVIL,
        source=EVIL,
        judges=[EVIL],
        notes=[EVIL],
        agents=[AgentSummary(agent=name, source=EVIL, missing={EVIL: 1}) for name in names],
        coverage=[Coverage(kind=EVIL, scored=0, unscored=1, reasons={EVIL: 1})],
    )
    page = Page(write_report(tmp_path, result)[1].read_text(encoding="utf-8"))
    assert {tag for tag, _ in page.tags} <= TAGS | {"img"}
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES | {"src", "alt"}
    assert not page.links
    for markdown in ((tmp_path / "report.md").read_text(encoding="utf-8"), markdown_table(result)):
        read = Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
        assert "script" not in {tag for tag, _ in read.tags}
        assert {attrs["src"] for tag, attrs in read.tags if tag == "img"} <= {"plots/means-default-1.svg"}
        assert not read.links
    assert "\\input{" not in latex_table(result)
    assert "$" not in latex_table(result).replace("\\$", "")
    assert "\n=1" not in csv_table(result)
    assert ",'=1+1," in csv_table(result)
    assert "\x1b" not in terminal(result)


def test_figures_by_category_and_lengths_are_on_the_page(tmp_path: Path) -> None:
    rows: dict[str, dict[str, float | None]] = {
        "ann": {"ice": 4, "snow": 6, "sun": 9}, "bob": {"ice": 2, "snow": None, "sun": 5}
    }  # fmt: skip
    rated = [("ann", 10, 4), ("ann", 20, 6), ("bob", 40, 9), ("bob", 30, 8)]
    lengths = idea_lengths(
        Verdict(
            id=str(words), evaluator="e", protocol="default", topic="t", subject=(str(words),), judge="j",
            criteria={"one": rating - 1, "two": rating + 1}, status="scored", agents=(agent,), words=(words,),
            sample=agent,
        )
        for agent, words, rating in rated
    )  # fmt: skip
    assert lengths is not None
    assert (lengths.n, lengths.correlation) == (4, 1.0), "the longer, the better"
    assert {(one.agent, one.words, one.rating) for one in lengths.ideas} == set(rated)
    measure = POINTS.model_copy(update={"is_summary": True, "has_bars": True, "lowest": 1.0})
    result = result_of(
        rows, measure, categories={"ice": "cold", "snow": "cold", "sun": "hot"}, lengths=lengths
    )
    means = {name: [(one.mean, one.n) for one in part] for name, part in result.categories.items()}
    assert means == {"cold": [(5.0, 2), (2.0, 1)], "hot": [(9.0, 1), (5.0, 1)]}
    page = Page(write_report(tmp_path, result)[1].read_text(encoding="utf-8"))
    for words in ("By category", "cold", "Spearman’s correlation: 1.00".replace("’", "'")):
        assert words in page.text, words
    assert (tmp_path / "categories.csv").read_text(encoding="utf-8").startswith("category,")
    for name in ("categories-default-points", "lengths-default"):
        assert (tmp_path / "plots" / f"{name}.svg").exists()


def test_names_of_points_cover_neither_each_other_nor_points() -> None:
    generator = random.Random(0)
    points = [Label(f"model-number-{n}", generator.gauss(6, 1), generator.gauss(6, 1)) for n in range(30)]
    with plot_figure(14) as (figure, panel):
        panel.plot([one.x for one in points], [one.y for one in points], "o")
        panel.margins(0.2)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        left_out = place_labels(panel, points)
        assert len(panel.texts) + len(left_out) == 30
        assert len(left_out) < 6
        figure.draw_without_rendering()
        boxes = [Text.get_window_extent(one) for one in panel.texts]
        for number, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:number])
            assert not any(box.contains(*panel.transData.transform((one.x, one.y))) for one in points)
