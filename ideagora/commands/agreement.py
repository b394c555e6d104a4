"""``ideagora agreement``: computes the agreement of people, models, or any raters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ideagora.errors import IdeagoraError, UsageError
from ideagora.report.console import cell, print_error

BEYOND = {
    True: "that is more than chance",
    False: "that may be chance",
    None: "whether that is more than chance is unknown",
}
"""Whether an agreement is more than chance, in words."""


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


def _compare(paths: Sequence[Path], criteria: Sequence[str]) -> dict[str, Any]:
    from ideagora.evaluators.agreement.agreement import agreement, agreement_of_all
    from ideagora.evaluators.agreement.agreement import figures_as_json as plain_figures
    from ideagora.evaluators.agreement.raters import read_rater

    if len(paths) < 2:
        raise UsageError("Give two raters or more: ideagora agreement runs/arena runs/arena/votes/ada.jsonl")
    raters = [read_rater(path) for path in paths]
    pairs = [
        {"raters": [one.name, other.name], "criteria": plain_figures(agreement(one, other))}
        for one, other in combinations(raters, 2)
    ]
    report: dict[str, Any] = {
        "raters": [
            {"name": rater.name, "kind": rater.kind, "left_out": dict(rater.left_out)} for rater in raters
        ],
        "pairs": [{**pair, "criteria": _select(pair["criteria"], criteria)} for pair in pairs],
        "all": _select(plain_figures(agreement_of_all(raters)), criteria) if len(raters) > 2 else None,
    }
    report["conclusion"] = conclusion(report["pairs"])
    return report


@dataclass(frozen=True)
class _PairSummary:
    """The agreement of a pair of raters in words, by its main figure."""

    names: str
    words: str
    value: float | None
    beyond: bool | None
    """Whether they agree by more than chance; ``None``: unknown."""


def conclusion(pairs: Sequence[Mapping[str, Any]]) -> str:
    """One sentence on how far the raters agree, by each pair's first criterion (the overall one)."""
    summaries = [
        _summarize(" and ".join(pair["raters"]), next(iter(pair["criteria"].values()))) for pair in pairs
    ]
    if len(summaries) == 1:
        return f"{summaries[0].names} {summaries[0].words}; {BEYOND[summaries[0].beyond]}."
    sure = sum(each.beyond is True for each in summaries)
    known = sorted((each.value, each.names, each.words) for each in summaries if each.value is not None)
    ends = f": from {known[0][1]}, who {known[0][2]}, to {known[-1][1]}, who {known[-1][2]}" if known else ""
    return f"{sure} of {len(summaries)} pairs of raters agree by more than chance{ends}."


def _summarize(names: str, figures: Mapping[str, Mapping[str, Any]]) -> _PairSummary:
    """Verdicts by their share of agreement and kappa; scores and ratings by Spearman's correlation."""
    labels = "percent" in figures
    shown = figures["percent" if labels else "spearman"]
    tested = figures["cohen_kappa"] if labels else shown
    if shown["value"] is None:
        return _PairSummary(names, f"cannot be compared ({_reason(shown)})", None, None)
    beyond = None if tested["low"] is None else bool(tested["low"] > 0)
    if not labels:
        return _PairSummary(names, f"correlate by {shown['value']:.2f} ({_n(shown)})", shown["value"], beyond)
    kappa = "" if tested["value"] is None else f", kappa {tested['value']:.2f}"
    return _PairSummary(names, f"agree on {shown['value']:.0%} of {_n(shown)}{kappa}", shown["value"], beyond)


def _n(figure: Mapping[str, Any]) -> str:
    return "1 item" if figure["n"] == 1 else f"{figure['n']} items"


def _reason(figure: Mapping[str, Any]) -> str:
    return str(figure["reason"] or "no value").rstrip(".")


def _select(figures: Any, criteria: Sequence[str]) -> dict[str, Any]:
    unknown = [name for name in criteria if name not in figures]
    if unknown:
        raise UsageError(
            f"--criteria names {unknown[0]!r}, but the common criteria are: {', '.join(figures)}."
        )
    return {name: figures[name] for name in criteria or figures}


def _show(report: Mapping[str, Any]) -> None:
    console = Console()
    console.print(Text(cell(report["conclusion"]), style="bold"))
    console.print()
    for pair in report["pairs"]:
        console.print(Text(cell(f"{pair['raters'][0]}  against  {pair['raters'][1]}"), style="bold"))
        console.print(_table(pair["criteria"]))
    if report["all"]:
        console.print(Text("All raters", style="bold"))
        console.print(_table(report["all"]))
    for rater in report["raters"]:
        if rater["left_out"]:
            left = ", ".join(f"{count} × {reason}" for reason, count in rater["left_out"].items())
            console.print(Text(cell(f"{rater['name']}: left out {left}."), style="dim"))
    console.print("Intervals are 95 %, over topics where they are known.", style="dim", highlight=False)


def _table(criteria: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table("criterion", "figure", "value", "95 % interval", "n", box=None, padding=(0, 2, 0, 0))
    for criterion, figures in criteria.items():
        for place, (name, one) in enumerate(figures.items()):
            value = "–" if one["value"] is None else f"{one['value']:.3f}"
            known = one["low"] is not None and one["high"] is not None
            interval = f"{one['low']:.3f} to {one['high']:.3f}" if known else (one["reason"] or "–")
            cells = (criterion if place == 0 else "", name.replace("_", " "), value, interval, str(one["n"]))
            table.add_row(*(Text(cell(one), overflow="fold") for one in cells))
    return table
