"""Scores of reviews by condition: means, Welch's test on ideas, and a linear model of reviewers and topics.

The idea is the unit: its reviews are averaged for the means and Welch's test (1947), and are one cluster of
the model's errors. The linear model is least squares with a fixed effect of each condition, reviewer and
topic. So a strict reviewer or a difficult topic does not count against a condition. Errors are cluster-robust
with the correction CR2 and the degrees of freedom of Bell and McCaffrey (2002). ``mixed_model`` takes
reviewers and topics as random instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL, Figure
from ideagora.evaluators.statistics.scores.sample_means import mean_over_samples, t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOTHING = 1e-9


@dataclass(frozen=True)
class ReviewColumns:
    """Reviews with a score on one criterion, one row each; all columns but ``score`` are codes from 0."""

    score: NDArray[np.float64]
    condition: NDArray[np.int64]
    idea: NDArray[np.int64]
    effects: tuple[NDArray[np.int64], ...] = ()
    """What else a score depends on: reviewer and topic, where they are known."""

    def rows(self, chosen: NDArray[np.bool_]) -> ReviewColumns:
        """The chosen reviews, with the same codes."""
        effects = tuple(codes[chosen] for codes in self.effects)
        return ReviewColumns(self.score[chosen], self.condition[chosen], self.idea[chosen], effects)


@dataclass(frozen=True)
class Effect:
    """A difference to the reference condition. Missing numbers have a ``reason``."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Two-sided, uncorrected."""
    degrees: float | None = None
    """Of Student's t."""
    reason: str | None = None


def condition_mean(reviews: ReviewColumns, condition: int) -> Figure:
    """Mean over the ideas of a condition, each the mean of its reviews; ``n`` counts ideas."""
    return mean_over_samples(_idea_means(reviews, condition))


def welch_effect(reviews: ReviewColumns, condition: int, reference: int, level: float = LEVEL) -> Effect:
    """Welch's test on the means of ideas."""
    samples = _idea_means(reviews, condition), _idea_means(reviews, reference)
    if any(len(sample) < 2 for sample in samples):
        return Effect(reason="The test needs two ideas of each condition.")
    parts = np.array([sample.var(ddof=1) / len(sample) for sample in samples])
    difference = float(samples[0].mean() - samples[1].mean())
    if parts.sum() <= _NOTHING:
        return Effect(difference, reason="All ideas of a condition have the same score.")
    degrees = float(parts.sum() ** 2 / (parts**2 / [len(sample) - 1 for sample in samples]).sum())
    return effect_of(difference, float(np.sqrt(parts.sum())), degrees, level)


def linear_effect(reviews: ReviewColumns, condition: int, reference: int, level: float = LEVEL) -> Effect:
    """The condition's effect in the linear model with reviewers and topics, clustered by idea."""
    design = _design(reviews, reference)
    contrast = np.zeros(design.shape[1])
    contrast[condition] = 1.0
    inverse = np.linalg.pinv(design.T @ design, hermitian=True)
    if np.abs(inverse @ (design.T @ design) @ contrast - contrast).max() > 1e-6:
        return Effect(
            reason="No reviewer or topic has both conditions, so their effects cannot be separated."
        )
    weights = design @ inverse @ contrast
    residual = reviews.score - design @ (inverse @ (design.T @ reviews.score))
    variance, pulls = 0.0, []
    for idea in np.unique(reviews.idea):
        rows = np.flatnonzero(reviews.idea == idea)
        adjusted = _root(np.eye(len(rows)) - design[rows] @ inverse @ design[rows].T) @ weights[rows]
        variance += float(adjusted @ residual[rows]) ** 2
        pull = -design @ (inverse @ (design[rows].T @ adjusted))
        pull[rows] += adjusted
        pulls.append(pull)
    products = np.array(pulls) @ np.array(pulls).T
    difference = float(weights @ reviews.score)
    if variance <= _NOTHING:
        return Effect(difference, reason="The scores do not vary beyond the model.")
    degrees = float(np.trace(products) ** 2 / (products**2).sum())
    return effect_of(difference, float(np.sqrt(variance)), degrees, level)


def _idea_means(reviews: ReviewColumns, condition: int) -> NDArray[np.float64]:
    chosen = reviews.condition == condition
    ideas = np.unique(reviews.idea[chosen])
    return np.array([reviews.score[chosen & (reviews.idea == idea)].mean() for idea in ideas])


def _design(reviews: ReviewColumns, reference: int) -> NDArray[np.float64]:
    """A column for each condition, the reference's being the constant, and for each level of an effect."""
    conditions = np.eye(int(reviews.condition.max()) + 1)[reviews.condition]
    conditions[:, reference] = 1.0
    return np.hstack([conditions, *(np.eye(int(codes.max()) + 1)[codes][:, 1:] for codes in reviews.effects)])


def _root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse square root of a symmetric matrix, on its range."""
    values, vectors = np.linalg.eigh(matrix)
    inverse = np.where(values > _NOTHING, 1.0 / np.sqrt(np.maximum(values, _NOTHING)), 0.0)
    return np.asarray(vectors * inverse @ vectors.T)


def effect_of(difference: float, error: float, degrees: float, level: float) -> Effect:
    """The effect with its interval and test by Student's t."""
    from scipy.special import stdtr

    half = t_quantile((1 + level) / 2, degrees) * error
    p = float(2 * stdtr(degrees, -abs(difference) / error))
    return Effect(difference, difference - half, difference + half, p, degrees)
