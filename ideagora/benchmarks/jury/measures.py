"""Measures on the scale of a jury, 1 to 10."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ideagora.benchmarks.aggregation import AgentScores
from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.jury.critic import SCALE
from ideagora.benchmarks.jury.questions import QUALITY
from ideagora.benchmarks.jury.ratings import Effects, quality_scores
from ideagora.schema import Verdict


def rating_measure(name: str, title: str, group: str = QUALITY, **fields: Any) -> Measure:
    """A figure on the scale of the ratings."""
    return Measure(
        name=name,
        group=group,
        title=title,
        unit=str(SCALE),
        lowest=SCALE.lowest,
        highest=SCALE.highest,
        decimals=2,
        has_bars=True,
        **fields,
    )


def corrected_measure(name: str, title: str) -> Measure:
    """A criterion with the judges' harshness taken out; it can leave the scale."""
    return Measure(
        name=f"{name}_corrected",
        group=QUALITY,
        title=f"{title}, corrected for judges",
        unit=str(SCALE),
        decimals=2,
    )


def corrected_scores(verdicts: Iterable[Verdict], effects: Effects) -> dict[str, AgentScores]:
    """The scores of the corrected measures."""
    log = list(verdicts)
    return {f"{name}_corrected": quality_scores(log, name, of_judge) for name, of_judge in effects.items()}
