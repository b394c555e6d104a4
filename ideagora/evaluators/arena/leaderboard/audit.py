"""The audit beside a ranking, as plain values under the names that pages and tables know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ideagora.evaluators.arena.lineup import Lineup
from ideagora.evaluators.statistics.audit import audit
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
"""Model family -> how its models' names begin."""
_NAMED = {
    family: re.compile(rf"(?:[a-z]++\.)*+(?:meta-)?(?:{begins})") for family, begins in FAMILIES.items()
}
DIGITS = 4


def audited(columns: Comparisons, lineup: Lineup) -> dict[str, Any]:
    """``{figure: {"value", "low", "high", "n", "reason"}}``; ``None`` with a reason for what can't be had."""
    judges = {name: family for name in columns.judges if (family := family_of([name]))}
    agents = {
        one.name: family
        for one in lineup.contestants
        if (family := family_of([idea.model for idea in one.ideas.values()]))
    }
    found = audit(columns, judges, agents)
    figures = {
        "flip_rate": found.flip_rate,
        "first_slot_rate": found.first_slot_rate,
        "length_correlation": found.length_correlation,
        "own_family_preference": found.own_family,
        "krippendorff_alpha": found.krippendorff_alpha,
        "intransitive_triples": found.intransitive,
    }
    pairs = [
        (one.judges, {"agreement_percent": one.percent, "cohen_kappa": one.cohen_kappa})
        for one in found.judge_pairs
    ]
    for between, both in pairs:
        of = "" if len(pairs) == 1 else f" ({between[0]}, {between[1]})"
        figures |= {f"{name}{of}": figure for name, figure in both.items()}
    return {name: plain_figure(figure) for name, figure in figures.items()}


def plain_figure(figure: Figure) -> dict[str, Any]:
    """A figure for the record."""

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, DIGITS)

    return {
        "value": rounded(figure.value),
        "low": rounded(figure.low),
        "high": rounded(figure.high),
        "n": figure.n,
        "reason": figure.reason,
    }


def family_of(models: Sequence[str]) -> str | None:
    """The family that all these models are of (``openai/gpt-4o + openai/o3``: one); ``None``: not known."""
    families = {_family(part) for model in models for part in model.split(" + ")}
    return families.pop() if len(families) == 1 else None


def _family(model: str) -> str | None:
    name = model.strip().casefold().rpartition("/")[2]
    return next(_matching(name), None)


def _matching(name: str) -> Iterator[str]:
    for family, pattern in _NAMED.items():
        if pattern.match(name):
            yield family
