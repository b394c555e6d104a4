"""The audit of the judges beside a ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ideagora.evaluators.arena.leaderboard.records import AuditBreakdown, AuditFigure
from ideagora.evaluators.arena.lineup import Lineup
from ideagora.evaluators.statistics.audit import audit, first_slot_rate, flip_rate, length_correlation
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.figures import Figure

FAMILIES = {
    "openai": r"gpt|chatgpt|o\d",
    "anthropic": r"claude",
    "google": r"gemini|gemma",
    "meta": r"llama",
    "mistral": r"mistral|mixtral|magistral|codestral",
    "qwen": r"qwen|qwq",
    "deepseek": r"deepseek",
    "cohere": r"command",
    "xai": r"grok",
}
"""Model family -> prefixes of its models' names."""
_FAMILY_PREFIX = {
    family: re.compile(rf"\A(?:[a-z]++\.)*(?:meta-)?(?:{begins})") for family, begins in FAMILIES.items()
}
DIGITS = 4


def audit_figures(columns: Comparisons, lineup: Lineup) -> dict[str, AuditFigure]:
    """The figures of the audit by name; with several pairs of judges, the pair is part of the name."""
    judges = {name: family for name in columns.judges if (family := family_of([name]))}
    agents = {
        one.name: family
        for one in lineup.contestants
        if (family := family_of([idea.model for idea in one.ideas.values()]))
    }
    result = audit(columns, judges, agents)
    figures = {
        "flip_rate": result.flip_rate,
        "first_slot_rate": result.first_slot_rate,
        "length_correlation": result.length_correlation,
        "own_family_preference": result.own_family,
        "krippendorff_alpha": result.krippendorff_alpha,
        "intransitive_triples": result.intransitive,
    }
    pairs = [
        (one.judges, {"agreement_percent": one.percent, "cohen_kappa": one.cohen_kappa})
        for one in result.judge_pairs
    ]
    for judges_of_pair, both in pairs:
        suffix = "" if len(pairs) == 1 else f" ({', '.join(judges_of_pair)})"
        figures |= {f"{name}{suffix}": figure for name, figure in both.items()}
    return {name: audit_figure(figure) for name, figure in figures.items()}


def audit_breakdown(overall: Comparisons, criteria: Mapping[str, Comparisons]) -> tuple[AuditBreakdown, ...]:
    """Flips, first slot and length by judge (if there are several), then by judge and criterion."""
    judges = [overall.judges[number] for number in np.unique(overall.judge)]
    columns: dict[str | None, Comparisons] = {None: overall} if len(judges) > 1 else {}
    return tuple(
        AuditBreakdown(judge=judge, criterion=criterion, figures=_by_slot_and_length(rows, judge))
        for criterion, rows in (columns | dict(criteria)).items()
        for judge in judges
    )


def _by_slot_and_length(columns: Comparisons, judge: str) -> dict[str, AuditFigure]:
    rows = columns.rows(columns.judge == columns.judges.index(judge))
    figures = {
        "flip_rate": flip_rate(rows),
        "first_slot_rate": first_slot_rate(rows),
        "length_correlation": length_correlation(rows),
    }
    return {name: audit_figure(figure) for name, figure in figures.items()}


def audit_figure(figure: Figure) -> AuditFigure:
    """The record of a figure, rounded."""
    value, low, high = (
        None if number is None else round(number, DIGITS)
        for number in (figure.value, figure.low, figure.high)
    )
    return AuditFigure(value=value, low=low, high=high, n=figure.n, reason=figure.reason)


def family_of(models: Sequence[str]) -> str | None:
    """The common family of the models (``openai/gpt-4o + openai/o3``), or ``None`` if it is unknown."""
    families = {_family(part) for model in models for part in model.split(" + ")}
    return families.pop() if len(families) == 1 else None


def _family(model: str) -> str | None:
    name = model.strip().casefold().rpartition("/")[2]
    for family, pattern in _FAMILY_PREFIX.items():
        if pattern.match(name):
            return family
    return None
