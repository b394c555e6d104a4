"""Novelty of an answer by embeddings (AidanBench, section 3.2): one matrix product per answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.models.embeddings.embedder import Embedder

FIRST_ROWS = 64
DECIMALS = 6
"""Of a cosine: fewer than its bytes can differ by between machines."""


class AnswerVectors:
    """The vectors of the answers to one question, in rows of unit length. Grows by doubling."""

    def __init__(self) -> None:
        self._rows: NDArray[np.float32] | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, vector: NDArray[np.float32]) -> float:
        """Add an answer's vector; return 1 - its largest cosine to the earlier ones, 1 for the first.

        Raises:
            ValueError: the vector is zero or not finite, or its length is not that of the others.
        """
        import numpy as np

        norm = float(np.linalg.norm(vector))
        if not np.isfinite(norm) or norm == 0.0:
            raise ValueError("an answer's vector is zero or not finite")
        unit = np.asarray(vector, dtype=np.float32) / np.float32(norm)
        rows = self._with_room(len(unit))
        largest = float((rows[: self._count] @ unit).max()) if self._count else 0.0
        rows[self._count] = unit
        self._count += 1
        return round(1.0 - min(1.0, max(-1.0, largest)), DECIMALS)

    def _with_room(self, dimension: int) -> NDArray[np.float32]:
        import numpy as np

        if self._rows is None:
            self._rows = np.empty((FIRST_ROWS, dimension), dtype=np.float32)
        elif self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        return self._rows


async def novelty_of_last(
    vectors: AnswerVectors, answers: Sequence[str], embedder: Callable[[], Embedder]
) -> float:
    """The novelty of the last answer; ``vectors`` has those of the earlier ones, or fewer.

    The first answer needs no vector yet, so that it does not wait for the embedding model to load.
    """
    if len(answers) == 1:
        return 1.0
    missing = list(answers[len(vectors) :])
    rows = await asyncio.to_thread(lambda: embedder().encode(missing))
    return [vectors.add(row) for row in rows][-1]
