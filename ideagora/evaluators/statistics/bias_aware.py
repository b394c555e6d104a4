"""Ratings with the judges' biases taken out: position, length, and how well each judge discriminates.

The chance that judge j prefers the idea shown first, a tie being half, is the logistic function of

    discrimination_j · (strength_first - strength_second) + position_j
    + length · log(words_first / words_second)

A fractional logit (Papke and Wooldridge 1996): without the biases it is ``bradley_terry``, so the two tables
stand side by side on one scale. Fitted by penalised maximum likelihood; the penalties keep small data finite
and pull judges towards each other. Intervals are clustered by topic, as everywhere.

What length explains is taken out, also where longer ideas are better in truth. Read it beside
the plain table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import Unratable
from ideagora.evaluators.statistics.figures import Figure, missing
from ideagora.evaluators.statistics.intervals import LEVEL, Intervals, intervals
from ideagora.evaluators.statistics.ratings import BASE, POINTS, Ratings, require_ratable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

STRENGTH_SPREAD = 3.0
"""Penalty on strengths: a normal prior of that many logits, too wide to matter unless one is unbounded."""
JUDGE_SPREAD = 0.5
"""Penalty on what a judge has of its own: log discrimination, and position beyond the common one."""
BIAS_SPREAD = 3.0
"""Penalty on the common position and on length."""


@dataclass(frozen=True)
class JudgeBias:
    """What the fit says of a judge."""

    judge: str
    discrimination: float
    """Relative to the geometric mean of all judges; 1 for a judge alone."""
    position: Figure
    """Logits for the idea shown first."""


@dataclass(frozen=True)
class BiasAware:
    """Ratings with the biases taken out, and the biases."""

    ratings: Ratings
    intervals: Intervals
    length: Figure
    """Logits for an idea e times as long as the other; None where lengths are unknown or all alike."""
    judges: tuple[JudgeBias, ...]


@dataclass(frozen=True)
class _Layout:
    """Where the parameters stand: strengths, common position, length, then each judge's own two."""

    agents: int
    judges: int

    @property
    def size(self) -> int:
        return self.agents + 2 + 2 * self.judges

    @property
    def discrimination(self) -> slice:
        return slice(self.agents + 2, self.agents + 2 + self.judges)

    @property
    def position(self) -> slice:
        return slice(self.agents + 2 + self.judges, self.size)

    def precision(self) -> NDArray[np.float64]:
        """Of the normal priors, one a parameter."""
        spread = np.full(self.size, JUDGE_SPREAD)
        spread[: self.agents] = STRENGTH_SPREAD
        spread[self.agents : self.agents + 2] = BIAS_SPREAD
        return np.asarray(1.0 / spread**2)


def bias_aware(comparisons: Comparisons, *, level: float = LEVEL, base: float = BASE) -> BiasAware:
    """Fit strengths and biases together. Raises Unratable like ``bradley_terry``."""
    require_ratable(comparisons)
    layout = _Layout(len(comparisons.agents), len(comparisons.judges))
    parameters = _fitted(comparisons, layout)
    influence = _influence(comparisons, layout, parameters)
    strengths = parameters[: layout.agents] - parameters[: layout.agents].mean()
    ratings = Ratings(comparisons.agents, base + POINTS * strengths, "bias-aware", base)
    used = len(np.unique(comparisons.topic))
    pull = influence[:, : layout.agents] - influence[:, : layout.agents].mean(axis=1, keepdims=True)
    length = _estimate(
        parameters, influence, np.eye(layout.size)[layout.agents + 1], used, level, len(comparisons)
    )
    if np.ptp(comparisons.length) < 1e-12:
        length = missing("All pairs have the same length ratio, so nothing tells what length does.")
    return BiasAware(
        ratings=ratings,
        intervals=intervals(ratings, POINTS * pull, np.zeros(layout.agents), used, level),
        length=length,
        judges=_judges(comparisons, layout, parameters, influence, level),
    )


def _fitted(comparisons: Comparisons, layout: _Layout) -> NDArray[np.float64]:
    from scipy.optimize import minimize

    if not np.isfinite(comparisons.length).all():
        raise Unratable("A length is unknown, so length cannot be taken out; give the words of every idea.")
    precision = layout.precision()

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        linear = _linear(comparisons, layout, parameters)
        fit = np.logaddexp(0.0, linear).sum() - comparisons.outcome @ linear
        slope = _slopes(comparisons, layout, parameters, linear).sum(axis=0)
        return float(fit + 0.5 * precision @ parameters**2), precision * parameters - slope

    found = minimize(loss, np.zeros(layout.size), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    if not found.success:
        raise Unratable(f"The bias-aware ratings did not settle ({found.message}); read the plain ones.")
    return np.asarray(found.x, dtype=np.float64)


def _linear(
    comparisons: Comparisons, layout: _Layout, parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Logits (n,) for the idea shown first."""
    discrimination = np.exp(parameters[layout.discrimination])[comparisons.judge]
    gap = parameters[comparisons.first] - parameters[comparisons.second]
    position = parameters[layout.agents] + parameters[layout.position][comparisons.judge]
    return np.asarray(discrimination * gap + position + parameters[layout.agents + 1] * comparisons.length)


def _slopes(
    comparisons: Comparisons,
    layout: _Layout,
    parameters: NDArray[np.float64],
    linear: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The likelihood's slope by topic, (topics, parameters)."""
    residual = comparisons.outcome - 1.0 / (1.0 + np.exp(-linear))
    topics = len(comparisons.topics)
    slopes = np.zeros((topics, layout.size))
    own = residual * np.exp(parameters[layout.discrimination])[comparisons.judge]
    gap = parameters[comparisons.first] - parameters[comparisons.second]

    def summed(values: NDArray[np.float64], place: NDArray[np.int64], size: int) -> NDArray[np.float64]:
        cells = np.bincount(comparisons.topic * size + place, values, topics * size)
        return np.asarray(cells.reshape(topics, size))

    slopes[:, : layout.agents] = summed(own, comparisons.first, layout.agents)
    slopes[:, : layout.agents] -= summed(own, comparisons.second, layout.agents)
    slopes[:, layout.agents] = np.bincount(comparisons.topic, residual, topics)
    slopes[:, layout.agents + 1] = np.bincount(comparisons.topic, residual * comparisons.length, topics)
    slopes[:, layout.discrimination] = summed(own * gap, comparisons.judge, layout.judges)
    slopes[:, layout.position] = summed(residual, comparisons.judge, layout.judges)
    return slopes


def _influence(
    comparisons: Comparisons, layout: _Layout, parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far each topic, and last the penalties, move each parameter, (topics + 1, parameters)."""
    precision = layout.precision()

    def slopes(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return _slopes(comparisons, layout, at, _linear(comparisons, layout, at))

    step = 1e-5
    curvature = np.diag(precision)
    for position, unit in enumerate(np.eye(layout.size)):
        change = slopes(parameters + step * unit) - slopes(parameters - step * unit)
        curvature[position] -= change.sum(axis=0) / (2 * step)
    pulls = np.concatenate([slopes(parameters), -(precision * parameters)[None, :]])
    return np.asarray(np.linalg.solve((curvature + curvature.T) / 2, pulls.T).T)


def _judges(
    comparisons: Comparisons,
    layout: _Layout,
    parameters: NDArray[np.float64],
    influence: NDArray[np.float64],
    level: float,
) -> tuple[JudgeBias, ...]:
    """Every judge of whom there are verdicts."""
    count = np.bincount(comparisons.judge, minlength=layout.judges)
    logs = parameters[layout.discrimination]
    discrimination = np.exp(logs - logs[count > 0].mean())
    result = []
    for number, judge in enumerate(comparisons.judges):
        if not count[number]:
            continue
        contrast = np.zeros(layout.size)
        contrast[[layout.agents, layout.position.start + number]] = 1.0
        topics = len(np.unique(comparisons.topic[comparisons.judge == number]))
        figure = _estimate(parameters, influence, contrast, topics, level, int(count[number]))
        result.append(JudgeBias(judge, float(discrimination[number]), figure))
    return tuple(result)


def _estimate(
    parameters: NDArray[np.float64],
    influence: NDArray[np.float64],
    contrast: NDArray[np.float64],
    topics: int,
    level: float,
    n: int,
) -> Figure:
    from scipy.stats import t

    value = float(contrast @ parameters)
    if topics < 2:
        return Figure(value, n, reason="An interval needs two topics at least.")
    error = np.sqrt(topics / (topics - 1) * ((influence @ contrast) ** 2).sum())
    half = float(t.ppf((1 + level) / 2, topics - 1) * error)
    return Figure(value, n, value - half, value + half)
