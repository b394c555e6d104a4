"""Batched Bradley–Terry fits: win matrices to strengths in natural logits.

The tests compare this fit with evalica's. It adds many win matrices in one call (a bootstrap has thousands),
proven convergence instead of a number of rounds, and a result when an agent has won or lost everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ideagora.errors import RatingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.statistics.comparisons import Comparisons

PRIOR = 1.0
"""Ties added for each agent against the average of the others where the fit would be infinite."""

_TOLERANCE = 1e-10
_ROUNDS = 200
_CELLS = 2_000_000
"""Cells of win matrices per batch, chosen to fit the processor's cache."""


def topic_wins(comparisons: Comparisons) -> NDArray[np.float64]:
    """Wins by topic, (topics, agents, agents): of the row's agent over the column's; a tie is half a win."""
    topics, agents = len(comparisons.topics), len(comparisons.agents)
    row, size = comparisons.topic * agents, topics * agents * agents
    first, second, outcome = comparisons.first, comparisons.second, comparisons.outcome
    won = np.bincount((row + first) * agents + second, outcome, size)
    lost = np.bincount((row + second) * agents + first, 1.0 - outcome, size)
    wins = np.asarray(won + lost, dtype=np.float64).reshape(topics, agents, agents)
    wins[:, np.arange(agents), np.arange(agents)] = 0.0  # ignore an agent against itself
    return wins


def is_strongly_connected(wins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each of the win matrices (…, agents, agents) has a finite fit (Ford 1957).

    It has one if every agent can be reached from every other through wins; a tie counts both ways.
    """
    return np.asarray(_reachable(wins).all(axis=(-2, -1)))


def is_connected(wins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether all agents of each win matrix (…, agents, agents) are compared, directly or through others."""
    return is_strongly_connected(wins + np.swapaxes(wins, -1, -2))


def disconnected_agents(wins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask (…, agents) of the agents outside the largest connected component."""
    reach = _reachable(wins + np.swapaxes(wins, -1, -2))
    largest = reach.sum(axis=-1).argmax(axis=-1)
    return np.asarray(~np.take_along_axis(reach, largest[..., None, None], axis=-2)[..., 0, :])


def _reachable(wins: NDArray[np.float64]) -> NDArray[np.bool_]:
    agents = wins.shape[-1]
    reach = (wins > 0).astype(np.float32) + np.eye(agents, dtype=np.float32)
    for _ in range(max(1, int(np.ceil(np.log2(max(agents, 2)))))):
        reach = np.minimum(reach @ reach, 1.0)
    return np.asarray(reach > 0)


def with_prior(wins: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    """The win matrices with ``prior`` ties for each agent, spread evenly over all the others."""
    agents = wins.shape[-1]
    share = prior / 2 / max(agents - 1, 1)
    return np.asarray(wins + share * (1.0 - np.eye(agents)))


def fit(wins: NDArray[np.float64], prior: float = PRIOR) -> NDArray[np.float64]:
    """Strengths (…, agents) in natural logits, mean 0, of win matrices (…, agents, agents).

    Maximum likelihood where it is finite; otherwise with ``prior`` ties added for each agent. Raises
    RatingError if it is infinite and the prior is 0.
    """
    agents = wins.shape[-1]
    flat = wins.reshape(-1, agents, agents)
    size = max(1, _CELLS // max(agents * agents, 1))
    parts = [_fit_batch(flat[start : start + size], prior) for start in range(0, len(flat), size)]
    return np.concatenate(parts or [np.zeros((0, agents))]).reshape(wins.shape[:-1])


def information(wins: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fisher information (…, agents, agents) of the strengths: a graph Laplacian, so singular in the mean."""
    chance = _chance(strengths)
    weight = (wins + np.swapaxes(wins, -1, -2)) * chance * (1.0 - chance)
    degree = weight.sum(axis=-1)
    laplacian: NDArray[np.float64] = degree[..., None] * np.eye(wins.shape[-1]) - weight
    return laplacian


def _fit_batch(wins: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    infinite = ~is_strongly_connected(wins)
    if infinite.any():
        if prior <= 0:
            raise RatingError(
                "An agent has won or lost everything, so its rating is infinite; give a prior above 0."
            )
        wins = np.where(infinite[:, None, None], with_prior(wins, prior), wins)
    return _newton(wins)


def _newton(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton steps, damped so that each raises the likelihood (Sun and Tran-Dinh 2019, M = 1, order 2)."""
    agents = wins.shape[-1]
    strengths = np.zeros(wins.shape[:-1])
    games = wins + np.swapaxes(wins, -1, -2)
    centre = games.mean(axis=(-2, -1))[:, None, None] / max(
        agents, 1
    )  # makes the singular direction definite
    for _ in range(_ROUNDS):
        slope = (wins - games * _chance(strengths)).sum(axis=-1)
        step = np.linalg.solve(information(wins, strengths) + centre, slope[..., None])[..., 0]
        spread = step.max(axis=-1, keepdims=True) - step.min(axis=-1, keepdims=True)
        strengths += step * np.where(spread > 0, np.log1p(spread) / np.where(spread > 0, spread, 1.0), 1.0)
        if spread.max(initial=0.0) < _TOLERANCE:
            return np.asarray(strengths - strengths.mean(axis=-1, keepdims=True))
    raise RatingError(f"The ratings did not converge in {_ROUNDS} rounds; report these verdicts as a bug.")


def _chance(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Win probability (…, agents, agents) of the row's agent against the column's."""
    from scipy.special import expit

    chance: NDArray[np.float64] = expit(strengths[..., :, None] - strengths[..., None, :])
    return chance
