"""Scores of LiveIdeaBench from verdicts: five dimensions, the correction for harsh judges, agreement.

Every score is of an agent on one keyword; the figures over keywords are means, and the 30th percentile for
flexibility (Methods, Dimensions of Evaluation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from ideagora.benchmarks.aggregation import AgentScores
from ideagora.benchmarks.liveideabench.questions import FLUENCY, QUALITY
from ideagora.benchmarks.liveideabench.roles import DIMENSIONS
from ideagora.evaluators.statistics.figures import Figure, missing_figure
from ideagora.evaluators.statistics.icc import icc
from ideagora.evaluators.statistics.judge_effects import judge_effects
from ideagora.schema import Verdict

Effects = Mapping[str, Mapping[str, float]]
"""Dimension -> judge -> how much higher than the average judge it rates the same ideas."""
PARTS = (*DIMENSIONS, FLUENCY)
"""The dimensions that flexibility is made of."""


def quality_scores(
    verdicts: Iterable[Verdict], dimension: str, effects: Mapping[str, float] | None = None
) -> AgentScores:
    """The mean over ideas of the mean over an idea's judges; with effects, of the corrected ratings."""
    asked: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for verdict in verdicts:
        if verdict.kind == QUALITY:
            ratings = asked[verdict.agents[0], verdict.sample or ""][verdict.subject[0]]
            if verdict.criteria is not None and (rating := verdict.criteria.get(dimension)) is not None:
                ratings.append(rating - (effects or {}).get(verdict.judge, 0.0))
    return _table(
        (place, [fmean(ratings) for ratings in ideas.values() if ratings]) for place, ideas in asked.items()
    )


def fluency_scores(verdicts: Iterable[Verdict]) -> AgentScores:
    """The mean over the pairs of ideas."""
    asked: dict[tuple[str, str], list[float]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.kind == FLUENCY:
            grades = asked[verdict.agents[0], verdict.sample or ""]
            if verdict.criteria is not None:
                grades.append(verdict.criteria[FLUENCY])
    return _table(asked.items())


def _table(cells: Iterable[tuple[tuple[str, str], Sequence[float]]]) -> AgentScores:
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

    judges: dict[str, int] = field(default_factory=dict)
    ideas: dict[tuple[str, str, int], int] = field(default_factory=dict)
    rows: list[tuple[int, int, tuple[float, ...]]] = field(default_factory=list)
    """Idea, judge, and the three ratings."""

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Ratings:
        """The ratings among verdicts of one protocol."""
        found = cls()
        for verdict in verdicts:
            found.add(verdict)
        return found

    def add(self, verdict: Verdict) -> None:
        """Add the ratings of a verdict, if it has any."""
        if verdict.kind == QUALITY and verdict.criteria is not None:
            key = (verdict.sample or "", verdict.subject[0], verdict.epoch)
            idea = self.ideas.setdefault(key, len(self.ideas))
            judge = self.judges.setdefault(verdict.judge, len(self.judges))
            self.rows.append((idea, judge, tuple(verdict.criteria[name] for name in DIMENSIONS)))

    def effects(self) -> Effects:
        """How harsh each judge is on each dimension, by least squares."""
        return {
            name: dict(zip(self.judges, self._effects(place), strict=True))
            for place, name in enumerate(DIMENSIONS)
        }

    def _effects(self, dimension: int) -> list[float]:
        if not self.rows:
            return []
        ideas, judges, ratings = zip(*self.rows, strict=True)
        values = np.array([each[dimension] for each in ratings])
        return [float(one) for one in judge_effects(values, np.array(ideas), np.array(judges))]

    def agreement(self, dimension: int) -> Figure:
        """ICC(1, 1), as each idea has judges of its own; over the ideas with the usual number."""
        of_idea: dict[int, list[float]] = defaultdict(list)
        for idea, _, ratings in self.rows:
            of_idea[idea].append(ratings[dimension])
        counts = [len(ratings) for ratings in of_idea.values() if len(ratings) > 1]
        if not counts:
            return missing_figure("No idea has two judges.")
        usual = max(set(counts), key=lambda count: (counts.count(count), count))
        rows = [sorted(ratings) for ratings in of_idea.values() if len(ratings) == usual]
        return icc(np.array(rows, dtype=np.float64), "1,1")
