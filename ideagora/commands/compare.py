"""``ideagora compare``: scores of reviews by condition."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, cast

from rich.console import Console
from rich.text import Text

from ideagora.errors import IdeagoraError, UsageError
from ideagora.report.console import cell, print_error
from ideagora.report.figure_table import FigureTable

if TYPE_CHECKING:
    from ideagora.evaluators.statistics.figures import Figure
    from ideagora.evaluators.statistics.scores.condition_effects import Effect

Test = Literal["welch", "linear", "mixed"]
ALPHA = 0.05
TESTS: dict[Test, str] = {"welch": "Welch, ideas", "linear": "linear model", "mixed": "mixed model"}
LINEAR = "Linear model: a fixed effect of each condition{effects}; errors clustered by idea (CR2)."
MIXED = "Mixed model: the condition, and random effects of {effects} (restricted maximum likelihood)."


class MeanFields(TypedDict):
    """The mean of a condition: a ``Figure`` over its ideas, and the number of their reviews."""

    value: float | None
    n: int
    low: float | None
    high: float | None
    reason: str | None
    reviews: int


class EffectFields(TypedDict):
    """An ``Effect``, with its p-value after correction."""

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    degrees: float | None
    reason: str | None
    p_holm: NotRequired[float | None]


class ConditionEffects(TypedDict):
    """The effect of a condition on a criterion, by each test."""

    criterion: str
    condition: str
    welch: EffectFields
    linear: EffectFields
    mixed: EffectFields


class Report(TypedDict):
    """What ``--json`` prints."""

    scores: str
    by: str
    reference: str
    reviews: int
    model_effects: list[str]
    conclusion_by: Test
    means: dict[str, dict[str, MeanFields]]
    """By criterion and condition."""
    effects: list[ConditionEffects]


def run(path: Path, by: str, reference: str | None, criteria: Sequence[str], as_json: bool) -> int:
    """Compare the conditions; returns the exit code."""
    try:
        report = _compare(path, by, reference, criteria)
    except IdeagoraError as error:
        print_error(Console(stderr=True), str(error))
        return error.exit_code
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        _show(Console(), report)
    return 0


def _compare(path: Path, by: str, reference: str | None, criteria: Sequence[str]) -> Report:
    from ideagora.evaluators.agreement.score_tables import read_score_table
    from ideagora.evaluators.statistics.scores.condition_effects import (
        condition_mean,
        linear_effect,
        welch_effect,
    )
    from ideagora.evaluators.statistics.scores.mixed_model import mixed_effect
    from ideagora.evaluators.statistics.scores.paired_tests import holm

    table = read_score_table(path, by, criteria)
    conditions = table.conditions
    if len(conditions) < 2:
        raise UsageError(
            f"{path} has one {by}, {conditions[0]!r}, so there is nothing to compare. Use another --by."
        )
    against = reference or conditions[0]
    if against not in conditions:
        raise UsageError(f"--reference is {against!r}, but {by} is one of: {', '.join(conditions)}.")
    base = conditions.index(against)
    means: dict[str, dict[str, MeanFields]] = {}
    effects: list[ConditionEffects] = []
    for criterion in table.criteria:
        columns = table.columns(criterion)
        means[criterion] = {
            name: _mean_fields(condition_mean(columns, code), int((columns.condition == code).sum()))
            for code, name in enumerate(conditions)
        }
        effects += [
            {
                "criterion": criterion, "condition": name,
                "welch": _effect_fields(welch_effect(columns, code, base)),
                "linear": _effect_fields(linear_effect(columns, code, base)),
                "mixed": _effect_fields(mixed_effect(columns, code, base)),
            }
            for code, name in enumerate(conditions)
            if code != base
        ]  # fmt: skip
    for test in TESTS:
        for effect, corrected in zip(effects, holm([one[test]["p"] for one in effects]), strict=True):
            effect[test]["p_holm"] = corrected
    return {
        "scores": str(path), "by": by, "reference": against, "reviews": len(table.rows),
        "model_effects": [name for name in (table.reviewer, table.topic) if name is not None],
        "conclusion_by": "mixed" if all(one["mixed"]["p"] is not None for one in effects) else "linear",
        "means": means, "effects": effects,
    }  # fmt: skip


def _mean_fields(mean: Figure, reviews: int) -> MeanFields:
    return cast("MeanFields", {**asdict(mean), "reviews": reviews})


def _effect_fields(effect: Effect) -> EffectFields:
    return cast("EffectFields", asdict(effect))


def _show(console: Console, report: Report) -> None:
    console.print(Text(cell(_conclusion(report)), style="bold"))
    console.print()
    rows = [
        [
            *(cell(criterion if place == 0 else ""), cell(name)), _number(mean["value"]), _interval(mean),
            str(mean["n"]), str(mean["reviews"]),
        ]
        for criterion, means in report["means"].items()
        for place, (name, mean) in enumerate(means.items())
    ]  # fmt: skip
    console.print(FigureTable(["criterion", report["by"], "mean", "95 %", "ideas", "reviews"], rows, names=2))
    console.print(Text(f"\nDifference to {cell(report['reference'])}", style="bold"))
    effects = [
        [cell(one["criterion"]), cell(one["condition"]), test, *_effect_cells(one[key])]
        for one in report["effects"]
        for key, test in TESTS.items()
    ]
    titles = ["criterion", report["by"], "test", "difference", "95 %", "p", "p (Holm)"]
    console.print(FigureTable(titles, effects, names=3))
    console.print()
    named = report["model_effects"]
    notes = [LINEAR.format(effects="".join(f", {name}" for name in named) or " alone")]
    if any(one["mixed"]["p"] is not None for one in report["effects"]):
        notes.append(MIXED.format(effects=" and ".join([*named, "idea"])))
    notes.append("Holm: corrected for all criteria and conditions of a test. Intervals are not corrected.")
    reasons = [one[key]["reason"] for one in report["effects"] for key in TESTS]
    notes += [f"No figure (–): {reason}" for reason in dict.fromkeys(filter(None, reasons))]
    for note in notes:
        console.print(Text(cell(note), style="dim"))


def _conclusion(report: Report) -> str:
    """One sentence on what differs after correction, by the best model that can be fitted."""
    by = report["conclusion_by"]
    how, reference = f"{TESTS[by]}, Holm", report["reference"]
    sure = [one for one in report["effects"] if (p := one[by]["p_holm"]) is not None and p <= ALPHA]
    if not sure:
        return f"No condition differs from {reference} beyond chance on any criterion ({how})."
    said = [f"{one['condition']} by {one[by]['difference']:+.2f} on {one['criterion']}" for one in sure]
    return f"Beyond chance ({how}), these differ from {reference}: {'; '.join(said)}."


def _effect_cells(effect: EffectFields) -> list[str]:
    difference = "–" if effect["difference"] is None else f"{effect['difference']:+.2f}"
    return [difference, _interval(effect), _p(effect["p"]), _p(effect["p_holm"])]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(figure: MeanFields | EffectFields) -> str:
    return "–" if figure["low"] is None else f"{figure['low']:.2f} to {figure['high']:.2f}"


def _p(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
