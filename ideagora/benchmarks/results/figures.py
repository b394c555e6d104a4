"""Figures from scores: the mean of an agent on a measure, or another statistic over samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from ideagora.benchmarks.benchmark import Measure, Scores
from ideagora.benchmarks.results.records import AgentFigure, AgentSummary
from ideagora.evaluators.statistics.scores.sample_means import mean_over_samples
from ideagora.evaluators.statistics.scores.sample_statistics import figure_over_samples
from ideagora.evaluators.statistics.scores.statistic import Statistic


@dataclass(frozen=True)
class ScoreTable:
    """The scores that the figures of a measure are made of: one column, or several that are averaged."""

    measure: Measure
    statistics: tuple[Statistic, ...]
    columns: tuple[Mapping[str, Mapping[str, float | None]], ...]
    """By agent and sample."""

    @classmethod
    def of(cls, measure: Measure, scores: Scores) -> ScoreTable:
        """The table of a measure."""
        parts = measure.mean_of or {measure.name: measure.statistic}
        return cls(measure, tuple(parts.values()), tuple(scores.get(name, {}) for name in parts))

    @property
    def is_mean(self) -> bool:
        """Whether the figure is a mean over samples."""
        return self.statistics == ("mean",)

    def samples(self, agent: str) -> list[str]:
        """The samples on which the agent has ideas, sorted."""
        return sorted({sample for column in self.columns for sample in column.get(agent, {})})

    def rows(self, agent: str, samples: Sequence[str]) -> NDArray[np.float64]:
        """Scores (samples, columns), nan where there is none.

        Raises:
            ValueError: a score is not finite.
        """
        found = [[column.get(agent, {}).get(sample) for column in self.columns] for sample in samples]
        if any(value is not None and not isfinite(value) for row in found for value in row):
            name = self.measure.name
            raise ValueError(f"{name}: a score of {agent} is not finite. Leave it out or make it None.")
        return np.array(found, dtype=np.float64).reshape(len(samples), len(self.columns))


def figure_of(table: ScoreTable, agent: AgentSummary, n_samples: int) -> AgentFigure:
    """The figure of an agent with its interval; ``n_samples`` were given to the agents."""
    measure, values = table.measure, table.samples(agent.agent)
    rows = table.rows(agent.agent, values)
    scored = rows[~np.isnan(rows).any(axis=1)]
    found = (
        mean_over_samples(scored[:, 0], measure.lowest, measure.highest)
        if table.is_mean
        else figure_over_samples(rows, table.statistics, measure.lowest, measure.highest)
    )
    return AgentFigure(
        agent=agent.agent,
        measure=measure.name,
        mean=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        unscored=len(values) - found.n,
        without_idea=max(0, n_samples - max(agent.samples or 0, len(values))),
        reason=found.reason,
    )


def figures_by_category(
    scores: Scores, measures: Sequence[Measure], names: Sequence[str], categories: Mapping[str, str]
) -> dict[str, tuple[AgentFigure, ...]]:
    """The figures on the samples of each category, in the order of the samples."""
    samples: dict[str, set[str]] = {}
    for sample, category in categories.items():
        samples.setdefault(category, set()).add(sample)
    found = {}
    for category, members in samples.items() if len(samples) > 1 else ():
        part: Scores = {
            measure: {
                agent: {sample: score for sample, score in row.items() if sample in members}
                for agent, row in cells.items()
            }
            for measure, cells in scores.items()
        }
        found[category] = tuple(
            figure_of(ScoreTable.of(measure, part), AgentSummary(agent=name), len(members))
            for measure in measures
            for name in names
        )
    return found
