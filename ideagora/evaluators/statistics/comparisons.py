"""Verdicts as columns, the input of all statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST, SECOND, TIE = 1.0, 0.0, 0.5
"""Outcomes: the idea shown first is better, the one shown second is, neither is."""


@dataclass(frozen=True)
class Comparisons:
    """Scored pairwise verdicts on one criterion, one row per verdict.

    All arrays have the shape (n,). ``first`` and ``second`` are positions in ``agents`` in the order in
    which the judge saw their ideas, ``topic`` in ``topics``, ``judge`` in ``judges``.
    """

    agents: tuple[str, ...]
    topics: tuple[str, ...]
    judges: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    outcome: NDArray[np.float64]
    """1 the first is better, 0 the second is, 0.5 a tie."""
    topic: NDArray[np.int64]
    judge: NDArray[np.int64]
    match: NDArray[np.int64]
    """Rows with the same number are the same two ideas shown to the same judge, in either order."""
    length: NDArray[np.float64]
    """log(words of the first / words of the second)."""
    run: NDArray[np.int64] | None = None
    """Which run of the agents made the ideas, from 0; ``None``: each agent has one idea on a topic."""

    def __len__(self) -> int:
        return len(self.outcome)

    def rows(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Comparisons:
        """The chosen rows (a mask, or positions, which may repeat) with the same names."""
        columns = ["first", "second", "outcome", "topic", "judge", "match", "length"]
        columns += ["run"] if self.run is not None else []
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    @property
    def run_of_row(self) -> NDArray[np.int64]:
        """(n,) the run of each row; 0 where there is only one."""
        return np.zeros(len(self), dtype=np.int64) if self.run is None else self.run
