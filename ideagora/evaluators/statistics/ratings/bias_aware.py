"""Ratings corrected for the judges' position bias, length bias and discrimination.

The chance that judge j prefers the idea shown first, a tie being half, is the logistic function of

    discrimination_j · (strength_first - strength_second) + position_j
    + length_j · log(words_first / words_second)

A fractional logit (Papke and Wooldridge 1996): without the biases it is ``bradley_terry``, so the two tables
are on the same scale. Fitted by penalised maximum likelihood, twice: a bias whose 99 % interval
contains 0 after the first fit is left out of the second, since correcting for it would only add noise.
Intervals are clustered by topic and are those of the first fit, extended to the rating where it lies outside:
a bias that is not certain is still possible, and intervals that ignore the selection are too narrow (Leeb and
Pötscher 2005; bench/arena_intervals.py).

Everything that a judge's preference for length explains is removed, even if longer ideas really are better
and the data cannot distinguish the two. Read these ratings beside the uncorrected ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.statistics.figures import Figure, missing_figure
from ideagora.evaluators.statistics.intervals.clustered import LEVEL, Intervals, intervals
from ideagora.evaluators.statistics.ratings.ratings import BASE, POINTS, Ratings, require_ratable
from ideagora.evaluators.statistics.ratings.slot_preference import slot_preference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

STRENGTH_SPREAD = 3.0
"""Penalty on strengths: a normal prior of that many logits, too wide to matter if strengths are bounded."""
DISCRIMINATION_SPREAD = 1.0
"""Penalty on the log of a judge's discrimination, which pulls judges towards each other."""
BIAS_SPREAD = 3.0
"""Penalty on a judge's position and length."""
SURE = 0.99
"""Level at which a bias must differ from 0 to be corrected: correcting for noise can change the order."""


@dataclass(frozen=True)
class JudgeBias:
    """The fitted biases of a judge; a bias is corrected if its 99 % interval excludes 0."""

    judge: str
    discrimination: float
    """Relative to the geometric mean of all judges; 1 for a single judge."""
    position: Figure
    """Logits for the idea shown first: from the matches judged in both orders (``slot_preference``); without
    any, the coefficient of the fit, which the spread of ideas around their agents shrinks (0.65 for 0.8)."""
    length: Figure
    """Logits for an idea e times as long as the other, the coefficient of the fit, which is shrunk likewise;
    None if all pairs have equal lengths."""


@dataclass(frozen=True)
class BiasAware:
    """Corrected ratings, and the biases of every judge with verdicts."""

    ratings: Ratings
    intervals: Intervals
    judges: tuple[JudgeBias, ...]


@dataclass(frozen=True)
class _Layout:
    """Order of the parameters: strengths, then each judge's log discrimination, position and length."""

    agents: int
    judges: int

    @property
    def size(self) -> int:
        return self.agents + 3 * self.judges

    @property
    def discrimination(self) -> slice:
        return slice(self.agents, self.agents + self.judges)

    @property
    def position(self) -> slice:
        return slice(self.agents + self.judges, self.agents + 2 * self.judges)

    @property
    def length(self) -> slice:
        return slice(self.agents + 2 * self.judges, self.size)

    def precision(self) -> NDArray[np.float64]:
        """Precision of the normal prior of each parameter."""
        spread = np.full(self.size, BIAS_SPREAD)
        spread[: self.agents] = STRENGTH_SPREAD
        spread[self.discrimination] = DISCRIMINATION_SPREAD
        return np.asarray(1.0 / spread**2)


def bias_aware(comparisons: Comparisons, *, level: float = LEVEL, base: float = BASE) -> BiasAware:
    """Fit strengths and biases. Raises RatingError like ``bradley_terry``, or for unknown lengths."""
    require_ratable(comparisons)
    if not np.isfinite(comparisons.length).all():
        raise RatingError(
            "A length is unknown, so length bias cannot be corrected; give the number of words of every idea."
        )
    layout = _Layout(len(comparisons.agents), len(comparisons.judges))
    everything = np.ones(layout.size, dtype=np.bool_)
    first = _fit(comparisons, layout, everything)
    judges = _judges(comparisons, layout, first, level)
    free = _significant_parameters(comparisons, layout, _judges(comparisons, layout, first, SURE))
    parameters = first if free.all() else _fit(comparisons, layout, free)
    strengths, _ = _at_mean_discrimination(comparisons, layout, parameters, free)
    ratings = Ratings(comparisons.agents, base + POINTS * strengths, "bias-aware", base)
    wholly, pull = _at_mean_discrimination(comparisons, layout, first, everything)
    corrected = Ratings(comparisons.agents, base + POINTS * wholly, "bias-aware", base)
    used = len(np.unique(comparisons.topic))
    found = intervals(corrected, POINTS * pull, np.zeros(layout.agents), used, level)
    shown = tuple(_with_slot_preference(comparisons, judge, level) for judge in judges)
    return BiasAware(ratings, _including(found, ratings.scores), shown)


def _with_slot_preference(comparisons: Comparisons, judge: JudgeBias, level: float) -> JudgeBias:
    own = comparisons.rows(comparisons.judge == comparisons.judges.index(judge.judge))
    position = slot_preference(own, level)
    return judge if position.value is None else replace(judge, position=position)


def _including(found: Intervals, scores: NDArray[np.float64]) -> Intervals:
    """The intervals, extended where they leave out a rating."""
    if found.low is None or found.high is None:
        return found
    return replace(found, low=np.minimum(found.low, scores), high=np.maximum(found.high, scores))


def _fit(comparisons: Comparisons, layout: _Layout, free: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Parameters of highest penalised likelihood; those that are not ``free`` stay 0."""
    from scipy.optimize import minimize

    precision = layout.precision()

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        linear = _linear(comparisons, layout, parameters)
        fit = np.logaddexp(0.0, linear).sum() - comparisons.outcome @ linear
        slope = _slopes(comparisons, layout, parameters, linear).sum(axis=0)
        return float(fit + 0.5 * precision @ parameters**2), (precision * parameters - slope) * free

    optimum = minimize(loss, np.zeros(layout.size), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    if not optimum.success:
        raise RatingError(f"The bias-aware ratings did not converge ({optimum.message}); use the plain ones.")
    return np.asarray(optimum.x, dtype=np.float64)


def _linear(
    comparisons: Comparisons, layout: _Layout, parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Logits (n,) for the idea shown first."""
    discrimination = np.exp(parameters[layout.discrimination])[comparisons.judge]
    gap = parameters[comparisons.first] - parameters[comparisons.second]
    position = parameters[layout.position][comparisons.judge]
    length = parameters[layout.length][comparisons.judge]
    return np.asarray(discrimination * gap + position + length * comparisons.length)


def _slopes(
    comparisons: Comparisons,
    layout: _Layout,
    parameters: NDArray[np.float64],
    linear: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The likelihood's slope by topic, (topics, parameters)."""
    from scipy.special import expit

    residual = comparisons.outcome - expit(linear)
    topics = len(comparisons.topics)
    slopes = np.zeros((topics, layout.size))
    own = residual * np.exp(parameters[layout.discrimination])[comparisons.judge]
    gap = parameters[comparisons.first] - parameters[comparisons.second]

    def summed(values: NDArray[np.float64], place: NDArray[np.int64], size: int) -> NDArray[np.float64]:
        cells = np.bincount(comparisons.topic * size + place, values, topics * size)
        return np.asarray(cells.reshape(topics, size))

    slopes[:, : layout.agents] = summed(own, comparisons.first, layout.agents)
    slopes[:, : layout.agents] -= summed(own, comparisons.second, layout.agents)
    slopes[:, layout.discrimination] = summed(own * gap, comparisons.judge, layout.judges)
    slopes[:, layout.position] = summed(residual, comparisons.judge, layout.judges)
    slopes[:, layout.length] = summed(residual * comparisons.length, comparisons.judge, layout.judges)
    return slopes


def _influence(
    comparisons: Comparisons, layout: _Layout, parameters: NDArray[np.float64], free: NDArray[np.bool_]
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
    pulls = np.concatenate([slopes(parameters), -(precision * parameters)[None, :]])[:, free]
    curvature = ((curvature + curvature.T) / 2)[np.ix_(free, free)]
    influence = np.zeros((len(pulls), layout.size))
    influence[:, free] = np.linalg.solve(curvature, pulls.T).T
    return influence


def _at_mean_discrimination(
    comparisons: Comparisons, layout: _Layout, parameters: NDArray[np.float64], free: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Strengths (agents,) as the judges' mean discrimination shows them, and their influences, in logits.

    Discrimination times strength is all that verdicts show, so a scale has to be chosen: the plain rating's.
    """
    influence = _influence(comparisons, layout, parameters, free)
    judged = np.bincount(comparisons.judge, minlength=layout.judges) > 0
    scale = np.exp(parameters[layout.discrimination][judged].mean())
    strengths = scale * (parameters[: layout.agents] - parameters[: layout.agents].mean())
    pull = influence[:, : layout.agents]
    stretched = influence[:, layout.discrimination][:, judged].mean(axis=1, keepdims=True)
    pull = scale * (pull - pull.mean(axis=1, keepdims=True)) + strengths * stretched
    return strengths, pull


def _judges(
    comparisons: Comparisons, layout: _Layout, parameters: NDArray[np.float64], level: float
) -> tuple[JudgeBias, ...]:
    """Biases of every judge with verdicts, with intervals over the topics that it judged."""
    count = np.bincount(comparisons.judge, minlength=layout.judges)
    logs = parameters[layout.discrimination]
    discrimination = np.exp(logs - logs[count > 0].mean())
    influence = _influence(comparisons, layout, parameters, np.ones(layout.size, dtype=np.bool_))
    result = []
    for number in np.flatnonzero(count):
        chosen = comparisons.judge == number
        topics, n = len(np.unique(comparisons.topic[chosen])), int(count[number])
        position, length = (
            _estimate(parameters[start + number], influence[:, start + number], topics, level, n)
            for start in (layout.position.start, layout.length.start)
        )
        if not np.any(comparisons.length[chosen]):
            length = missing_figure("All pairs have equal lengths, so length bias cannot be estimated.", n)
        result.append(JudgeBias(comparisons.judges[number], float(discrimination[number]), position, length))
    return tuple(result)


def _estimate(value: float, influence: NDArray[np.float64], topics: int, level: float, n: int) -> Figure:
    from scipy.stats import t

    if topics < 2:
        return Figure(float(value), n, reason="An interval needs at least two topics.")
    error = np.sqrt(topics / (topics - 1) * (influence**2).sum())
    half = float(t.ppf((1 + level) / 2, topics - 1) * error)
    return Figure(float(value), n, float(value) - half, float(value) + half)


def _significant_parameters(
    comparisons: Comparisons, layout: _Layout, judges: tuple[JudgeBias, ...]
) -> NDArray[np.bool_]:
    """Mask (size,) of the parameters of the second fit: without biases that may be 0."""
    free = np.ones(layout.size, dtype=np.bool_)
    free[layout.agents + layout.judges :] = False
    for judge in judges:
        number = comparisons.judges.index(judge.judge)
        free[layout.position.start + number] = _excludes_zero(judge.position)
        free[layout.length.start + number] = _excludes_zero(judge.length)
    return free


def _excludes_zero(bias: Figure) -> bool:
    return bias.low is not None and bias.high is not None and not bias.low <= 0.0 <= bias.high
