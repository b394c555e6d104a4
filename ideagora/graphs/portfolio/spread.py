"""Distances between ideas: the most different ones, the parents of variations, and a map in two dimensions.

Pure functions of embeddings: rows of unit length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ideagora.graphs.portfolio.members import Operation

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPERATIONS: tuple[Operation, ...] = ("combined", "simplified", "inverted")
DECIMALS = 4
"""Places to which similarities are rounded, so that another machine chooses the same."""


def similarities(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The cosine of every pair, (n, n)."""
    cosine: NDArray[np.float64] = np.round(vectors.astype(float) @ vectors.astype(float).T, DECIMALS)
    return cosine


def farthest(similarity: NDArray[np.float64], start: int, count: int) -> list[int]:
    """Positions of ``count`` rows that are far from one another, or of all if there are fewer.

    Greedy: after ``start``, always the row whose nearest chosen one is the farthest (Gonzalez 1985, which is
    at least half as good as the best choice by distance). Ties go to the first row.
    """
    chosen = [start] if len(similarity) else []
    while len(chosen) < min(count, len(similarity)):
        nearest = similarity[:, chosen].max(axis=1)
        nearest[chosen] = np.inf
        chosen.append(int(nearest.argmin()))
    return chosen


def choose_parents(
    similarity: NDArray[np.float64],
    lengths: Sequence[int],
    done: Sequence[tuple[Operation, tuple[int, ...]]],
    count: int,
) -> list[tuple[Operation, tuple[int, ...]]]:
    """The next variations, the operations in turn, none of them done before.

    The two ideas that are farthest apart are combined, the one with the longest method is simplified, and the
    one that is nearest to another is inverted; each among those that were parents least often.
    """
    nearest = (similarity - 2 * np.eye(len(similarity))).max(axis=1, initial=-1.0)
    pairs = sorted(combinations(range(len(similarity)), 2), key=lambda pair: float(similarity[pair]))
    ranked: dict[Operation, list[tuple[int, ...]]] = {
        "combined": [*pairs],
        "simplified": [(place,) for place in np.argsort([-n for n in lengths], kind="stable").tolist()],
        "inverted": [(place,) for place in np.argsort(-nearest, kind="stable").tolist()],
    }
    chosen: list[tuple[Operation, tuple[int, ...]]] = []
    for number in range(count):
        operation = OPERATIONS[number % len(OPERATIONS)]
        used = {parents for name, parents in (*done, *chosen) if name == operation}
        new = [parents for parents in ranked[operation] if parents not in used]
        uses = Counter(parent for _, parents in (*done, *chosen) for parent in parents)
        fresh = min(new, key=lambda parents: sum(uses[parent] for parent in parents), default=None)
        chosen += [(operation, fresh)] if fresh else []
    return chosen


def two_dimensions(vectors: NDArray[np.float32]) -> list[list[float]]:
    """Coordinates on the two principal components, (n, 2); the sign makes the largest one positive."""
    centred = vectors.astype(float) - vectors.astype(float).mean(axis=0)
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(vectors), 2))
    kept = min(2, len(scale))
    plane[:, :kept] = left[:, :kept] * scale[:kept]
    largest = np.abs(plane).argmax(axis=0)
    plane *= np.where(plane[largest, [0, 1]] < 0, -1, 1)
    return [[float(x), float(y)] for x, y in np.round(plane, DECIMALS) + 0.0]
