"""The effect of a condition in a mixed model with random reviewers, topics and ideas.

    score = condition + reviewer + topic + idea + error

with crossed, normally distributed effects of reviewers, topics and ideas, fitted by restricted maximum
likelihood with statsmodels (the extra ``stats``). Reviewers and topics with a single condition are used, too,
which takes their effects to be unrelated to the condition. statsmodels tests by the normal distribution; with
few ideas that is too sure, so the test here is Student's t with the degrees of freedom of the linear model.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.statistics.figures import LEVEL
from ideagora.evaluators.statistics.scores.condition_effects import Effect, effect_of, linear_effect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.scores.condition_effects import ReviewColumns

MOST_REVIEWS = 2_000
"""The fit's time grows with the cube of the number of ideas, reviewers and topics."""
NOT_INSTALLED = "The mixed model needs statsmodels: pip install 'ideagora[stats]'."
_ZERO = 1e-3
"""Part of the total variance below which a component counts as 0 and is left out of a second fit."""


def is_installed() -> bool:
    """Whether statsmodels is there."""
    return find_spec("statsmodels") is not None


def mixed_effect(reviews: ReviewColumns, condition: int, reference: int, level: float = LEVEL) -> Effect:
    """The condition's difference to the reference, from these two conditions alone."""
    if not is_installed():
        return Effect(reason=NOT_INSTALLED)
    if len(reviews.score) > MOST_REVIEWS:
        return Effect(reason=f"The mixed model takes at most {MOST_REVIEWS:,} reviews.")
    both = reviews.rows((reviews.condition == condition) | (reviews.condition == reference))
    codes = [_from_zero(each) for each in (*both.effects, both.idea)]
    groups = [each for each in codes if 1 < each.max() + 1 < len(each)]
    is_condition = (both.condition == condition).astype(np.float64)
    estimate = _fit(both.score, is_condition, groups)
    if estimate is None:
        return Effect(reason="The mixed model cannot be fitted to these scores.")
    linear = linear_effect(both, condition, reference)
    ideas = [len(np.unique(both.idea[is_condition == side])) for side in (0.0, 1.0)]
    degrees = linear.degrees or float(max(1, sum(ideas) - 2))
    return effect_of(*estimate, degrees, level)


def _from_zero(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _fit(
    score: NDArray[np.float64], is_condition: NDArray[np.float64], groups: list[NDArray[np.int64]]
) -> tuple[float, float] | None:
    """Difference and standard error; components that turn out to be 0 are left out of a second fit."""
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    design = np.column_stack([np.ones(len(score)), is_condition])
    if not groups:
        return _least_squares(score, design)
    indicators = [np.eye(int(codes.max()) + 1)[codes] for codes in groups]
    names = [f"effect {number}" for number in range(len(groups))]
    columns = [[[f"level {level}" for level in range(each.shape[1])]] for each in indicators]
    components = VCSpec(names, columns, [[each] for each in indicators])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence and boundaries are looked at below
        try:
            model = MixedLM(score, design, groups=np.ones(len(score)), exog_vc=components)
            found = model.fit(reml=True, method=["bfgs", "lbfgs", "powell"])
        except (np.linalg.LinAlgError, ValueError):
            return None
    is_zero = found.vcomp < _ZERO * (found.vcomp.sum() + found.scale)
    if is_zero.any():
        return _fit(
            score, is_condition, [each for each, gone in zip(groups, is_zero, strict=True) if not gone]
        )
    error = float(found.bse[1])
    return (float(found.params[1]), error) if found.converged and error > 0 else None


def _least_squares(score: NDArray[np.float64], design: NDArray[np.float64]) -> tuple[float, float] | None:
    """The estimate without random effects."""
    degrees = len(score) - design.shape[1]
    coefficients, *_ = np.linalg.lstsq(design, score)
    residual = score - design @ coefficients
    variance = float(residual @ residual) / max(1, degrees) * np.linalg.inv(design.T @ design)[1, 1]
    return (float(coefficients[1]), float(np.sqrt(variance))) if degrees > 0 and variance > 0 else None
