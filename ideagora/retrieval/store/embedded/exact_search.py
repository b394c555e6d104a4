"""Exact nearest neighbours: one product with all vectors, and exact figures for those that may win.

The product is done in single precision on the file of rows, which the system maps into memory and
shares between processes. Its rounding depends on the order of summation, so it only says who can be
among the k; their similarities are then computed in double precision and rounded to 4 decimals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ideagora.schema import last_day

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MARGIN = 2e-4
"""Half a unit of the 4th decimal twice (what may round to the same figure), and single precision."""
_GATHER_BELOW = 0.25
"""Part of all rows."""
_NEVER = "9999-99-99"


@dataclass(frozen=True)
class Snapshot:
    """All papers of one generation: ``ids`` ascending, the place of each one's row, and its date."""

    generation: int
    ids: Sequence[str]
    places: NDArray[np.int64]
    dates: Sequence[str | None]
    rows: NDArray[np.float32]
    """Every row of the file, shape (rows, dimension)."""

    @cached_property
    def days(self) -> NDArray[np.int32]:
        """The last day that each date can mean, as the number YYYYMMDD; unknown dates lie beyond all."""
        import numpy as np

        days = {date: last_day(date) if date else _NEVER for date in set(self.dates)}
        numbers = {date: day_number(day) for date, day in days.items()}
        return np.array([numbers[date] for date in self.dates], dtype=np.int32)

    def nearest(self, query: NDArray[np.float64], k: int, before: str | None) -> list[tuple[str, float]]:
        """See ``StoreBackend.nearest``."""
        import numpy as np

        if not len(self.ids):
            return []
        if before is None:
            papers = np.arange(len(self.ids))
        else:
            papers = np.flatnonzero(self.days < day_number(before))
        places = self.places[papers]
        possible = _candidates(self._scores(places, query.astype(np.float32)), k)
        ids = [self.ids[n] for n in papers[possible]]
        return rank(ids, self.rows[places[possible]], query)[:k]

    def _scores(self, places: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Similarities in single precision. Few rows are picked out; of many it is quicker to take all."""
        if len(places) < _GATHER_BELOW * len(self.rows):
            return _dot_products(self.rows[places], query)
        return _dot_products(self.rows, query)[places]


def day_number(day: str) -> int:
    """YYYY-MM-DD as the number YYYYMMDD."""
    return int(day.replace("-", ""))


def rank(
    ids: Sequence[str], rows: NDArray[np.float32], query: NDArray[np.float64]
) -> list[tuple[str, float]]:
    """Ids with their similarity in double precision, rounded; best first, ties by id."""
    import numpy as np

    if not ids:
        return []
    similarities = np.round(np.asarray(rows, dtype=np.float64) @ query, 4) + 0.0  # no minus zero
    return sorted(zip(ids, map(float, similarities), strict=True), key=lambda pair: (-pair[1], pair[0]))


def _dot_products(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row times the query, in this thread.

    ``@`` takes as many threads as there are cores, and when another process wants one of these, all
    wait for it: 20,000 rows took 1.2 ms in quiet and 19 ms beside others, this way 1.2 and 2 ms.
    """
    import numpy as np

    scores: NDArray[np.float32] = np.einsum("ij,j->i", rows, query)
    return scores


def _candidates(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Where the k largest scores are, and those that may be as large."""
    import numpy as np

    if k >= len(scores):
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.flatnonzero(scores >= least - _MARGIN)
