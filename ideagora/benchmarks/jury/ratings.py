"""From a jury's verdicts to scores, the judges' harshness, their agreement, and notes on the panel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from statistics import fmean
from typing import TYPE_CHECKING

from ideagora.benchmarks.aggregation import AgentScores
from ideagora.benchmarks.jury.questions import OF_FAMILY, QUALITY
from ideagora.evaluators.statistics.figures import Figure
from ideagora.schema import Verdict

if TYPE_CHECKING:
    from ideagora.benchmarks.benchmark import Plan

Effects = Mapping[str, Mapping[str, float]]
"""Criterion -> judge -> how much higher than the average judge it rates the same ideas."""


def quality_scores(
    verdicts: Iterable[Verdict], criterion: str, effects: Mapping[str, float] | None = None
) -> AgentScores:
    """The mean over ideas of the mean over an idea's judges; with effects, of the corrected ratings."""
    asked: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for verdict in verdicts:
        if verdict.kind == QUALITY:
            ratings = asked[verdict.agents[0], verdict.sample or ""][verdict.subject[0]]
            if verdict.criteria is not None and (rating := verdict.criteria.get(criterion)) is not None:
                ratings.append(rating - (effects or {}).get(verdict.judge, 0.0))
    return mean_table(
        (place, [fmean(ratings) for ratings in ideas.values() if ratings]) for place, ideas in asked.items()
    )


def mean_table(cells: Iterable[tuple[tuple[str, str], Sequence[float]]]) -> AgentScores:
    """The mean of the values of each (agent, sample); ``None`` if there are none."""
    table: AgentScores = defaultdict(dict)
    for (agent, sample), values in cells:
        table[agent][sample] = fmean(values) if values else None
    return dict(table)


def composite_scores(parts: Sequence[AgentScores]) -> AgentScores:
    """The mean of the parts on each sample; ``None`` unless all have a score."""
    table: AgentScores = {}
    for agent in dict.fromkeys(agent for part in parts for agent in part):
        samples = dict.fromkeys(sample for part in parts for sample in part.get(agent, {}))
        rows = [part.get(agent, {}) for part in parts]
        table[agent] = {sample: _mean([row.get(sample) for row in rows]) for sample in samples}
    return table


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


@dataclass
class Ratings:
    """All ratings of all ideas, as small as they can be kept."""

    criteria: tuple[str, ...]
    judges: dict[str, int] = field(default_factory=dict)
    ideas: dict[tuple[str, str, str, int], int] = field(default_factory=dict)
    rows: list[tuple[int, int, tuple[float, ...]]] = field(default_factory=list)
    """Idea, judge, and a rating on each criterion, nan where a published file has none."""

    @classmethod
    def of(cls, verdicts: Iterable[Verdict], criteria: tuple[str, ...]) -> Ratings:
        """The ratings among verdicts of one protocol."""
        ratings = cls(criteria)
        for verdict in verdicts:
            ratings.add(verdict)
        return ratings

    def add(self, verdict: Verdict) -> None:
        """Add the ratings of a verdict, if it has any."""
        if verdict.kind == QUALITY and verdict.criteria is not None:
            key = (verdict.agents[0], verdict.sample or "", verdict.subject[0], verdict.epoch)
            idea = self.ideas.setdefault(key, len(self.ideas))
            judge = self.judges.setdefault(verdict.judge, len(self.judges))
            self.rows.append((idea, judge, tuple(verdict.criteria.get(name, nan) for name in self.criteria)))

    def effects(self) -> Effects:
        """How harsh each judge is on each criterion, by least squares."""
        return {
            name: dict(zip(self.judges, self._effects(place), strict=False))  # the last may have no rating
            for place, name in enumerate(self.criteria)
        }

    def _effects(self, place: int) -> list[float]:
        import numpy as np

        from ideagora.evaluators.statistics.scores.judge_effects import judge_effects

        rated = [
            (idea, judge, ratings[place]) for idea, judge, ratings in self.rows if not isnan(ratings[place])
        ]
        if not rated:
            return []
        ideas, judges, values = map(np.array, zip(*rated, strict=True))
        return [float(one) for one in judge_effects(values.astype(np.float64), ideas, judges)]

    def agreement(self, place: int) -> Figure:
        """ICC(1, 1), as each idea has judges of its own; over the ideas with the usual number."""
        from ideagora.evaluators.statistics.agreement.icc import icc_of_own_raters

        of_idea: dict[int, list[float]] = defaultdict(list)
        for idea, _, ratings in self.rows:
            if not isnan(ratings[place]):
                of_idea[idea].append(ratings[place])
        return icc_of_own_raters(of_idea.values())


@dataclass
class PanelAudit:
    """What readers should know about a panel: who it is, whom it may favour, how far it agrees."""

    criteria: tuple[str, ...]
    of_family: Counter[str] = field(default_factory=Counter)
    """Answers about ideas of the judge's own family, by judge."""
    ratings: Ratings = field(init=False)

    def __post_init__(self) -> None:
        self.ratings = Ratings(self.criteria)

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.ratings.add(verdict)
        if verdict.details.get(OF_FAMILY):
            self.of_family[verdict.judge] += 1

    def panel_notes(self, plan: Plan) -> Iterator[str]:
        """The panel, and its judges of the authors' families."""
        if len(plan.judges) == 1:
            yield f"The panel is one judge, {plan.judges[0]}, so the scores are its opinion alone."
        else:
            yield f"The panel: {', '.join(plan.judges)}."
        if self.of_family and set(plan.judges) != {"offline"}:
            yield (
                f"{self.of_family.total()} answers are by judges of the author's own family "
                f"({', '.join(sorted(self.of_family))}), since the panel has no others: they may favour it."
            )

    def effect_notes(self) -> Iterator[str]:
        """How much higher than the average judge each judge rates the same ideas."""
        for name, effects in self.ratings.effects().items():
            listed = ", ".join(f"{judge} {effect:+.2f}" for judge, effect in sorted(effects.items()))
            if len(effects) > 1:
                yield f"Effects of the judges on {name.replace('_', ' ')}: {listed}.".replace(" -", " −")

    def agreement_notes(self) -> Iterator[str]:
        """How far the judges of an idea agree on each criterion."""
        figures = {name: self.ratings.agreement(place) for place, name in enumerate(self.criteria)}
        stated = [f"{name} {text}" for name, figure in figures.items() if (text := _with_interval(figure))]
        if stated:
            n = max(figure.n for figure in figures.values())
            yield f"Agreement of the judges of an idea, ICC(1,1) over {n} ideas: {', '.join(stated)}."


def _with_interval(figure: Figure) -> str:
    if figure.value is None:
        return ""
    has_interval = figure.low is not None and figure.high is not None
    interval = f" [{figure.low:.2f}, {figure.high:.2f}]" if has_interval else ""
    return f"{figure.value:.2f}{interval}".replace("-", "−")
