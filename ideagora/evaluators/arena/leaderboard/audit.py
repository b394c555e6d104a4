"""The audit of the judges beside a ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ideagora.evaluators.arena.entries.lineup import Lineup
from ideagora.evaluators.arena.leaderboard.records import AuditBreakdown, AuditFigure
from ideagora.evaluators.statistics.agreement.audit import (
    audit,
    first_slot_rate,
    flip_rate,
    length_correlation,
    repeat_flip_rate,
)
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


@dataclass(frozen=True)
class Answers:
    """The verdicts on a criterion, or overall."""

    columns: Comparisons
    repeated: tuple[Comparisons, Comparisons] | None = None
    """First and second verdicts on the same questions, row by row; ``None`` if none were asked for."""

    def of_judge(self, judge: str) -> Answers:
        """The verdicts of one judge."""
        columns, *repeated = (
            one.rows(one.judge == one.judges.index(judge)) for one in (self.columns, *(self.repeated or ()))
        )
        return Answers(columns, (repeated[0], repeated[1]) if repeated else None)

    @property
    def flips(self) -> dict[str, Figure]:
        """Changes of the verdict in swapped order, and with the same question."""
        again = {} if self.repeated is None else {"repeat_flip_rate": repeat_flip_rate(*self.repeated)}
        return {"flip_rate": flip_rate(self.columns), **again}


def audit_figures(answers: Answers, lineup: Lineup) -> dict[str, AuditFigure]:
    """The figures of the audit by name; with several pairs of judges, the pair is part of the name."""
    columns = answers.columns
    judges = {name: family for name in columns.judges if (family := family_of([name]))}
    agents = {
        one.name: family
        for one in lineup.contestants
        if (family := family_of([idea.model for idea in one.ideas]))
    }
    result = audit(columns, judges, agents)
    figures = {
        **answers.flips,
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


def audit_breakdown(overall: Answers, criteria: Mapping[str, Answers]) -> tuple[AuditBreakdown, ...]:
    """Flips, first slot and length by judge (if there are several), then by judge and criterion."""
    judges = [overall.columns.judges[number] for number in np.unique(overall.columns.judge)]
    answers: dict[str | None, Answers] = {None: overall} if len(judges) > 1 else {}
    return tuple(
        AuditBreakdown(judge=judge, criterion=criterion, figures=_by_slot_and_length(each.of_judge(judge)))
        for criterion, each in (answers | dict(criteria)).items()
        for judge in judges
    )


def _by_slot_and_length(answers: Answers) -> dict[str, AuditFigure]:
    figures = {
        **answers.flips,
        "first_slot_rate": first_slot_rate(answers.columns),
        "length_correlation": length_correlation(answers.columns),
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
