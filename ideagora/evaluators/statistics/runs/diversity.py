"""How different the ideas of an agent on the same topic are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TWIN = 0.8
"""Minimum cosine of near duplicates (Si et al., arXiv 2409.04109, section 3.2, with the same embedder)."""


@dataclass(frozen=True)
class Diversity:
    """Of the ideas of one agent; ``distance`` is ``None`` if no topic has two."""

    distance: float | None
    """Mean over topics of the mean cosine distance between two ideas on a topic, 0 (the same) to 2."""
    twins: int
    """Pairs on a topic with a cosine of ``TWIN`` or more, of ``pairs``."""
    pairs: int


def diversity(by_topic: Sequence[NDArray[np.float32]]) -> Diversity:
    """The diversity of ideas, given as vectors of unit length (ideas, dimension) for each topic."""
    cosines = [
        (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)].astype(np.float64)
        for vectors in by_topic
        if len(vectors) > 1
    ]
    if not cosines:
        return Diversity(None, 0, 0)
    twins = sum(int((np.round(each, 4) >= TWIN).sum()) for each in cosines)
    distance = float(np.mean([max(0.0, 1.0 - each.mean()) for each in cosines]))
    return Diversity(distance, twins, sum(map(len, cosines)))
