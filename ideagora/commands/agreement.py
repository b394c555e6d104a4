"""``ideagora agreement``: computes the agreement of people, models, or any raters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from rich.console import Console
from rich.text import Text

from ideagora.errors import IdeagoraError, UsageError
from ideagora.report.console import cell, print_error
from ideagora.report.figure_table import FigureTable

if TYPE_CHECKING:
    from ideagora.evaluators.agreement.agreement import CriteriaFigures, FigureFields
    from ideagora.evaluators.agreement.raters import Rater

BEYOND = {
    True: "that is more than chance",
    False: "that may be chance",
    None: "whether that is more than chance is unknown",
}
"""Whether an agreement is more than chance, in words."""


class RaterFields(TypedDict):
    """A rater, with the number of ratings that were left out for each reason."""

    name: str
    kind: str
    left_out: Mapping[str, int]


class PairFields(TypedDict):
    """The agreement of two raters."""

    raters: Sequence[str]
    criteria: CriteriaFigures


class Report(TypedDict):
    """What ``--json`` prints."""

    raters: Sequence[RaterFields]
    pairs: Sequence[PairFields]
    unrelated: Sequence[Sequence[str]]
    """Pairs without a common item."""
    people: CriteriaFigures
    all: CriteriaFigures | None
    """Of three raters or more."""
    conclusion: str


def run(paths: Sequence[Path], criteria: Sequence[str], as_json: bool) -> int:
    """Compare every pair of raters, and all of them if there are three or more; returns the exit code."""
    try:
        report = _compare(paths, criteria)
    except IdeagoraError as error:
        print_error(Console(stderr=True), str(error))
        return error.exit_code
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        _show(report)
    return 0


def _compare(paths: Sequence[Path], criteria: Sequence[str]) -> Report:
    from ideagora.evaluators.agreement.agreement import agreement, agreement_of_all, figures_as_json
    from ideagora.evaluators.agreement.ceiling import agreement_with_people
    from ideagora.evaluators.agreement.sources import pairs_of_raters, people_and_judges, read_sources

    sources = read_sources(paths)
    compared, unrelated = pairs_of_raters(sources)
    pairs = [_pair_of(*pair, figures_as_json(agreement(*pair))) for pair in compared]
    raters = [rater for source in sources for rater in source.raters]
    people = figures_as_json(agreement_with_people(*people_and_judges(sources)))
    known = dict.fromkeys([*(name for pair in pairs for name in pair["criteria"]), *people])
    if not known:
        raise UsageError(
            f"In {paths[0]}, no item has scores by two raters, so nothing can be compared. Add scores of the "
            "same items by a second rater."
        )
    chosen = _choose(criteria, known)
    shown = [pair for one in pairs if (pair := _select(one, chosen))["criteria"]]
    of_people = {name: figures for name, figures in people.items() if name in chosen}
    of_all = figures_as_json(agreement_of_all(raters)) if len(raters) > 2 else None
    return {
        "raters": [
            {"name": rater.name, "kind": rater.kind, "left_out": dict(rater.left_out)} for rater in raters
        ],
        "pairs": shown,
        "unrelated": [[one.name, other.name] for one, other in unrelated],
        "people": of_people,
        "all": None if of_all is None else {name: of_all[name] for name in chosen},
        "conclusion": " ".join([*_conclusions(shown), *_ceiling(of_people)]),
    }


def _pair_of(one: Rater, other: Rater, figures: CriteriaFigures) -> PairFields:
    return {"raters": [one.name, other.name], "criteria": figures}


def _choose(criteria: Sequence[str], known: Iterable[str]) -> list[str]:
    """The criteria that are shown.

    Raises:
        UsageError: one is not common to any two raters.
    """
    common = list(known)
    if unknown := [name for name in criteria if name not in common]:
        raise UsageError(
            f"--criteria names {unknown[0]!r}, but the common criteria are: {', '.join(common)}."
        )
    return list(criteria) or common


def _select(pair: PairFields, criteria: Sequence[str]) -> PairFields:
    figures = pair["criteria"]
    return {**pair, "criteria": {name: figures[name] for name in criteria if name in figures}}


@dataclass(frozen=True)
class _PairSummary:
    """The agreement of a pair of raters in words, by its main figure."""

    names: str
    words: str
    value: float | None
    beyond: bool | None
    """Whether they agree by more than chance; ``None``: unknown."""


def conclusion(pairs: Sequence[PairFields]) -> str:
    """One sentence on how far the raters agree, by each pair's first criterion (the overall one)."""
    summaries = [
        _summarize(" and ".join(pair["raters"]), next(iter(pair["criteria"].values()))) for pair in pairs
    ]
    on = _main_criterion(pairs)
    if len(summaries) == 1:
        return f"{on}{summaries[0].names} {summaries[0].words}; {BEYOND[summaries[0].beyond]}."
    sure = sum(each.beyond is True for each in summaries)
    unclear = sum(each.beyond is None for each in summaries)
    known = sorted((each.value, each.names, each.words) for each in summaries if each.value is not None)
    ends = f": from {known[0][1]}, who {known[0][2]}, to {known[-1][1]}, who {known[-1][2]}" if known else ""
    unsure = f" ({unclear} unknown)" if unclear else ""
    return f"{on}{sure} of {len(summaries)} pairs of raters agree by more than chance{unsure}{ends}."


def _conclusions(pairs: Sequence[PairFields]) -> list[str]:
    return [conclusion(pairs)] if pairs else []


def _ceiling(people: CriteriaFigures) -> list[str]:
    """How far one person agrees with another, on the first criterion."""
    for criterion, figures in people.items():
        name, figure = next(iter(figures.items()))
        if figure["value"] is None:
            return [f"How far people agree with each other is unknown ({_reason(figure)})."]
        share = (
            f"agree on {figure['value']:.0%}" if "percent" in name else f"correlate by {figure['value']:.2f}"
        )
        return [f"Two people {share} ({_n(figure)}, {criterion}): more cannot be expected of a judge."]
    return []


def _main_criterion(pairs: Sequence[PairFields]) -> str:
    """What the conclusion is about, if the pairs have several criteria and no overall one."""
    criteria = {next(iter(pair["criteria"])) for pair in pairs}
    has_others = any(len(pair["criteria"]) > 1 for pair in pairs)
    return f"On {criteria.pop()}, " if has_others and len(criteria) == 1 and criteria != {"overall"} else ""


def _summarize(names: str, figures: Mapping[str, FigureFields]) -> _PairSummary:
    """Verdicts by their share of agreement and kappa; scores and ratings by Spearman's correlation."""
    labels = "percent" in figures
    shown = figures["percent" if labels else "spearman"]
    tested = figures["cohen_kappa"] if labels else shown
    if shown["value"] is None:
        return _PairSummary(names, f"cannot be compared ({_reason(shown)})", None, None)
    beyond = None if tested["low"] is None else tested["low"] > 0
    if not labels:
        return _PairSummary(names, f"correlate by {shown['value']:.2f} ({_n(shown)})", shown["value"], beyond)
    kappa = "" if tested["value"] is None else f", kappa {tested['value']:.2f}"
    return _PairSummary(names, f"agree on {shown['value']:.0%} of {_n(shown)}{kappa}", shown["value"], beyond)


def _n(figure: FigureFields) -> str:
    return "1 item" if figure["n"] == 1 else f"{figure['n']} items"


def _reason(figure: FigureFields) -> str:
    return (figure["reason"] or "no value").rstrip(".")


def _show(report: Report) -> None:
    console = Console()
    console.print(Text(cell(report["conclusion"]), style="bold"))
    console.print()
    notes: dict[str, None] = {}
    if len(report["pairs"]) == 1:
        (pair,) = report["pairs"]
        console.print(Text(cell(f"{pair['raters'][0]}  against  {pair['raters'][1]}"), style="bold"))
        console.print(_table(pair["criteria"], notes))
    elif report["pairs"]:
        console.print(_table_of_pairs(report["pairs"], notes))
    if report["people"]:
        console.print(
            Text("\nPeople with each other (the ceiling), and judges with single people", style="bold")
        )
        console.print(_table(report["people"], notes))
    if report["all"]:
        console.print(Text("\nAll raters", style="bold"))
        console.print(_table(report["all"], notes))
    console.print()
    for note in notes:
        console.print(Text(cell(note), style="dim"))
    if number := len(report["unrelated"]):
        pairs = "1 pair of raters has" if number == 1 else f"{number} pairs of raters have"
        console.print(Text(f"Not compared: {pairs} no item in common.", style="dim"))
    for rater in report["raters"]:
        if rater["left_out"]:
            left = ", ".join(f"{count} × {reason}" for reason, count in rater["left_out"].items())
            console.print(Text(cell(f"{rater['name']}: left out {left}."), style="dim"))
    console.print("Intervals are 95 %, over topics where they are known.", style="dim", highlight=False)


def _table(criteria: CriteriaFigures, notes: dict[str, None]) -> FigureTable:
    """All figures by criterion; reasons for missing values and intervals are added to the notes."""
    rows = [
        [cell(criterion if place == 0 else ""), cell(name.replace("_", " ")), *_cells(one, notes)]
        for criterion, figures in criteria.items()
        for place, (name, one) in enumerate(figures.items())
    ]
    return FigureTable(["criterion", "figure", "value", "95 % interval", "n"], rows, names=2)


def _table_of_pairs(pairs: Sequence[PairFields], notes: dict[str, None]) -> FigureTable:
    """The main figure of every pair on every criterion; the others are in the JSON."""
    rows = []
    for pair in pairs:
        for place, (criterion, figures) in enumerate(pair["criteria"].items()):
            raters = f"{pair['raters'][0]} – {pair['raters'][1]}" if place == 0 else ""
            for name in _main_figures(figures):
                names = (raters, criterion, name.replace("_", " "))
                rows.append([*map(cell, names), *_cells(figures[name], notes)])
                raters = criterion = ""
    notes["Of several pairs, the main figures are shown; --json has all."] = None
    return FigureTable(["raters", "criterion", "figure", "value", "95 % interval", "n"], rows, names=3)


def _main_figures(figures: Mapping[str, FigureFields]) -> tuple[str, ...]:
    return ("percent", "cohen_kappa") if "percent" in figures else ("spearman",)


def _cells(figure: FigureFields, notes: dict[str, None]) -> tuple[str, str, str]:
    """Value, interval and n."""
    value = "–" if figure["value"] is None else f"{figure['value']:.3f}"
    is_known = figure["low"] is not None and figure["high"] is not None
    interval = f"{figure['low']:.3f} to {figure['high']:.3f}" if is_known else "–"
    if figure["reason"]:
        notes[f"No value or interval (–): {figure['reason']}"] = None
    return value, interval, str(figure["n"])
